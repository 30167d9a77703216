import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { MOST_WRONG_TRIES, codeDigits, codeKind, limitedTry } from '../kit/codes.ts'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { countInTurn, refuseBeyond } from '../kit/limits.ts'
import { hashOf } from '../kit/tokens.ts'
import { moveToMailbox } from '../orders/receipts.ts'
import type { MailboxLimits } from './mailbox-codes.ts'

// A buyer has mistyped the address, so the receipt went to nobody, or to a stranger. The seller names the right one; it counts
// when whoever reads that mailbox has shown so. The seller's browser asks and the buyer's confirms, so no cookie binds the code:
// it is bound to the order and the address, and what is unknown to others beside the code is the order's id.

export const { codeOf, codeHash, codeQueue } = codeKind('email change', 'email_change')

/** The buyer reads the mail when there is time for it. */
const CHANGE_HOURS = 24

export interface EmailChangeParts {
  db: Db
  jobs: Jobs
  secrets: readonly string[]
  limits: MailboxLimits
}

/** Which of an order's addresses a code is for, as one value that a hash can hold. */
const subjectOf = (orderId: string, email: string): Buffer => hashOf(`${orderId} ${email}`)

/**
 * Has a code mailed to the address that a seller's order is to have; nothing else changes. Those before it are no longer good.
 * Refuses `order_not_found`, `order_not_paid`, `validation_failed`, `rate_limited`.
 */
export async function requestEmailChange(
  { db, jobs, secrets, limits }: EmailChangeParts,
  { orderId, sellerId, email }: { orderId: string; sellerId: string; email: string },
): Promise<void> {
  await refuseUnlessMovable(db, { orderId, sellerId, email })
  const counted = await countInTurn(
    db,
    [orderId],
    [
      () => limits.code_address && { key: `email_change from ${sellerId}`, limit: limits.code_address },
      () => limits.code && { key: `email_change ${orderId}`, limit: limits.code },
      () => limits.mailbox && { key: `email_change of ${email}`, limit: limits.mailbox },
    ],
  )
  refuseBeyond(counted.flat(), 'Too many addresses were asked to confirm. The last code that was sent stays good.')
  const id = randomUUID()
  const hash = codeHash(secrets[0]!, subjectOf(orderId, email), codeOf(secrets[0]!, id))
  await inTransaction(db, async (tx) => {
    await sql`
      insert into email_changes as c (order_id, id, email, code_hash, expires_at)
      values (${orderId}, ${id}, ${email}, ${hash}, now() + make_interval(hours => ${CHANGE_HOURS}::int))
      on conflict (order_id) do update set id = excluded.id, email = excluded.email, code_hash = excluded.code_hash,
        wrong_tries = 0, created_at = now(), expires_at = excluded.expires_at`.execute(tx)
    await jobs.add(tx, codeQueue(secrets[0]!), [{ data: { id } }])
  })
}

async function refuseUnlessMovable(
  db: Db,
  { orderId, sellerId, email }: { orderId: string; sellerId: string; email: string },
): Promise<void> {
  const { rows } = await sql<{ email: string; isPaid: boolean }>`
    select email, paid_at is not null as "isPaid" from orders where id = ${orderId} and seller_id = ${sellerId}`.execute(
    db,
  )
  const order = rows[0]
  if (!order) throw new Refusal('order_not_found', 'There is no such order of yours.')
  // until then the buyer is at the page of the payment, which knows the order by the address that was typed there
  if (!order.isPaid) throw new Refusal('order_not_paid', 'The address of an order can be changed once it is paid.')
  if (order.email === email)
    throw new Refusal('validation_failed', 'The order has this address already.', {
      fields: [{ path: 'email', message: 'is another one than the order has' }],
    })
}

/**
 * Moves an order to the mailbox that a code has just proven, in one transaction with what is told of it: the old address that
 * it has moved, the new one by a receipt. Refuses `invalid_code`, `rate_limited`.
 */
export async function confirmEmailChange(
  { db, jobs, secrets, limits }: EmailChangeParts,
  { network, ...given }: { orderId: string; email: string; code: string; network: string },
): Promise<void> {
  const { orderId, email } = given
  await limitedTry(
    db,
    {
      counter: 'email_change_try',
      limit: limits.code_try,
      bucket: orderId,
      network,
      tooMany: 'Too many wrong codes were tried. Please wait, and then ask the seller for a new one.',
    },
    (tx) => tryCode(tx, secrets, given),
    async (tx) => {
      await sql`delete from email_changes where order_id = ${orderId}`.execute(tx)
      const oldEmail = await moveToMailbox(tx, orderId, email)
      if (oldEmail !== undefined)
        await jobs.add(tx, 'mail', [
          { data: { kind: 'email_changed', orderId, to: oldEmail } },
          { data: { kind: 'receipt', orderId } },
        ])
      return true
    },
  )
}

/** In one guarded statement, so that of any number at once at most five wrong ones are looked at. Commit whatever the answer is. */
async function tryCode(
  tx: Tx,
  secrets: readonly string[],
  given: { orderId: string; email: string; code: string },
): Promise<{ isRight: boolean } | undefined> {
  const subject = subjectOf(given.orderId, given.email)
  const hashes = secrets.map((secret) => codeHash(secret, subject, codeDigits(given.code)))
  const { rows } = await sql<{ isRight: boolean }>`
    update email_changes set wrong_tries = wrong_tries + case when code_hash = any(${hashes}) then 0 else 1 end
    where order_id = ${given.orderId} and email = ${given.email} and wrong_tries < ${MOST_WRONG_TRIES}
      and expires_at > clock_timestamp()
    returning code_hash = any(${hashes}) as "isRight"`.execute(tx)
  return rows[0]
}

/** Forgets the changes that nobody has confirmed in time. */
export async function sweepEmailChanges(db: Db): Promise<void> {
  await sql`delete from email_changes where expires_at < now()`.execute(db)
}
