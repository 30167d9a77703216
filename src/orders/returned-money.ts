import { sql } from 'kysely'
import { Type } from 'typebox'

/**
 * For a query over `orders o`: the part of the price that banks took back through lost disputes, without the part that refunds had
 * returned before. Most states have none, so nothing is read for those orders.
 */
export const chargedBackMinor = sql<number>`(case when o.state in ('partially_refunded', 'disputed', 'charged_back') then
  (select least(o.amount_minor - o.refunded_minor, coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0))::bigint
    from disputes d join captures c using (processor, processor_capture_id)
    where d.order_id = o.id and d.state = 'lost' and c.purpose = 'sale')
  else 0 end)`

/**
 * For a query over `orders o`: whether refunds, chargebacks and the refunds that the seller has requested add up to the whole price.
 * From that moment the buyer has no files, even if the processor takes long.
 */
export const isFullRefundPending = sql<boolean>`(case when o.state in ('paid', 'partially_refunded') and o.amount_minor > 0 then
  o.refunded_minor + ${chargedBackMinor} + (select coalesce(sum(r.amount_minor), 0) from refunds r
    where r.order_id = o.id and r.state = 'requested' and r.reason = 'seller') >= o.amount_minor
  else false end)`

/** Whether the order `o` gives its buyer the files: it is paid, and no refund of all that is left is under way. */
export const givesFiles = sql<boolean>`(o.state in ('paid', 'partially_refunded') and not ${isFullRefundPending})`

/** The part of the capture `c` that has not gone back, is not on its way back, and was not taken by a bank. */
export const leftMinor = sql<number>`(c.amount_minor
  - (select coalesce(sum(r.amount_minor), 0) from refunds r where r.order_id = c.order_id and r.processor = c.processor
      and r.processor_capture_id = c.processor_capture_id and r.state in ('requested', 'succeeded'))
  - (select coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0) from disputes d where d.order_id = c.order_id
      and d.processor = c.processor and d.processor_capture_id = c.processor_capture_id and d.state = 'lost'))::bigint`

/**
 * For a query over `orders o`: whether the order got a payment that does not pay for it, and no payment is held, examined by a bank, or
 * under way any more. The operator has nothing to decide, and the buyer can order again.
 */
export const isPaymentReturned = sql<boolean>`(case when o.state = 'needs_review' then
  not exists (select from captures c where c.order_id = o.id and ${leftMinor} > 0)
  and not exists (select from disputes d where d.order_id = o.id and d.state = 'open')
  and not exists (select from payments p where p.order_id = o.id and p.state = 'processing')
  else false end)`

export const PaymentReturned = Type.Optional(
  Type.Boolean({
    description:
      'Present when the order is `needs_review` and all of the money is back or on its way back. The buyer can make a new order.',
  }),
)
