import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import { genericPlan, literal } from '../kit/plans.ts'
import { sellerAccount } from '../ledger/transfers.ts'
import { refundsUnderWay } from './refunds-under-way.ts'

// No table stores the amount owed to a seller. It is summed from the ledger each time. An entry is pending until it is due:
// - an entry of an order: when the holding period after the order's sale has ended. So a refund of a pending sale is pending with it.
// - money that comes back of a dispute: after a holding period of its own, because a bank can open a dispute again;
// - a payout, and an adjustment by the operator: at once.
// No entry waits longer than one holding period from its own moment. So only the entries of the last days are looked at one by one.

/** Entries whose moment alone says when they are due: sales, fees and returned money wait, and the rest counts at once. */
export const WAITING = ['sale', 'fee', 'dispute_release', 'dispute_return', 'held_loss_back']
export const AT_ONCE = ['payout', 'payout_failed', 'payout_reversed', 'adjustment']
const OWN_TIME = [...WAITING, ...AT_ONCE]

/** All sellers, or these. */
export type Whose = 'all' | readonly string[]

/**
 * The entries of sellers' accounts, summed by `account, currency, kind, pending_on` as `minor`. `pending_on` is the day (UTC) on which
 * they become due, and null for entries that are due now. All but the latest refunds and disputes are read from an index alone.
 */
function owedEntries(whose: Whose, holdDays: number): RawBuilder<unknown> {
  const hold = sql`make_interval(days => ${literal(holdDays)})`
  const side = (column: RawBuilder<unknown>, sign: RawBuilder<unknown>) => {
    const ofSeller = accounts(column, whose)
    const own = sql`((t.created_at + ${hold}) at time zone 'UTC')::date`
    const ofSale = sql`case when s.created_at > now() - ${hold} then ((s.created_at + ${hold}) at time zone 'UTC')::date end`
    // most entries are older than the holding period, so their statement does nothing but add up
    return sql`
      select ${column} as account, t.currency, t.kind, null::date as pending_on, ${sign} sum(t.amount_minor) as minor
      from transfers t where ${ofSeller} and t.created_at <= now() - ${hold} group by 1, 2, 3
      union all
      select ${column}, t.currency, t.kind, case when t.kind in ${literal(WAITING)} then ${own} end, ${sign} sum(t.amount_minor)
      from transfers t
      where ${ofSeller} and t.created_at > now() - ${hold} and t.kind in ${literal(OWN_TIME)} group by 1, 2, 3, 4
      union all
      select ${column}, t.currency, t.kind, ${ofSale}, ${sign} sum(t.amount_minor)
      from transfers t left join transfers s on s.order_id = t.order_id and s.kind = 'sale'
      where ${ofSeller} and t.created_at > now() - ${hold} and t.kind not in ${literal(OWN_TIME)} group by 1, 2, 3, 4`
  }
  return sql`${side(sql`t.credit_account`, sql`+`)} union all ${side(sql`t.debit_account`, sql`-`)}`
}

function accounts(column: RawBuilder<unknown>, whose: Whose): RawBuilder<unknown> {
  // in the order of bytes, ";" follows ":"
  if (whose === 'all') return sql`${column} >= 'seller:' and ${column} < 'seller;'`
  // with one account, PostgreSQL reads its entries in the order of the index
  const [only, ...others] = whose.map(sellerAccount)
  if (only !== undefined && others.length === 0) return sql`${column} = ${genericPlan(only, 'text')}`
  return sql`${column} = any(${whose.map(sellerAccount)}::text[])`
}

/**
 * The money owed: a row of `seller_id, currency, balance, available, payable` for each seller and currency with entries. `payable` is
 * never more than the balance, because a pending refund can be larger than the pending sales, and refunds under way are left out of it.
 * It is negative where more has gone out than is due, also where pending sales keep the balance above zero. The seller owes only a
 * negative balance.
 */
export const owedTo = (whose: Whose, holdDays: number): RawBuilder<unknown> => sql`
  select o.seller_id, o.currency, o.balance, o.available,
    case when least(o.balance, o.available) <= 0 then least(o.balance, o.available)
      else greatest(0, least(o.balance - coalesce(u.minor, 0), o.available - coalesce(u.now_minor, 0))) end::bigint as payable
  from (
    select substr(account, 8) as seller_id, currency, sum(minor)::bigint as balance,
      coalesce(sum(minor) filter (where pending_on is null), 0)::bigint as available
    from (${owedEntries(whose, holdDays)}) as e group by 1, 2) o
  left join (
    select seller_id, currency, sum(minor) as minor, sum(minor) filter (where pending_on is null) as now_minor
    from (${refundsUnderWay(whose, holdDays)}) as w group by 1, 2) u on u.seller_id = o.seller_id and u.currency = o.currency`

export interface Owed {
  currency: string
  /** Minor units; negative where the seller owes. The sum of `available`, `pending` and `refunding`. */
  balance: number
  available: number
  pending: number
  /** Refunds that are requested and not booked yet will take this. */
  refunding: number
  /** By the day (UTC) on which the money becomes available, the first one first. */
  pendingBy: { on: string; amount: number }[]
  /** Payouts that are approved or sent, and not yet confirmed. They have left the balance. */
  onTheWay: number
  /** The entries' sums by kind. */
  byKind: Record<string, number>
}

/** The money owed to a seller, by currency. */
export async function owedOf(db: Db | Tx, sellerId: string, holdDays: number): Promise<Owed[]> {
  const { rows } = await sql<Owed>`
    with entries as materialized (
      select currency, kind, pending_on, sum(minor) as minor from (${owedEntries([sellerId], holdDays)}) as e group by 1, 2, 3),
    refunds_under_way as materialized (select currency, pending_on, minor from (${refundsUnderWay([sellerId], holdDays)}) as w),
    parts as (
      select currency, pending_on, minor from entries
      union all select currency, pending_on, -minor from refunds_under_way),
    days as (
      select currency, pending_on, sum(minor) as minor from parts where pending_on is not null group by 1, 2 having sum(minor) <> 0),
    kinds as (select currency, kind, sum(minor) as minor from entries group by 1, 2)
    select c.currency, c.balance::bigint, p.available::bigint, p.pending::bigint, (c.balance - p.available - p.pending)::bigint as refunding,
      (select coalesce(jsonb_agg(jsonb_build_object('on', d.pending_on, 'amount', d.minor) order by d.pending_on), '[]')
        from days d where d.currency = c.currency) as "pendingBy",
      (select coalesce(sum(p.amount_minor), 0)::bigint from payouts p
        where p.seller_id = ${sellerId} and p.currency = c.currency and p.state in ('approved', 'sent')) as "onTheWay",
      (select jsonb_object_agg(k.kind, k.minor) from kinds k where k.currency = c.currency) as "byKind"
    from (select currency, sum(minor) as balance from entries group by currency) c
    cross join lateral (
      select coalesce(sum(minor) filter (where pending_on is null), 0) as available,
        coalesce(sum(minor) filter (where pending_on is not null), 0) as pending
      from parts where parts.currency = c.currency) p
    order by c.currency`.execute(db)
  return rows
}
