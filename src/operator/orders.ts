import { type RawBuilder, sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import { isId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type State, waitsForSomebody } from '../orders/states.ts'
import { type RefundRow, requestRefundIn } from '../payments/refunds/request.ts'
import { type Accepted, type SentBack, acceptPayment, sendPaymentBack } from '../payments/review.ts'
import { leftMinor } from '../orders/returned-money.ts'
import { note } from './log.ts'

export interface OrderSearch {
  /** An order's id or its beginning, a buyer's whole address, or the processor's id of a payment. */
  q?: string | undefined
  status?: State | undefined
  sellerId?: string | undefined
}

export interface FoundOrder {
  id: string
  state: State
  email: string
  amountMinor: number
  currency: string
  productName: string
  sellerId: string
  sellerName: string
  createdAt: Date
  paidAt: Date | null
}

/** The processors among whose payments the search looks for an id. */
const PROCESSORS = ['stripe', 'razorpay', 'sandbox']
/** With the accounts of sellers. The index on the processors' ids begins with the processor. */
const ALL_PROCESSORS = sql`array(
  select unnest(${PROCESSORS}::text[]) union all
  select processor || '@' || account from connected_accounts where account is not null)`

/** Orders of all sellers, the newest first. An order's id begins with its time, so the primary key is that order. */
export async function searchOrders(
  db: Db,
  { q, status, sellerId }: OrderSearch,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<FoundOrder[]> {
  const conditions = [sql`true`, ...(q?.trim() ? [conditionOf(q.trim())] : [])]
  if (status) conditions.push(sql`o.state = ${status}`)
  if (status === 'needs_review' || status === 'disputed') conditions.push(waitsForSomebody)
  if (sellerId !== undefined) conditions.push(sql`o.seller_id = ${sellerId}`)
  if (after !== undefined) conditions.push(sql`o.id < ${after}`)
  const { rows } = await sql<FoundOrder>`
    select o.id, o.state, o.email, o.amount_minor as "amountMinor", o.currency, o.product_name as "productName",
      o.seller_id as "sellerId", s.name as "sellerName", o.created_at as "createdAt", o.paid_at as "paidAt"
    from orders o join sellers s on s.id = o.seller_id
    where ${sql.join(conditions, sql` and `)} order by o.id desc limit ${limit}`.execute(db)
  return rows
}

function conditionOf(typed: string): RawBuilder<unknown> {
  const id = typed.toLowerCase()
  if (isId('ord', id)) return sql`o.id = ${id}`
  // "~" sorts after every character of an id
  if (/^ord_[0-9a-z]*$/.test(id)) return sql`o.id >= ${id} and o.id < ${`${id}~`}`
  if (typed.includes('@')) return sql`o.email = ${canonicalEmail(typed)}`
  return sql`o.id in (
    select order_id from payments where processor = any(${ALL_PROCESSORS}) and processor_payment_id = ${typed}
    union all
    select order_id from captures where processor = any(${ALL_PROCESSORS}) and processor_capture_id = ${typed})`
}

export interface OrderPayment {
  processor: string
  processorPaymentId: string | null
  state: string
  createdAt: string
  captures: {
    id: string
    purpose: 'sale' | 'duplicate' | 'mismatch'
    amountMinor: number
    currency: string
    capturedAt: string
    leftMinor: number
  }[]
  disputes: { id: string; amountMinor: number; state: string; respondBy: string | null }[]
}

export interface OrderOfSeller {
  sellerId: string
  sellerName: string
  sellerEmail: string
  payments: OrderPayment[]
}

/** The seller of an order, and its payments under the processors' ids. Refuses `order_not_found`. */
export async function findOrderOfSeller(db: Db, orderId: string): Promise<OrderOfSeller> {
  const { rows } = await sql<OrderOfSeller>`
    select s.id as "sellerId", s.name as "sellerName", s.email as "sellerEmail",
      (select coalesce(json_agg(p), '[]') from (
        select p.processor, p.processor_payment_id as "processorPaymentId", p.state, p.created_at as "createdAt",
          (select coalesce(json_agg(c), '[]') from (
            select c.processor_capture_id as id, c.purpose, c.amount_minor as "amountMinor", c.currency,
              c.captured_at as "capturedAt",
              ${leftMinor} as "leftMinor"
            from captures c where c.payment_id = p.id order by c.captured_at) c) as captures,
          (select coalesce(json_agg(d), '[]') from (
            select d.processor_dispute_id as id, d.amount_minor as "amountMinor", d.state, d.respond_by as "respondBy"
            from disputes d join captures c using (processor, processor_capture_id) where c.payment_id = p.id) d) as disputes
        from payments p where p.order_id = o.id order by p.created_at) p) as payments
    from orders o join sellers s on s.id = o.seller_id where o.id = ${orderId}`.execute(db)
  if (!rows[0]) throw new Refusal('order_not_found', 'There is no such order.')
  return rows[0]
}

/** The operator takes the held payment of an order as its price. Refuses as acceptPayment(). */
export const acceptOrder = (
  db: Db,
  jobs: Jobs,
  actor: string,
  { orderId, captureId }: { orderId: string; captureId?: string | undefined },
): Promise<Accepted> =>
  inTransaction(db, async (tx) => {
    const accepted = await acceptPayment(tx, jobs, orderId, captureId)
    await note(tx, actor, 'order_accepted', orderId, { ...accepted })
    return accepted
  })

/** The operator sends the held money of an order back. Refuses as sendPaymentBack(). */
export const sendOrderBack = (db: Db, jobs: Jobs, actor: string, orderId: string): Promise<SentBack[]> =>
  inTransaction(db, async (tx) => {
    const returns = await sendPaymentBack(tx, jobs, orderId)
    await note(tx, actor, 'order_sent_back', orderId, { returns })
    return returns
  })

export interface OperatorRefund {
  orderId: string
  amountMinor?: number | undefined
  reason?: string | undefined
  idempotencyKey?: string | undefined
}

/** The operator refunds a seller's order. Refuses as requestRefund(). */
export const refundAsOperator = (
  db: Db,
  jobs: Jobs,
  actor: string,
  { orderId, amountMinor, reason, idempotencyKey }: OperatorRefund,
): Promise<RefundRow> =>
  inTransaction(db, async (tx) => {
    const { refund, isRepeat } = await requestRefundIn(tx, jobs, {
      orderId,
      sellerId: (await sellerOf(tx, orderId)).sellerId,
      amountMinor,
      // the seller reads it beside the refund
      note: `By the operator${reason === undefined ? '' : `: ${reason}`}`,
      ...(idempotencyKey !== undefined && { idempotencyKey: `operator ${idempotencyKey}` }),
    })
    const { id: refundId, amountMinor: amount, currency } = refund
    const detail = { refundId, amountMinor: amount, currency, ...(reason !== undefined && { reason }) }
    if (!isRepeat) await note(tx, actor, 'order_refunded', orderId, detail)
    return refund
  })

/** Mails the buyer the receipt again. Refuses `order_not_found`, `order_not_paid`. */
export const resendReceipt = (db: Db, jobs: Jobs, actor: string, orderId: string): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { isPaid } = await sellerOf(tx, orderId)
    if (!isPaid) throw new Refusal('order_not_paid', 'This order was not paid, so there is no receipt to send.')
    await jobs.add(tx, 'mail', [{ data: { kind: 'receipt', orderId } }])
    await note(tx, actor, 'receipt_resent', orderId)
  })

async function sellerOf(tx: Tx, orderId: string): Promise<{ sellerId: string; isPaid: boolean }> {
  const { rows } = await sql<{ sellerId: string; isPaid: boolean }>`
    select seller_id as "sellerId", paid_at is not null as "isPaid" from orders where id = ${orderId}`.execute(tx)
  if (!rows[0]) throw new Refusal('order_not_found', 'There is no such order.')
  return rows[0]
}
