import { sql } from 'kysely'

/**
 * For a query over `orders o`: whether what was refunded and what the seller has asked to refund is all of the order. From that
 * moment on the files are not the buyer's, however long the processor takes.
 */
export const isGoingBack = sql<boolean>`(case when o.state in ('paid', 'partially_refunded') and o.amount_minor > 0 then
  o.refunded_minor + (select coalesce(sum(r.amount_minor), 0) from refunds r
    where r.order_id = o.id and r.state = 'requested' and r.reason = 'seller') >= o.amount_minor
  else false end)`
