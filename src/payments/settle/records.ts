import { sql } from 'kysely'
import { compiledOnce } from '../../kit/compiled.ts'
import type { Tx } from '../../kit/database.ts'
import { genericPlanArray } from '../../kit/plans.ts'
import type { Fact, Outcome } from './fact.ts'
import type { PaymentRecord } from './payment-record.ts'

export const keyOf = (processor: string, processorPaymentId: string): string => `${processor} ${processorPaymentId}`

/** The payment `p` lies at our account, and its order `o` names the seller's account there. */
const isPassedOn = sql`o.connected_account like p.processor || '@%'`

/** The processors of payments, and the payments' ids there, in the same order. */
type PaymentColumns = Record<'processors' | 'payments', readonly string[]>

const lockOrders = compiledOnce<PaymentColumns, unknown>(
  (given) => sql`
    select 1 from orders where id in (
      select p.order_id from payments p
      join unnest(${genericPlanArray(given('processors'), 'text')}, ${genericPlanArray(given('payments'), 'text')}) as f(processor, id) on f.processor = p.processor and f.id = p.processor_payment_id)
    order by id for update`,
)

const readRecords = compiledOnce<PaymentColumns, PaymentRecord>(
  (given) => sql`
    select o.id as "orderId", o.seller_id as "sellerId", o.state, o.amount_minor as "amountMinor", o.currency,
      o.fee_minor as "feeMinor", coalesce(o.tax_minor, 0) as "taxMinor", o.refunded_minor as "refundedMinor",
      exists (select from invoice_profiles i where i.seller_id = o.seller_id) as "hasInvoices",
      p.id as "paymentId", p.processor, p.processor_payment_id as "processorPaymentId", p.state as "paymentState", p.declines,
      (select coalesce(json_agg(json_build_object('id', c.processor_capture_id, 'purpose', c.purpose, 'amountMinor', c.amount_minor, 'currency', c.currency)), '[]')
        from captures c where c.order_id = o.id) as captures,
      (select coalesce(json_agg(json_build_object('id', r.processor_refund_id, 'key', r.id, 'amountMinor', r.amount_minor,
          'captureId', r.processor_capture_id, 'state', r.state)), '[]')
        from refunds r where r.order_id = o.id) as refunds,
      (select coalesce(json_agg(json_build_object('id', d.processor_dispute_id, 'captureId', d.processor_capture_id, 'amountMinor', d.amount_minor, 'state', d.state,
          'lostMinor', case when d.state = 'lost' then coalesce(d.lost_minor, d.amount_minor) else 0 end, 'respondBy', d.respond_by)), '[]')
        from disputes d where d.order_id = o.id) as disputes,
      -- only where the processor passes the price on: everywhere else nothing more is read
      case when ${isPassedOn} then split_part(o.connected_account, '@', 2) end as payee,
      case when ${isPassedOn} then (
        select coalesce(json_agg(json_build_object('id', t.processor_transfer_id, 'state', t.state, 'amountMinor', t.amount_minor,
          'reversedMinor', t.reversed_minor)), '[]')
        from processor_transfers t where t.processor = p.processor and t.order_id = o.id) end as transfers,
      case when ${isPassedOn} then (
        select json_build_object('dueMinor', a.due_minor, 'passedMinor', a.passed_minor) from passes a where a.order_id = o.id) end as pass
    from unnest(${genericPlanArray(given('processors'), 'text')}, ${genericPlanArray(given('payments'), 'text')}) as f(processor, id)
    join payments p on p.processor = f.processor and p.processor_payment_id = f.id
    join orders o on o.id = p.order_id`,
)

/**
 * Locks the orders of the facts and reads the records of their payments, by `keyOf`. The locks are taken in the order of the ids, so
 * two rounds never wait for each other.
 */
export async function lockRecords(tx: Tx, facts: readonly Fact[]): Promise<Map<string, PaymentRecord>> {
  const columns = {
    processors: facts.map((fact) => fact.processor),
    payments: facts.map((fact) => fact.payment.processorPaymentId),
  }
  await lockOrders(tx, columns)
  // a statement of its own, after the lock: it sees the rows that another round has just committed
  const found = await readRecords(tx, columns)
  return new Map(found.map((one) => [keyOf(one.processor, one.processorPaymentId), { ...one, payee: one.payee ?? undefined, transfers: one.transfers ?? [] }])) // oxfmt-ignore
}

/**
 * Changes `unknown_payment` to `too_early` when the named order has a payment that may be this one. A notification can arrive before
 * we have stored the payment's id.
 */
export async function findTooEarly(tx: Tx, facts: readonly Fact[], outcomes: Outcome[]): Promise<void> {
  const named = facts.flatMap(({ processor, payment: { orderId } }, at) =>
    outcomes[at] === 'unknown_payment' && orderId ? [{ at, processor, orderId }] : [],
  )
  if (named.length === 0) return
  // the payment is starting, or its id was stored after we looked: the next delivery finds it. One that the processor refused for good
  // stays `starting`, and must not hold up others.
  const { rows: ours } = await sql<{ at: number }>`
    select n.at from unnest(
      ${named.map(({ at }) => at)}::int[], ${named.map(({ processor }) => processor)}::text[],
      ${named.map(({ orderId }) => orderId)}::text[], ${named.map(({ at }) => facts[at]!.payment.processorPaymentId)}::text[])
      as n(at, processor, order_id, payment)
    where exists (select from payments p where p.order_id = n.order_id and p.processor = n.processor
      and ((p.state = 'starting' and p.created_at > now() - interval '1 day') or p.processor_payment_id = n.payment))`.execute(
    tx,
  )
  for (const { at } of ours) outcomes[at] = 'too_early'
}
