import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Signer, newSigner } from '../kit/signing.ts'
import { moveToMailbox, confirmAddress } from '../orders/receipts.ts'

// A paid order whose new mailbox has answered: it moves when the old one consents, or when that has kept silent for some days.

const EMAIL = new RegExp(EMAIL_PATTERN)
/** So long the old mailbox can keep the order by one click, from when its mail server took the question. */
const COOLING_OFF_DAYS = 3
/** At once; what is left waits for the next time. */
const MOST_AT_ONCE = 100

export const moveSigner = (secrets: readonly string[]): Signer => newSigner(secrets, 'order move')

/**
 * What a link in the mail to the old mailbox holds: it shows that its holder reads that mailbox. It is good as long as the order has
 * that address, so that it outlives the change it was made for: a seller who asks again takes nothing away from it.
 */
export const moveToken = (signer: Signer, orderId: string, email: string): string => signer.sign(`${orderId} ${email}`)

/** The order's address, for who holds a link that was mailed there. Refuses `email_change_over`, also where the order has moved. */
export async function mailboxOf(db: Db, signer: Signer, orderId: string, token: string): Promise<string> {
  const { rows } = await sql<{ email: string }>`select email from orders where id = ${orderId}`.execute(db)
  const email = rows[0]?.email
  if (email === undefined || !signer.verify(`${orderId} ${email}`, token)) throw orderHasMoved()
  return email
}

/** Moves an order in one transaction with what is told of it. */
export async function moveNow(
  tx: Tx,
  jobs: Jobs,
  { orderId, email, withReceipt = false }: { orderId: string; email: string; withReceipt?: boolean },
): Promise<void> {
  await sql`delete from email_changes where order_id = ${orderId}`.execute(tx)
  const oldEmail = await moveToMailbox(tx, orderId, email)
  if (oldEmail === undefined) return
  await jobs.add(tx, 'mail', [
    { data: { kind: 'email_changed', orderId, to: oldEmail } },
    ...(withReceipt ? [{ data: { kind: 'receipt', orderId } }] : []),
  ])
}

/** When the order `o` of a change `c` moves by itself if its old mailbox is asked now. Null where that has kept the order before. */
export const endOfDays = sql<Date | null>`
  case when o.address_kept_at is null then coalesce(c.moves_at, now() + make_interval(days => ${COOLING_OFF_DAYS}::int)) end`

/** The old mailbox's server has taken the question, which says when the order moves. Before this, no order moves by itself. */
export async function daysBegin(db: Db, id: string, movesAt: Date): Promise<void> {
  await sql`
    update email_changes set moves_at = coalesce(moves_at, ${movesAt})
    where id = ${id} and confirmed_at is not null`.execute(db)
}

/**
 * The order's mailbox keeps it, whichever change is under way. A later move needs its consent, so a seller gains nothing by asking
 * again and again. A repeat does nothing more. Refuses `email_change_over`: the order has moved.
 */
export const keepAddress = (db: Db, { orderId, email }: { orderId: string; email: string }): Promise<void> =>
  inTransaction(db, async (tx) => {
    await sql`delete from email_changes where order_id = ${orderId}`.execute(tx)
    if (!(await confirmAddress(tx, orderId, email))) throw orderHasMoved()
  })

/**
 * Moves the orders whose days of cooling off are over, and those whose old mailbox turned out not to be there. Each in a
 * transaction of its own; of several processes one takes it.
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

/** A change whose old mailbox has not said no. It has no `moves_at` until that mailbox was asked. */
const isDue = sql<boolean>`c.confirmed_at is not null and o.address_kept_at is null
  and (c.moves_at <= now() or (o.receipt_bounced_at is not null and o.mailbox_refused_at is not null))`

/** Whether an order is on its way to this address, whose reader has answered: until it has moved, both addresses open it. */
export async function isMovingTo(db: Db, orderId: string, email: string): Promise<boolean> {
  // a text that is no address can hold what the database does not take
  if (email.length > EMAIL_LONGEST || !EMAIL.test(email)) return false
  const { rows } = await sql`
    select 1 from email_changes where order_id = ${orderId} and email = ${email} and confirmed_at is not null
      and expires_at > now()`.execute(db)
  return rows.length > 0
}

/** Forgets the changes that were not confirmed in time, or never consented to. */
export async function sweepEmailChanges(db: Db): Promise<void> {
  await sql`delete from email_changes where expires_at < now()`.execute(db)
}

const orderHasMoved = (): Refusal => new Refusal('email_change_over', 'The order has another address by now.')
