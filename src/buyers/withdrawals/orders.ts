import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { endOfNumber } from '../../kit/order-number.ts'
import { recordOrderEvents } from '../../orders/move.ts'
import type { OrderWithdrawal } from './schema.ts'

/** A statement without the number of an order may be about each of so many orders of its address. */
const MOST_BY_ADDRESS = 20
/** Numbers of orders that are looked for in one statement. */
const MOST_NAMED = 20
const ORDER_ID = /\bord_[0-9a-hjkmnp-tv-z]{26}\b/g
const SHORT_NUMBER = /\b[0-9a-z]{4}-[0-9a-z]{4}\b/g

/** While a statement is open, the seller hears of no further one until a day has passed without any: a stranger can make many. */
const QUIET = '1 day'

/**
 * Finds the orders that a statement may be about, once: those whose number it has, or else those that were bought with its address. The
 * seller of an order with both its number and its address gets a mail and an event, unless another such statement of the last day is
 * still open.
 */
export const findWithdrawn = (db: Db, jobs: Jobs, id: string): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<{ email: string; contract: string }>`
      select email, contract from withdrawals w where id = ${id}
        and not exists (select from withdrawal_lookups l where l.withdrawal_id = w.id) for update`.execute(tx)
    if (!rows[0]) return
    const { email, contract } = rows[0]
    const named = [...new Set(contract.toLowerCase().match(ORDER_ID))].slice(0, MOST_NAMED)
    const ends = (contract.toLowerCase().match(SHORT_NUMBER) ?? []).slice(0, MOST_NAMED)
    const orders = await namedOrders(tx, id, email, { named, ends: ends.flatMap((one) => endOfNumber(one) ?? []) })
    const found = orders.length > 0 ? orders : await ordersOf(tx, id, email)
    await sql`insert into withdrawal_lookups (withdrawal_id, found) values (${id}, ${found.length})`.execute(tx)
    const sure = orders.filter(({ hasAddress, wasHeard }) => hasAddress && !wasHeard)
    await recordOrderEvents(tx, sure.map(({ orderId }) => ({ orderId, type: 'order.withdrawn' }))) // oxfmt-ignore
    await jobs.add(tx, 'mail', sure.map(({ orderId }) => ({ data: { kind: 'seller_withdrawn', orderId } }))) // oxfmt-ignore
  })

interface Found {
  orderId: string
  hasAddress: boolean
}

interface Named extends Found {
  /** Another statement with number and address came in the last day and is still open, so the seller knows. */
  wasHeard: boolean
}

/**
 * A short number counts only with the order's address: it is too short to name one order of all. The orders whose payment is under way or
 * under review are taken too: the statement is looked up once, and shows at the order when it is paid.
 */
async function namedOrders(
  tx: Tx,
  id: string,
  email: string,
  { named, ends }: { named: readonly string[]; ends: readonly string[] },
): Promise<Named[]> {
  if (named.length + ends.length === 0) return []
  const { rows } = await sql<Named>`
    insert into withdrawal_orders as made (withdrawal_id, order_id, seller_id, is_named, has_address)
    select ${id}, o.id, o.seller_id, true, o.email = ${email} from orders o
    where (o.id = any(${[...named]}::text[]) or (o.email = ${email} and right(o.id, 8) = any(${[...ends]}::text[])))
      and (o.paid_at is not null or o.state in ('processing', 'needs_review')) order by o.id
    returning order_id as "orderId", has_address as "hasAddress", exists (
      select from withdrawal_orders b join withdrawals w on w.id = b.withdrawal_id
      where b.order_id = made.order_id and b.withdrawal_id <> made.withdrawal_id and b.is_named and b.has_address
        and b.done_at is null and w.received_at > now() - ${QUIET}::interval) as "wasHeard"`.execute(tx)
  return rows
}

async function ordersOf(tx: Tx, id: string, email: string): Promise<Found[]> {
  const { rows } = await sql<Found>`
    insert into withdrawal_orders (withdrawal_id, order_id, seller_id, is_named, has_address)
    select ${id}, o.id, o.seller_id, false, true from orders o
    where o.email = ${email} and o.paid_at is not null and o.amount_minor > 0 and o.state not in ('refunded', 'charged_back')
    order by o.paid_at desc limit ${MOST_BY_ADDRESS}
    returning order_id as "orderId", has_address as "hasAddress"`.execute(tx)
  return rows
}

/** Enqueues statements whose orders were never looked up: their job was given up while the database was away. */
export const findForgotten = (db: Db, jobs: Jobs): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: string }>`
      select id from withdrawals w where received_at < now() - interval '1 hour'
        and received_at > now() - interval '60 days'
        and not exists (select from withdrawal_lookups l where l.withdrawal_id = w.id) limit 100`.execute(tx)
    await jobs.add(tx, 'find_withdrawn', rows.map((data) => ({ data }))) // oxfmt-ignore
  })

/** The statements that may be about an order, the newest first. */
export async function withdrawalsOf(db: Db, orderId: string): Promise<OrderWithdrawal[]> {
  const { rows } = await sql<
    Omit<OrderWithdrawal, 'receivedAt' | 'doneAt'> & { receivedAt: Date; doneAt: Date | null }
  >`
    select w.id as "withdrawalId", w.received_at as "receivedAt", w.name, w.contract, w.email, wo.is_named as named,
      wo.has_address as "hasAddress", floor(extract(epoch from w.received_at - o.paid_at) / 86400)::int as "daysAfterPayment",
      wo.done_at as "doneAt"
    from withdrawal_orders wo join withdrawals w on w.id = wo.withdrawal_id join orders o on o.id = wo.order_id
    where wo.order_id = ${orderId} order by w.received_at desc, w.id limit 20`.execute(db)
  return rows.map(({ receivedAt, doneAt, ...row }) => ({
    ...row,
    receivedAt: receivedAt.toISOString(),
    doneAt: doneAt?.toISOString() ?? null,
  }))
}

/** The seller needs no reminder of the statements about an order any more. False: it was so before. Refuses `order_not_found`. */
export async function endReminder(db: Db, sellerId: string, orderId: string): Promise<boolean> {
  const { rows } = await sql<{ changed: number }>`
    with open as (
      update withdrawal_orders set done_at = now()
      where order_id = ${orderId} and seller_id = ${sellerId} and done_at is null returning 1)
    select (select count(*)::int from open) as changed from orders where id = ${orderId} and seller_id = ${sellerId}`.execute(
    db,
  )
  if (!rows[0]) throw new Refusal('order_not_found', 'There is no such order.')
  return rows[0].changed > 0
}
