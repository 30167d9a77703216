import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { MOST_WRONG_TRIES } from '../kit/code-limits.ts'
import { type CodeLimits, codeDigits, codeKind, limitedTry } from '../kit/codes.ts'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { countInTurn, refuseBeyond } from '../kit/limits.ts'
import { hashOf } from '../kit/tokens.ts'
import { type FreeMailLimits, refuseStrangersMail } from '../orders/free-mails.ts'
import { moveNow } from './order-moves.ts'

// A buyer has mistyped the address, so the receipt went to no mailbox, or to a stranger's. The seller names the right address, and its
// reader proves that mailbox by a code. The seller's browser asks for the code and the buyer's browser confirms it, so no cookie can bind
// it: it is bound to the order and the address. If the old mailbox exists, order-moves.ts has the next steps.

export const { codeOf, codeHash, codeQueue } = codeKind('email change', 'email_change')
/** The codes with which the old mailbox consents. They have a queue of their own, which instances of an older version do not take. */
export const CONSENT = codeKind('email change consent', 'email_consent')

/** Long, because the buyer may read the mail only the next day. */
const CHANGE_HOURS = 24
/** A change that needs the old mailbox's consent waits for it this long. */
const CONSENT_DAYS = 30

export interface EmailChangeParts {
  db: Db
  jobs: Jobs
  secrets: readonly string[]
  limits: CodeLimits & FreeMailLimits
}

/** The order and the address that a code is for, as one value for the code's hash. */
const subjectOf = (orderId: string, email: string): Buffer => hashOf(`${orderId} ${email}`)

/**
 * Enqueues the mail with a code to the new address for a seller's order. Earlier codes for the order end; nothing else changes.
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
  refuseBeyond(counted.flat(), 'Too many codes were sent for changed addresses. The last code still works.')
  await refuseStrangersMail(db, sellerId, limits)
  const id = randomUUID()
  const hash = codeHash(secrets[0]!, subjectOf(orderId, email), codeOf(secrets[0]!, id))
  await inTransaction(db, async (tx) => {
    await sql`
      insert into email_changes as c (order_id, id, email, code_hash, expires_at)
      values (${orderId}, ${id}, ${email}, ${hash}, now() + make_interval(hours => ${CHANGE_HOURS}::int))
      on conflict (order_id) do update set id = excluded.id, email = excluded.email, code_hash = excluded.code_hash,
        wrong_tries = 0, created_at = now(), expires_at = excluded.expires_at, confirmed_at = null, old_email = null,
        moves_at = null`.execute(tx)
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
  // an unpaid order is still open on the payment page, which identifies the order by the address typed there
  if (!order.isPaid) throw new Refusal('order_not_paid', 'The address of an order can be changed once it is paid.')
  if (order.email === email)
    throw new Refusal('validation_failed', 'The order has this address already.', {
      fields: [{ path: 'email', message: 'is another one than the order has' }],
    })
}

export interface Confirmed {
  moved: boolean
  /** The old mailbox has kept the order before, so the order moves only with its consent. */
  needsConsent: boolean
}

/**
 * Checks the code that proves the new mailbox. If the mail server has said that the old mailbox does not exist, the order moves at
 * once. Otherwise both addresses open the order, and the old mailbox gets a question by mail. The cooling-off days begin when its mail
 * server has accepted that mail. All in one transaction. Refuses `invalid_code`, `rate_limited`.
 */
