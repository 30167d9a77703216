import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { AT_ONCE, WAITING } from './owed.ts'
import type { PayoutSums, StatedOrder, Totals } from './statement/statement.ts'

// Which entries a payout is made of. The payout keeps its cutoff and the holding period of its day, so its statement is the same for
// ever, also when the operator changes the holding period later.
// - An entry belongs to the first payout at whose cutoff it was due.
// - The difference between these entries and the payout is carried over: from earlier payouts, or to the next one.

/** When an entry is due, by the rules of owed.ts. */
const dueAt = (hold: RawBuilder<unknown>) => sql`
  case when e.kind = any(${AT_ONCE}::text[]) then e.created_at
    when e.kind = any(${WAITING}::text[]) then e.created_at + make_interval(days => ${hold})
    else greatest(e.created_at, e.sold_at + make_interval(days => ${hold})) end`

/** `entries`: those in this payout (`is_before` false), and those in the payouts before it. */
const entriesOf = (payoutId: string) => {
  const side = (column: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    select t.order_id, t.cause, t.kind, t.created_at, ${sign} t.amount_minor as minor, s.created_at as sold_at
    from this join transfers t on ${column} = 'seller:' || this.seller_id and t.currency = this.currency
      and t.created_at <= this.cutoff_at and t.kind <> 'payout'
    left join transfers s on s.order_id = t.order_id and s.kind = 'sale' and t.kind <> all(${[...WAITING, ...AT_ONCE]}::text[])`
  return sql`
    this as (select * from payouts where id = ${payoutId}),
    earlier as (
      select q.* from this join payouts q on q.seller_id = this.seller_id and q.currency = this.currency
        and (q.created_at, q.id) < (this.created_at, this.id)),
    -- of payouts with one holding period, the latest cutoff has everything that the others have
    rules as (select hold_days, max(cutoff_at) as cutoff_at from earlier group by hold_days),
    entries as materialized (
      select e.*, exists (select from rules where ${dueAt(sql`rules.hold_days`)} <= rules.cutoff_at) as is_before
      from (${side(sql`t.credit_account`, sql`+`)} union all ${side(sql`t.debit_account`, sql`-`)}) e cross join this
      where ${dueAt(sql`this.hold_days`)} <= this.cutoff_at
        or exists (select from rules where ${dueAt(sql`rules.hold_days`)} <= rules.cutoff_at))`
}

const PARTS = sql`
  -- of a sale, only what the processor has not passed on to the seller itself is in a payout
  coalesce(sum(e.minor) filter (where e.kind in ('sale', 'passed_on', 'passed_back')), 0)::bigint as "saleMinor",
  coalesce(sum(e.minor) filter (where e.kind in ('fee', 'fee_refund', 'fee_again')), 0)::bigint as "feeMinor",
  coalesce(sum(e.minor) filter (where e.kind in ('refund', 'refund_failed')), 0)::bigint as "refundMinor",
  coalesce(sum(e.minor) filter (where e.kind in (
    'dispute_hold', 'dispute_release', 'dispute_return', 'held_loss', 'held_loss_back')), 0)::bigint as "disputeMinor",
  coalesce(sum(e.minor), 0)::bigint as "netMinor"`

/** The parts of a payout, in sums: carried + net of the orders + others = amount + left. */
export async function sumsOf(db: Db, payoutId: string): Promise<PayoutSums> {
  const { rows } = await sql<
    Totals & { from: Date | null; carriedMinor: number; amountMinor: number; orderCount: number; others: Other[] }
  >`
    with ${entriesOf(payoutId)}
    select (select max(cutoff_at) from earlier) as "from", (select amount_minor from this) as "amountMinor",
      ((select coalesce(sum(minor), 0) from entries where is_before)
        - (select coalesce(sum(amount_minor), 0) from earlier))::bigint as "carriedMinor",
      count(distinct e.order_id)::int as "orderCount", ${PARTS},
      (select coalesce(jsonb_agg(jsonb_build_object('kind', o.kind, 'cause', o.cause, 'at', o.created_at, 'minor', o.minor,
          'why', coalesce(a.reason, p.failure)) order by o.created_at, o.cause), '[]')
        from entries o left join adjustments a on o.kind = 'adjustment' and a.id = o.cause
          left join payouts p on o.kind <> 'adjustment' and p.id = o.cause
        where not o.is_before and o.order_id is null) as others
    from (select * from entries where not is_before and order_id is not null) e`.execute(db)
  const { from, amountMinor, others, ...sums } = rows[0]!
  const otherMinor = others.reduce((sum, { minor }) => sum + minor, 0)
  return {
    ...sums,
    from: from ?? undefined,
    leftMinor: sums.carriedMinor + sums.netMinor + otherMinor - amountMinor,
    others: others.map(({ at, minor, ...other }) => ({ at: new Date(at), what: whatOf(other), amountMinor: minor })),
  }
}

interface Other {
  kind: 'adjustment' | 'payout_failed' | 'payout_reversed'
  cause: string
  at: string
  minor: number
  why: string | null
}

function whatOf({ kind, cause, why }: Pick<Other, 'kind' | 'cause' | 'why'>): string {
  const name = {
    adjustment: 'Adjustment',
    payout_failed: `Payout …${cause.slice(-6)} failed`,
    payout_reversed: `Payout …${cause.slice(-6)} came back`,
  }[kind]
  return why ? `${name}: ${why}` : name
}

export type OrderOfPayout = StatedOrder & { id: string }

/** The orders of a payout by their ids, and so in the order in which they were made, from `after` on. */
export async function ordersOf(
  db: Db,
  payoutId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<OrderOfPayout[]> {
  const { rows } = await sql<OrderOfPayout>`
    with ${entriesOf(payoutId)}, sums as (
      select e.order_id as id, ${PARTS} from entries e
      where not e.is_before and e.order_id > ${after ?? ''} group by e.order_id order by e.order_id limit ${limit})
    select sums.*, sums.id as "orderId", o.product_name as product, coalesce(s.created_at, o.created_at) as "soldAt"
    from sums join orders o on o.id = sums.id left join transfers s on s.order_id = o.id and s.kind = 'sale'
    order by sums.id`.execute(db)
  return rows
}
