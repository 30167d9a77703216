import type pg from 'pg'
import type { Reason } from '../../src/invoices/document.ts'
import type { State } from '../../src/orders/states.ts'

// All that the service has written about some orders, read in one statement, so that it is of one moment.

export interface Transfer {
  kind: string
  cause: string
  debit: string
  credit: string
  amountMinor: number
  currency: string
}
export interface Capture {
  id: string
  processor: string
  paymentId: string
  purpose: 'sale' | 'duplicate' | 'mismatch'
  amountMinor: number
  currency: string
}
export interface Refund {
  id: string | null
  key: string
  processor: string
  captureId: string
  amountMinor: number
  state: 'requested' | 'succeeded' | 'failed'
}
export interface Dispute {
  id: string
  processor: string
  captureId: string
  amountMinor: number
  state: 'open' | 'won' | 'lost'
  /** Null while it is not lost. */
  lostMinor: number | null
}
export interface Payment {
  id: string
  processor: string
  processorPaymentId: string | null
  state: 'starting' | 'open' | 'processing' | 'captured' | 'canceled'
}
export interface Order {
  id: string
  sellerId: string
  state: State
  amountMinor: number
  currency: string
  feeMinor: number
  /** The tax within the amount. Null: nothing is said about tax. */
  taxMinor: number | null
  refundedMinor: number
  isPaid: boolean
  payments: Payment[]
  captures: Capture[]
  refunds: Refund[]
  disputes: Dispute[]
  transfers: Transfer[]
  timeline: string[]
  /** The events that the seller's program hears of the order, each with the state that it shows. */
  events: { type: string; sequence: number; state: State }[]
  /** The refunds that the last event shows. Null: there is none. */
  shownRefundedMinor: number | null
  /** The documents that its seller issued, in their order. */
  invoices: { kind: 'invoice' | 'credit_note' | 'correction'; reason: Reason; amountMinor: number }[]
  /** Receipts that settling has promised, and those that were sent. */
  receiptJobs: number
  receipts: number
}

const READ = `
  select o.id, o.seller_id as "sellerId", o.state, o.amount_minor as "amountMinor", o.currency, o.fee_minor as "feeMinor",
    o.tax_minor as "taxMinor", o.refunded_minor as "refundedMinor", o.paid_at is not null as "isPaid",
    (select coalesce(json_agg(json_build_object('id', id, 'processor', processor,
        'processorPaymentId', processor_payment_id, 'state', state) order by id), '[]')
      from payments where order_id = o.id) as payments,
    (select coalesce(json_agg(json_build_object('id', processor_capture_id, 'processor', processor, 'paymentId', payment_id,
        'purpose', purpose, 'amountMinor', amount_minor, 'currency', currency)), '[]')
      from captures where order_id = o.id) as captures,
    (select coalesce(json_agg(json_build_object('id', processor_refund_id, 'key', id, 'processor', processor,
        'captureId', processor_capture_id, 'amountMinor', amount_minor, 'state', state)), '[]')
      from refunds where order_id = o.id) as refunds,
    (select coalesce(json_agg(json_build_object('id', processor_dispute_id, 'processor', processor,
        'captureId', processor_capture_id, 'amountMinor', amount_minor, 'state', state, 'lostMinor', lost_minor)), '[]')
      from disputes where order_id = o.id) as disputes,
    (select coalesce(json_agg(json_build_object('kind', kind, 'cause', cause, 'debit', debit_account,
        'credit', credit_account, 'amountMinor', amount_minor, 'currency', currency)), '[]')
      from transfers where order_id = o.id) as transfers,
    (select coalesce(json_agg(what order by id), '[]') from order_events where order_id = o.id) as timeline,
    (select coalesce(json_agg(json_build_object('type', type, 'sequence', sequence, 'state', data->'state') order by sequence), '[]')
      from events where order_id = o.id) as events,
    (select (data->>'refundedMinor')::bigint from events where order_id = o.id order by sequence desc limit 1) as "shownRefundedMinor",
    (select coalesce(json_agg(json_build_object('kind', kind, 'reason', reason, 'amountMinor', amount_minor) order by id), '[]')
      from invoices where order_id = o.id) as invoices,
    (select count(*)::int from added_jobs where queue = 'mail' and data->>'orderId' = o.id and data->>'kind' = 'receipt')
      as "receiptJobs",
    (select count(*)::int from outbox where recipient = $1 and text like '%' || o.id || '%' and subject like 'Your receipt%')
      as receipts
  from orders o where o.email = $1 order by o.id`

/** The orders of one buyer. */
export async function readOrders(client: pg.Pool, email: string): Promise<Order[]> {
  return (await client.query<Order>({ name: 'simulation', text: READ, values: [email] })).rows
}

/** The series of all sellers whose numbers have a gap, a repeat, or an end that is not the counter's. */
export async function brokenSeries(client: pg.Pool): Promise<string[]> {
  const { rows } = await client.query<{ problem: string }>(
    `select coalesce(c.seller_id, i.seller_id) || ' ' || coalesce(c.kind, i.kind) || ': ' || coalesce(i.many, 0) || ' numbers up to '
       || coalesce(i.most, 0) || ', counted ' || coalesce(c.last, 0) as problem
     from invoice_counters c full join (
       select seller_id, kind, year, count(distinct sequence)::int as many, count(*)::int as all, max(sequence) as most
       from invoices group by 1, 2, 3) i on i.seller_id = c.seller_id and i.kind = c.kind and i.year = c.year
     where (i.many = i.all and i.many = i.most and i.most = c.last) is not true`,
  )
  return rows.map(({ problem }) => problem)
}

/** How often a code counts as used, the orders that have it, and those of them that were paid after they had expired. */
export async function readUses(client: pg.Pool, id: string): Promise<{ uses: number; held: number; late: number }> {
  const { rows } = await client.query(
    `select d.uses, count(o.id)::int as held,
       (count(o.id) filter (where exists (select from order_events e where e.order_id = o.id and e.what = 'expired')))::int as late
     from discounts d left join orders o on o.discount_id = d.id and o.state <> 'expired'
     where d.id = $1 group by d.id`,
    [id],
  )
  return rows[0]
}
