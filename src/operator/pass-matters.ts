import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { formatMoney } from '../kit/money.ts'
import { LOOK_DAYS } from '../payments/refunds/take-back.ts'
import { refundsUnderWay } from '../payouts/refunds-under-way.ts'
import type { Matter } from './matter.ts'

// Where the processor passes money on to sellers' accounts: the money that has not got there, or has not come back.

const MOST_SHOWN = 20
/**
 * The processor passes money on, and takes it back, within minutes. They count from the last change of the two sums, and not from the
 * sale: a refund or a lost dispute can come months after it.
 */
const PASS_HOURS = 6

/** Refunds and lost disputes whose part has not come back from the seller's account for hours. */
export async function notTakenBack(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ orderId: string; minor: number; currency: string; at: Date; isTried: boolean }>`
    select a.order_id as "orderId", a.passed_minor - a.due_minor as minor, o.currency, a.changed_at as at,
      a.changed_at > now() - make_interval(days => ${LOOK_DAYS}) as "isTried"
    from passes a join orders o on o.id = a.order_id
    where a.due_minor < a.passed_minor and a.changed_at < now() - make_interval(hours => ${PASS_HOURS})
    order by a.changed_at desc limit ${MOST_SHOWN}`.execute(db) // oxfmt-ignore
  return rows.map(({ orderId, minor, currency, at, isTried }) => ({
    what: 'not_taken_back',
    says: `${formatMoney(minor, currency)} of a refund or a lost dispute could not be taken back from the seller’s account.`,
    advice: isTried
      ? 'The service tries again each day. The seller owes it: the next sales make up for it, or settle it with the seller.'
      : `The service has tried for ${LOOK_DAYS} days and does not try any more. The seller owes it: settle it with the seller.`,
    view: `/orders/${orderId}`,
    at,
  }))
}

interface NotPassedOn {
  orderId: string
  /** The seller's account with which the order was made. */
  account: string
  /** It is the seller's account still. */
  isPresent: boolean
  minor: number
  /** So much of it is in the seller's balance still. */
  leftMinor: number
  currency: string
  at: Date
  failure: string | null
  isMissing: boolean
}

/**
 * Sales whose money has not gone on to the seller's account for hours, while the seller's balance has it. A balance does not say of which
 * sales it is. Runs pay the oldest sales first, so it counts as money of the newest ones: together these are never more than the balance,
 * and the operator can make the transfers of all of them. The money of refunds under way is the buyers'.
 */
export async function notPassedOn(db: Db): Promise<Matter[]> {
  const { rows } = await sql<NotPassedOn>`
    with refunding as materialized (select order_id, seller_id, currency, minor from (${refundsUnderWay('all', 0)}) as w),
    missing as materialized (
      select a.order_id, a.created_at, a.changed_at, o.seller_id, o.currency, o.connected_account,
        a.due_minor - a.passed_minor - coalesce(w.minor, 0) as minor
      from passes a join orders o on o.id = a.order_id left join refunding w on w.order_id = a.order_id
      where a.due_minor > a.passed_minor),
    balances as (
      select s.seller_id, s.currency,
        (select coalesce(sum(amount_minor), 0) from transfers where credit_account = 'seller:' || s.seller_id and currency = s.currency)
        - (select coalesce(sum(amount_minor), 0) from transfers where debit_account = 'seller:' || s.seller_id and currency = s.currency)
        - (select coalesce(sum(minor), 0) from refunding w where w.seller_id = s.seller_id and w.currency = s.currency) as minor
      from (select distinct seller_id, currency from missing) s),
    shared as (
      select m.*, least(m.minor, b.minor - coalesce(sum(m.minor) over (
        partition by seller_id, currency order by m.created_at desc, m.order_id desc
        rows between unbounded preceding and 1 preceding), 0)) as left_minor
      from missing m join balances b using (seller_id, currency))
    select a.order_id as "orderId", split_part(a.connected_account, '@', 2) as account,
      exists (select from connected_accounts c where c.seller_id = a.seller_id and c.ended_at is null
        and a.connected_account = c.processor || '@' || c.account) as "isPresent",
      a.minor::bigint, a.left_minor::bigint as "leftMinor", a.currency, a.changed_at as at,
      (select t.failure from processor_transfers t where t.order_id = a.order_id and t.failure is not null
        order by t.made_at desc limit 1) as failure,
      not exists (select from processor_transfers t where t.order_id = a.order_id) as "isMissing"
    from shared a
    where a.left_minor > 0 and a.changed_at < now() - make_interval(hours => ${PASS_HOURS})
      -- what a refund under way has taken back is the buyer's
      and not exists (select from refunds r where r.order_id = a.order_id and r.state = 'requested')
    order by a.changed_at limit ${MOST_SHOWN}`.execute(db) // oxfmt-ignore
  return rows.map((pass) => {
    const why = pass.failure ? `failed (${pass.failure})` : pass.isMissing ? 'was never made' : 'is not done'
    return {
      what: 'not_passed_on',
      says: `${formatMoney(pass.minor, pass.currency)} of a sale has not reached the seller’s account: the transfer ${why}.`,
      advice: adviceFor(pass),
      view: `/orders/${pass.orderId}`,
      at: pass.at,
    }
  })
}

/** A transfer to an account that is not the order's is never booked, so the balance would keep the money and a run would pay it again. */
function adviceFor({ account, isPresent, minor, leftMinor, currency }: NotPassedOn): string {
  if (leftMinor < minor)
    return `Pay it with a run, and do not make the transfer: the seller’s balance has only ${formatMoney(leftMinor, currency)} of it. A run has paid the rest, or it made up for what the seller owed.`
  if (!isPresent)
    return `Pay it with a run: it is in the seller’s balance. Do not transfer it to another account of the seller: the order belongs to ${account}, which has ended, so the service would not count that transfer, and a run would pay the money again.`
  return `Make the transfer to ${account} in the dashboard of Razorpay, under Route, or pay it with a run. Until then it is in the seller’s balance.`
}