export function confirmEmailChange(
  { db, jobs, secrets, limits }: EmailChangeParts,
  { network, ...given }: { orderId: string; email: string; code: string; network: string },
): Promise<Confirmed> {
  const { orderId, email } = given
  return limitedTry(
    db,
    {
      own: { key: `email_change_try from ${network}`, limit: limits.code_try },
      all: { key: `email_change_try ${orderId}`, limit: limits.code_try },
      tooMany: 'Too many wrong codes were tried. Please wait, and then ask the seller for a new one.',
    },
    (tx) => tryCode(tx, secrets, given),
    async (tx, { id }) => {
      const { rows } = await sql<{ oldEmail: string; isGone: boolean; needsConsent: boolean }>`
        select email as "oldEmail", receipt_bounced_at is not null and mailbox_refused_at is not null as "isGone",
          address_kept_at is not null as "needsConsent"
        from orders where id = ${orderId} for update`.execute(tx)
      const { oldEmail, isGone, needsConsent } = rows[0]!
      if (isGone || oldEmail === email) {
        await moveNow(tx, jobs, { orderId, email, withReceipt: true })
        return { moved: true, needsConsent: false }
      }
      await awaitConsent(tx, secrets[0]!, { id, orderId, oldEmail })
      await jobs.add(tx, CONSENT.codeQueue(secrets[0]!), [{ data: { id } }])
      await jobs.add(tx, 'mail', [{ data: { kind: 'receipt', orderId, to: email } }])
      return { moved: false, needsConsent }
    },
  )
}

async function awaitConsent(
  tx: Tx,
  secret: string,
  { id, orderId, oldEmail }: { id: string; orderId: string; oldEmail: string },
): Promise<void> {
  const hash = CONSENT.codeHash(secret, subjectOf(orderId, oldEmail), CONSENT.codeOf(secret, id))
  await sql`
    update email_changes set confirmed_at = now(), old_email = ${oldEmail}, code_hash = ${hash}, wrong_tries = 0,
      expires_at = now() + make_interval(days => ${CONSENT_DAYS}::int)
    where id = ${id}`.execute(tx)
}

/**
 * Tries a code in one guarded statement, so of any number of simultaneous tries at most five wrong ones count. The caller commits also
 * after a wrong code.
 */
async function tryCode(
  tx: Tx,
  secrets: readonly string[],
  given: { orderId: string; email: string; code: string },
): Promise<{ isRight: boolean; id: string } | undefined> {
  const subject = subjectOf(given.orderId, given.email)
  const hashes = secrets.map((secret) => codeHash(secret, subject, codeDigits(given.code)))
  const { rows } = await sql<{ isRight: boolean; id: string }>`
    update email_changes set wrong_tries = wrong_tries + case when code_hash = any(${hashes}) then 0 else 1 end
    where order_id = ${given.orderId} and email = ${given.email} and wrong_tries < ${MOST_WRONG_TRIES}
      and confirmed_at is null and expires_at > clock_timestamp()
    returning code_hash = any(${hashes}) as "isRight", id`.execute(tx)
  return rows[0]
}

/** Moves the order at once, because the old mailbox consents with the code of its mail. Refuses `invalid_code`, `rate_limited`. */
export async function consentToMove(
  { db, jobs, secrets, limits }: EmailChangeParts,
  { orderId, oldEmail, code, network }: { orderId: string; oldEmail: string; code: string; network: string },
): Promise<void> {
  await limitedTry(
    db,
    {
      own: { key: `email_change_try from ${network}`, limit: limits.code_try },
      all: { key: `email_consent_try ${orderId}`, limit: limits.code_try },
      tooMany: 'Too many wrong codes were tried. Please wait a while.',
    },
    async (tx) => {
      const subject = subjectOf(orderId, oldEmail)
      const hashes = secrets.map((secret) => CONSENT.codeHash(secret, subject, codeDigits(code)))
      const { rows } = await sql<{ isRight: boolean; email: string }>`
        update email_changes set wrong_tries = wrong_tries + case when code_hash = any(${hashes}) then 0 else 1 end
        where order_id = ${orderId} and old_email = ${oldEmail} and wrong_tries < ${MOST_WRONG_TRIES}
          and confirmed_at is not null and expires_at > clock_timestamp()
        returning code_hash = any(${hashes}) as "isRight", email`.execute(tx)
      return rows[0]
    },
    async (tx, { email }) => {
      await moveNow(tx, jobs, { orderId, email })
      return true
    },
  )
}
