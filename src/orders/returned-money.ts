import { sql } from 'kysely'

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
