import { sql } from 'kysely'
import type { Tx } from '../../kit/database.ts'
import { ODD_STATEMENT_LINES } from '../../ledger/payout-entries.ts'
import { type Difference, differences } from '../../ledger/trial-balance.ts'

/**
 * Checks rows against the ledger: each capture, refund and dispute has its entry, and each entry its row. Lines of banks' statements must
 * agree with the payouts.
 */
export async function checkRows(tx: Tx): Promise<Difference[]> {
  return [
    ...(await differences(tx, ODD_ROWS)),
    ...(await differences(tx, ODD_SALES)),
    ...(await differences(tx, ODD_DISCOUNTS)),
    ...(await differences(tx, ODD_PASSES)),
    ...(await differences(tx, ODD_STATEMENT_LINES)),
  ]
}

const ODD_ROWS = sql`
  -- money that came back of lost disputes: the cause of each part is its dispute's cause and the amount that was still lost
  with returned as (
    select substring(cause from '^(.*):') as cause, sum(amount_minor) as minor from transfers where kind = 'dispute_return' group by 1),
  known as (
    select case purpose when 'sale' then 'sale' else 'held' end as kind, processor || ':capture:' || processor_capture_id as cause,
      order_id, amount_minor, currency
    from captures
    union all
    -- a payment of another amount that the operator took as the price: it was held before, and left the suspense account as a sale
    select a.kind, c.processor || a.event || c.processor_capture_id, c.order_id, c.amount_minor, c.currency
    from captures c cross join (values ('held', ':capture:'), ('returned', ':accepted:')) as a(kind, event)
    where c.accepted_at is not null
    union all
    select case c.purpose when 'sale' then 'refund' else 'returned' end, r.processor || ':refund:' || r.processor_refund_id,
      r.order_id, r.amount_minor, c.currency
    from refunds r join captures c using (processor, processor_capture_id) where r.state = 'succeeded'
    union all
    select s.kind, coalesce(r.cause, d.processor || ':dispute:' || d.processor_dispute_id), d.order_id, s.minor, c.currency
    from disputes d join captures c using (processor, processor_capture_id)
    full join returned r on r.cause = d.processor || ':dispute:' || d.processor_dispute_id
    cross join lateral (select coalesce(r.minor, 0) + case when d.state = 'lost' then coalesce(d.lost_minor, d.amount_minor)
      when d.state is distinct from 'open' then 0 end as lost) as l
    cross join lateral (values
      ('dispute_hold', d.amount_minor), ('dispute_loss', l.lost), ('dispute_release', d.amount_minor - l.lost)) as s(kind, minor)
    where s.minor > 0),
  -- a separate entry takes back a refund that failed after it was booked
  undone as (select cause from transfers where kind in ('refund_failed', 'return_failed')),
  booked as (
    select kind, cause, order_id, amount_minor, currency from transfers
    where kind in ('sale', 'held', 'dispute_hold', 'dispute_release', 'dispute_loss')
      or (kind in ('refund', 'returned') and cause not in (select cause from undone)))
  select case when b.cause is null then 'not_booked' when k.cause is null then 'booked_only'
      when k.order_id <> b.order_id then 'booked_for_another_order' else 'booked_differently' end,
    kind || ' ' || cause, coalesce(k.order_id, b.order_id), coalesce(k.currency, b.currency), k.amount_minor, b.amount_minor
  from known k full join booked b using (kind, cause)
  where b.cause is null or k.cause is null
    or (k.order_id, k.amount_minor, k.currency) is distinct from (b.order_id, b.amount_minor, b.currency)`

/**
 * The processor's transfers to sellers' accounts against the entries for them, and the noted sum of each order against both. An order
 * whose money has not reached the seller's account a day later, or is there and does not belong there, is in the operators' list.
 */
const ODD_PASSES = sql`
  with theirs as (
    select order_id, sum(amount_minor) as passed, sum(reversed_minor) as back, max(currency) as currency
    from processor_transfers where state = 'passed' group by 1),
  booked as (
    select order_id, coalesce(sum(amount_minor) filter (where kind = 'passed_on'), 0) as passed,
      coalesce(sum(amount_minor) filter (where kind = 'passed_back'), 0) as back
    from transfers where kind in ('passed_on', 'passed_back') group by 1)
  select v.what, coalesce(t.order_id, b.order_id, a.order_id), coalesce(t.order_id, b.order_id, a.order_id), t.currency, v.expected, v.found
  from theirs t full join booked b on b.order_id = t.order_id full join passes a on a.order_id = coalesce(t.order_id, b.order_id)
  cross join lateral (values
    ('passed_differs', coalesce(t.passed, 0), coalesce(b.passed, 0)),
    ('passed_back_differs', coalesce(t.back, 0), coalesce(b.back, 0)),
    ('pass_noted_differs', coalesce(t.passed, 0) - coalesce(t.back, 0), coalesce(a.passed_minor, 0))) as v(what, expected, found)
  where v.expected <> v.found`

/** An order is paid if, and only if, one of its own payments is captured. Only free orders have no payment. */
const ODD_SALES = sql`
  select case when c.order_id is null then 'paid_without_capture' when o.paid_at is null then 'captured_and_not_paid'
      else 'captured_by_another_payment' end,
    o.id, o.id, o.currency, case when o.paid_at is not null then o.amount_minor end, c.amount_minor
  from orders o
  left join captures c on c.order_id = o.id and c.purpose = 'sale'
  left join payments p on p.id = c.payment_id
  where (o.paid_at is not null and o.amount_minor > 0) <> (c.order_id is not null)
    or p.state <> 'captured' or p.order_id <> o.id or p.processor <> c.processor`

/** The uses of a discount code are the orders that hold it: all except expired ones, and those whose money went back unaccepted. */
const ODD_DISCOUNTS = sql`
  with held as (
    select discount_id, count(*) filter (where holds_discount) as uses,
      bool_or(holds_discount <> (state <> 'expired') and (holds_discount or state <> 'needs_review')) as odd
    from orders where discount_id is not null group by discount_id)
  select 'discount_uses_differ', d.id, null, d.currency, coalesce(h.uses, 0), d.uses
  from discounts d left join held h on h.discount_id = d.id
  where d.uses <> coalesce(h.uses, 0) or h.odd`
