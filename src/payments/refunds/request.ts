import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { digestOf, reusedKey } from '../../kit/idempotency.ts'
import { newId } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { formatMoney } from '../../kit/money.ts'
import { chargedBackMinor } from '../../orders/returned-money.ts'
import { noteEvents } from '../../orders/move.ts'
import { type State, isDelivered } from '../../orders/states.ts'

export interface RefundRequest {
  orderId: string
  /** The seller who must own the order. */
  sellerId: string
  /** Undefined: all that is left. */
  amountMinor?: number | undefined
  /** The seller's own words. */
  note?: string | undefined
  /** The client's key for this request. The same key never makes two refunds. */
  idempotencyKey?: string | undefined
}

export interface RefundRow {
  id: string
  orderId: string
  amountMinor: number
  currency: string
  state: 'requested' | 'succeeded' | 'failed'
  reason: 'seller' | 'processor'
  note: string | null
  createdAt: Date
}

interface Refundable {
  state: State
  currency: string
  processor: string | null
  captureId: string | null
  leftMinor: number
}

/** The texts for orders that cannot be refunded. */
const WHY_NOT: Partial<Record<State, string>> = {
  // a paid order without a capture
  paid: 'This order cost nothing, so nothing can go back.',
  refunded: 'This order is already refunded in full.',
  disputed: 'The buyer’s bank is deciding about this payment: a refund could pay the buyer twice.',
  charged_back: 'The buyer’s bank has already taken the money back.',
  needs_review:
    'The buyer did not pay the exact price. The operator of this service decides whether the money is kept or sent back.',
}

/**
 * Stores a seller's request for a refund, and enqueues the job that asks the processor. The order is locked while the rest of its
 * sale is counted, so simultaneous refunds never exceed it. With an idempotency key the same request gives the same refund. Refuses
 * `order_not_found`, `order_not_refundable`, `refund_too_large`, `idempotency_key_reused`.
 */
export const requestRefund = (db: Db, jobs: Jobs, request: RefundRequest): Promise<RefundRow> =>
  inTransaction(db, async (tx) => (await requestRefundIn(tx, jobs, request)).refund)

/** The same within a transaction. `isRepeat`: an earlier request with this idempotency key has made the refund. */
export async function requestRefundIn(
  tx: Tx,
  jobs: Jobs,
  request: RefundRequest,
): Promise<{ refund: RefundRow; isRepeat: boolean }> {
  const { orderId, sellerId, amountMinor, note, idempotencyKey } = request
  const keyHash = idempotencyKey === undefined ? null : digestOf([sellerId, idempotencyKey])
  const requestHash = keyHash && digestOf([orderId, amountMinor ?? null, note ?? null])
  const order = await lockRefundable(tx, orderId, sellerId)
  const earlier = keyHash && (await findByKey(tx, keyHash))
  if (earlier) return { refund: sameRequest(earlier, requestHash!), isRepeat: true }

  if (!isDelivered(order.state) || !order.captureId)
    throw new Refusal('order_not_refundable', WHY_NOT[order.state] ?? 'This order was not paid.')
  const amount = amountMinor ?? order.leftMinor
  if (amount < 1 || amount > order.leftMinor) throw new Refusal('refund_too_large', whatIsLeft(order))

  const { rows } = await sql<RefundRow>`
    insert into refunds (id, processor, processor_capture_id, order_id, amount_minor, reason, state, note, idempotency_key, request_hash)
    values (${newId('ref')}, ${order.processor}, ${order.captureId}, ${orderId}, ${amount}, 'seller', 'requested',
      ${note ?? null}, ${keyHash}, ${requestHash})
    on conflict (idempotency_key) do nothing
    returning id, order_id as "orderId", amount_minor as "amountMinor", ${order.currency} as currency, state, reason, note,
      created_at as "createdAt"`.execute(tx)
  const refund = rows[0]
  // the lock lets only one request for this order run, so the key belongs to a request for another order
  if (!refund) throw reusedKey()
  await noteEvents(tx, [{ orderId, what: 'refund_requested' }])
  await jobs.add(tx, 'refund', [{ data: { refundId: refund.id } }])
  return { refund, isRepeat: false }
}

/** Far more refunds than one order needs. */
const MOST_LISTED = 1000

/** The refunds of a seller's order, newest first, with those from the processor's dashboard. Refuses `order_not_found`. */
export async function listRefunds(db: Db, orderId: string, sellerId: string): Promise<RefundRow[]> {
  const { rows: orders } = await sql`select 1 from orders where id = ${orderId} and seller_id = ${sellerId}`.execute(db)
  if (orders.length === 0) throw new Refusal('order_not_found', NOT_YOURS)
  // refunds of duplicate or mismatched captures are not part of the order's price, nor is one that failed before the payment was accepted
  const { rows } = await sql<RefundRow>`
    select r.id, r.order_id as "orderId", r.amount_minor as "amountMinor", c.currency, r.state, r.reason, r.note,
      r.created_at as "createdAt"
    from refunds r join captures c on c.processor = r.processor and c.processor_capture_id = r.processor_capture_id
    where r.order_id = ${orderId} and c.purpose = 'sale' and not (r.reason = 'duplicate' and r.state = 'failed')
    order by r.created_at desc, r.id desc limit ${MOST_LISTED}`.execute(db)
  return rows
}

const NOT_YOURS = 'There is no such order of yours.'

async function lockRefundable(tx: Tx, orderId: string, sellerId: string): Promise<Refundable> {
  await sql`select 1 from orders where id = ${orderId} and seller_id = ${sellerId} for update`.execute(tx)
  // a statement of its own, after the lock: it sees the rows that another request has just committed
  const { rows } = await sql<Refundable>`
    select o.state, o.currency, c.processor, c.processor_capture_id as "captureId",
      (coalesce(c.amount_minor, 0) - ${chargedBackMinor} - (select coalesce(sum(r.amount_minor), 0) from refunds r
        where r.processor = c.processor and r.processor_capture_id = c.processor_capture_id
          and r.state in ('requested', 'succeeded')))::bigint as "leftMinor"
    from orders o left join captures c on c.order_id = o.id and c.purpose = 'sale'
    where o.id = ${orderId} and o.seller_id = ${sellerId}`.execute(tx)
  if (!rows[0]) throw new Refusal('order_not_found', NOT_YOURS)
  return rows[0]
}

async function findByKey(tx: Tx, keyHash: Buffer) {
  const { rows } = await sql<RefundRow & { requestHash: Buffer }>`
    select r.id, r.order_id as "orderId", r.amount_minor as "amountMinor", o.currency, r.state, r.reason, r.note,
      r.created_at as "createdAt", r.request_hash as "requestHash"
    from refunds r join orders o on o.id = r.order_id where r.idempotency_key = ${keyHash}`.execute(tx)
  return rows[0]
}

function sameRequest<Row extends { requestHash: Buffer }>(earlier: Row, requestHash: Buffer): Row {
  if (earlier.requestHash.equals(requestHash)) return earlier
  throw reusedKey()
}

function whatIsLeft({ leftMinor, currency }: Refundable): string {
  if (leftMinor <= 0) return 'Nothing is left to refund: the buyer has all of it back, or it is on its way.'
  return `${formatMoney(leftMinor, currency)} (${leftMinor} in minor units) is left to refund.`
}
