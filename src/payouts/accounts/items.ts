import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import type { OrderOfPayout } from '../entries.ts'
import type { PayoutSums, Totals } from '../statement/statement.ts'

// The parts of a payout by the processor, in the form of the payouts of this service. Its fees are those of the processor and ours.

const PARTS = sql`
  coalesce(sum(i.amount_minor) filter (where i.kind = 'sale'), 0)::bigint as "saleMinor",
  coalesce(-sum(i.fee_minor), 0)::bigint as "feeMinor",
  coalesce(sum(i.amount_minor) filter (where i.kind = 'refund'), 0)::bigint as "refundMinor",
  coalesce(sum(i.amount_minor) filter (where i.kind in ('dispute', 'other')), 0)::bigint as "disputeMinor",
  coalesce(sum(i.amount_minor - i.fee_minor), 0)::bigint as "netMinor"`

/** The sums of a payout. Items without an order are summed by `what`: the account may have thousands of payments from elsewhere. */
export async function itemSums(
  db: Db,
  payout: { id: string; by: string; amountMinor: number; createdAt: Date },
): Promise<PayoutSums> {
  const { rows } = await sql<Totals & { orderCount: number; others: { what: string; at: string; minor: number }[] }>`
    select count(distinct i.order_id)::int as "orderCount", ${PARTS},
      (select coalesce(jsonb_agg(jsonb_build_object('what', o.what, 'at', o.at, 'minor', o.minor) order by o.what), '[]') from (
        select what, max(moved_at) as at, sum(amount_minor - fee_minor) as minor from processor_payout_items
        where payout_id = ${payout.id} and order_id is null group by what) o) as others
    from processor_payout_items i where i.payout_id = ${payout.id} and i.order_id is not null`.execute(db)
  const { others, ...sums } = rows[0]!
  const named = others.map(({ what, at, minor }) => ({ at: new Date(at), what: wordsOf(what), amountMinor: minor }))
  const known = sums.netMinor + named.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  const rest = payout.amountMinor - known
  return {
    ...sums,
    // the processor does not say where a payout begins
    from: undefined,
    carriedMinor: 0,
    leftMinor: 0,
    others: rest === 0 ? named : [...named, { at: payout.createdAt, what: `${payout.by === 'razorpay-route' ? 'Razorpay' : 'Stripe'} has not told what it is made of`, amountMinor: rest }], // oxfmt-ignore
  }
}

/** The orders of a payout by their ids, from `after` on. */
export async function itemOrders(
  db: Db,
  payoutId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<OrderOfPayout[]> {
  const { rows } = await sql<OrderOfPayout>`
    select o.id, o.id as "orderId", o.product_name as product, coalesce(o.paid_at, o.created_at) as "soldAt", ${PARTS}
    from processor_payout_items i join orders o on o.id = i.order_id
    where i.payout_id = ${payoutId} and i.order_id > ${after ?? ''}
    group by o.id order by o.id limit ${limit}`.execute(db)
  return rows
}

/** Stripe's names for the items of a payout (https://docs.stripe.com/reports/balance-transaction-types). */
const WORDS: Record<string, string> = {
  application_fee_refund: 'Fees that came back with refunds',
  charge: 'Payments from elsewhere',
  payment: 'Payments from elsewhere',
  refund: 'Refunds of payments from elsewhere',
  payment_refund: 'Refunds of payments from elsewhere',
  stripe_fee: 'Stripe’s own fees',
  adjustment: 'Adjustments by Stripe',
  payout_failure: 'Payouts that came back',
  payout_cancel: 'Payouts that were cancelled',
  // of Razorpay's settlements
  transfer: 'Transfers from elsewhere',
  taken_back: 'Refunds, and Razorpay’s fees',
}

const wordsOf = (what: string): string => WORDS[what] ?? `Stripe: ${what.replaceAll('_', ' ')}`
