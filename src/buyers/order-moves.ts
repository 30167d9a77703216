import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Signer, newSigner } from '../kit/signing.ts'
import { sweepRows } from '../kit/sweep.ts'
import { recordOrderEvents } from '../orders/move.ts'
import { moveToMailbox, confirmAddress } from '../orders/receipts.ts'

// After the reader of the new mailbox has confirmed it, a paid order moves when the old mailbox consents, or has been silent for days.

const EMAIL = new RegExp(EMAIL_PATTERN)
/** The old mailbox can keep the order by one click for this long after its mail server accepted the question. */
const COOLING_OFF_DAYS = 3
/** The most moves in one round. The rest waits for the next one. */
const MOST_AT_ONCE = 100

export const moveSigner = (secrets: readonly string[]): Signer => newSigner(secrets, 'order move')

/**
 * The token in the link that is mailed to the old mailbox. It shows that its holder reads that mailbox. It works as long as the order
 * has that address, so a seller cannot end it by requesting another change.
 */
export const moveToken = (signer: Signer, orderId: string, email: string): string => signer.sign(`${orderId} ${email}`)

/** Returns the order's address if the token was mailed there. Refuses `email_change_over`, also when the order has moved. */
export async function mailboxOf(db: Db, signer: Signer, orderId: string, token: string): Promise<string> {
  const { rows } = await sql<{ email: string }>`select email from orders where id = ${orderId}`.execute(db)
  const email = rows[0]?.email
  if (email === undefined || !signer.verify(`${orderId} ${email}`, token)) throw orderHasMoved()
  return email
}

/** Moves an order to its new address, and enqueues the mails about it in the same transaction. */
export async function moveNow(
  tx: Tx,
  jobs: Jobs,
  { orderId, email, withReceipt = false }: { orderId: string; email: string; withReceipt?: boolean },
): Promise<void> {
  await sql`delete from email_changes where order_id = ${orderId}`.execute(tx)
  const oldEmail = await moveToMailbox(tx, orderId, email)
  if (oldEmail === undefined) return
  await recordOrderEvents(tx, [{ orderId, type: 'order.email_changed' }])
  await jobs.add(tx, 'mail', [
    { data: { kind: 'email_changed', orderId, to: oldEmail } },
    ...(withReceipt ? [{ data: { kind: 'receipt', orderId } }] : []),
  ])
}

/**
 * For an order `o` and a change `c`: when the order moves by itself if the old mailbox gets the question now. Null when that mailbox
 * has kept the order before.
 */
export const moveTime = sql<Date | null>`
  case when o.address_kept_at is null then coalesce(c.moves_at, now() + make_interval(days => ${COOLING_OFF_DAYS}::int)) end`

/** Starts the cooling-off days once the old mailbox's server has accepted the question. Before this the order does not move by itself. */
export async function startCoolingOff(db: Db, id: string, movesAt: Date): Promise<void> {
  await sql`
    update email_changes set moves_at = coalesce(moves_at, ${movesAt})
    where id = ${id} and confirmed_at is not null`.execute(db)
}

/**
 * Ends any change under way, because the order's mailbox keeps the order. A later move needs that mailbox's consent, so a seller gains
 * nothing by repeated requests. A repeat changes nothing. Refuses `email_change_over` when the order has moved.
 */
export const keepAddress = (db: Db, { orderId, email }: { orderId: string; email: string }): Promise<void> =>
  inTransaction(db, async (tx) => {
    await sql`delete from email_changes where order_id = ${orderId}`.execute(tx)
    if (!(await confirmAddress(tx, orderId, email))) throw orderHasMoved()
  })

/**
 * Moves the orders whose cooling-off days are over, and those whose old mailbox turned out not to exist. Each has a transaction of its
 * own, and a row lock lets only one process move it.
 */
export async function finishMoves(db: Db, jobs: Jobs): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select c.id from email_changes c join orders o on o.id = c.order_id where ${isDue}
    order by c.moves_at limit ${MOST_AT_ONCE}`.execute(db)
  for (const { id } of rows)
    await inTransaction(db, async (tx) => {
      const { rows: due } = await sql<{ orderId: string; email: string; isSame: boolean }>`
        select c.order_id as "orderId", c.email, c.old_email = o.email as "isSame"
        from email_changes c join orders o on o.id = c.order_id
        where c.id = ${id} and ${isDue} for update of c skip locked`.execute(tx)
      const change = due[0]
      if (!change) return
      if (change.isSame) await moveNow(tx, jobs, change)
      else await sql`delete from email_changes where id = ${id}`.execute(tx)
    })
}

/** Whether a change's order may move now: the old mailbox has not kept it, and its days are over or it does not exist. */
const isDue = sql<boolean>`c.confirmed_at is not null and o.address_kept_at is null
  and (c.moves_at <= now() or (o.receipt_bounced_at is not null and o.mailbox_refused_at is not null))`

/** Whether the reader of this address has confirmed it for the order. Until the order has moved, both addresses open it. */
export async function isMovingTo(db: Db, orderId: string, email: string): Promise<boolean> {
  // PostgreSQL fails on some characters, which no address has
  if (email.length > EMAIL_LONGEST || !EMAIL.test(email)) return false
  const { rows } = await sql`
    select 1 from email_changes where order_id = ${orderId} and email = ${email} and confirmed_at is not null
      and expires_at > now()`.execute(db)
  return rows.length > 0
}

/** Removes changes that were not confirmed, or not consented to, in time. */
export async function sweepEmailChanges(db: Db): Promise<void> {
  await sweepRows(db, 'email_changes', sql`expires_at < now()`)
}

const orderHasMoved = (): Refusal => new Refusal('email_change_over', 'The order has another address by now.')
