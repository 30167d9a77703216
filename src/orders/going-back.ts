import { sql } from 'kysely'

/**
 * For a query over `orders o`: what banks took of the price by lost disputes, and refunds had not given back before. Most orders are
 * in a state that has none, so nothing is read for them.
 */
export const chargedBackMinor = sql<number>`(case when o.state in ('partially_refunded', 'disputed', 'charged_back') then
  (select least(o.amount_minor - o.refunded_minor, coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0))::bigint
    from disputes d join captures c using (processor, processor_capture_id)
    where d.order_id = o.id and d.state = 'lost' and c.purpose = 'sale')
  else 0 end)`

/**
 * For a query over `orders o`: whether what was refunded, what banks took and what the seller has asked to refund is all of the
 * order. From that moment on the files are not the buyer's, however long the processor takes.
 */
export const isFullRefundPending = sql<boolean>`(case when o.state in ('paid', 'partially_refunded') and o.amount_minor > 0 then
  o.refunded_minor + ${chargedBackMinor} + (select coalesce(sum(r.amount_minor), 0) from refunds r
    where r.order_id = o.id and r.state = 'requested' and r.reason = 'seller') >= o.amount_minor
  else false end)`
