import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Signer, newSigner } from '../kit/signing.ts'
import { moveToMailbox } from '../orders/receipts.ts'

// A paid order whose new mailbox has answered: it moves when the old one consents, or when that has kept silent for some days.

const EMAIL = new RegExp(EMAIL_PATTERN)
/** So long the old mailbox can keep the order by one click, from when its mail server took the question. */
const COOLING_OFF_DAYS = 3
/** At once; what is left waits for the next time. */
const MOST_AT_ONCE = 100

export const moveSigner = (secrets: readonly string[]): Signer => newSigner(secrets, 'order move')

/** What a link in the mail to the old mailbox holds. It says which change it is about, and that we have mailed it. */
export const moveToken = (signer: Signer, id: string): string => `${id}.${signer.sign(id)}`

/** Which change a link is about. Refuses `email_change_over` where we have not made it. */
export function changeOf(signer: Signer, token: string): string {
  const [id = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0 || !signer.verify(id, signature)) throw changeIsOver()
  return id
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

/** When the order of a change `c` moves by itself if its old mailbox is asked now. Null where that has kept the order before. */
export const endOfDays = sql<Date | null>`
  case when c.kept_at is null then coalesce(c.moves_at, now() + make_interval(days => ${COOLING_OFF_DAYS}::int)) end`

/** The old mailbox's server has taken the question, which says when the order moves. Before this, no order moves by itself. */
export async function daysBegin(db: Db, id: string, movesAt: Date): Promise<void> {
  await sql`
    update email_changes set moves_at = coalesce(moves_at, ${movesAt})
    where id = ${id} and confirmed_at is not null and kept_at is null`.execute(db)
}

/**
 * The old mailbox keeps its order. A later move of it needs its consent, so that nobody can ask until it is not looked at. A repeat
 * does nothing more. Refuses `email_change_over`: it has moved, or another change has taken the place of this one.
 */
export async function keepAddress(db: Db, { orderId, id }: { orderId: string; id: string }): Promise<void> {
  const { rows } = await sql`
    update email_changes set kept_at = coalesce(kept_at, now()), confirmed_at = null, old_email = null, moves_at = null, expires_at = now()
    where order_id = ${orderId} and id = ${id} and (confirmed_at is not null or kept_at is not null)
    returning 1`.execute(db)
  if (rows.length === 0) throw changeIsOver()
}

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
const isDue = sql<boolean>`c.confirmed_at is not null and c.kept_at is null
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

/** Forgets the changes that were not confirmed in time. That an old mailbox has said no is kept. */
export async function sweepEmailChanges(db: Db): Promise<void> {
  await sql`delete from email_changes where expires_at < now() and kept_at is null`.execute(db)
}

const changeIsOver = (): Refusal =>
  new Refusal('email_change_over', 'This change of address is over: the order has moved, or it stays where it is.')
