import { type RawBuilder, sql } from 'kysely'
import { literal } from '../kit/plans.ts'
import { chargedBackMinor } from '../orders/returned-money.ts'

/**
 * Refunds that are requested and not booked yet will take this from sellers' balances: rows of
 * `order_id, seller_id, currency, pending_on, minor`. It is the buyers', so no run pays it and no page calls it available. `pending_on` is
 * the day (UTC) on which the money of the sale becomes due, and null where it is due. Where the processor passes money on, the balance has
 * only money that is back from the seller's account, or never got there.
 */
export const refundsUnderWay = (sellerIds: 'all' | readonly string[], holdDays: number): RawBuilder<unknown> => sql`
  select o.id as order_id, o.seller_id, o.currency,
    case when s.created_at > now() - ${hold(holdDays)} then ((s.created_at + ${hold(holdDays)}) at time zone 'UTC')::date end as pending_on,
    case when o.connected_account is null then o.net else least(o.net, greatest(coalesce(a.due_minor - a.passed_minor, 0), 0)) end as minor
  from (
    select o.id, o.seller_id, o.currency, o.connected_account,
      o.after_minor - o.before_minor - ${feeShare('after_minor')} + ${feeShare('before_minor')} as net
    from (
      select o.id, o.seller_id, o.currency, o.connected_account, o.amount_minor, o.fee_minor, b.minor as before_minor,
        least(o.amount_minor, b.minor + r.minor) as after_minor
      from (
        select order_id, sum(amount_minor)::bigint as minor from refunds where state = 'requested' and reason = 'seller' group by 1) r
      join orders o on o.id = r.order_id
      cross join lateral (select o.refunded_minor + ${chargedBackMinor} as minor) b
      where ${sellerIds === 'all' ? sql`true` : sql`o.seller_id = any(${[...sellerIds]}::text[])`}) o) o
  left join passes a on a.order_id = o.id
  left join transfers s on s.order_id = o.id and s.kind = 'sale'`

const hold = (days: number) => sql`make_interval(days => ${literal(days)})`

/** The part of the fee that goes back when so much of the price did, half to even, as share() in kit/money.ts. */
function feeShare(returned: 'before_minor' | 'after_minor'): RawBuilder<unknown> {
  const part = sql`(o.fee_minor::numeric * o.${sql.ref(returned)})`
  const twice = sql`2 * mod(${part}, o.amount_minor)`
  return sql`(div(${part}, o.amount_minor) + case
    when ${twice} > o.amount_minor or (${twice} = o.amount_minor and mod(div(${part}, o.amount_minor), 2) = 1) then 1 else 0 end)::bigint`
}
