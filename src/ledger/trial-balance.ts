import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { ODD_ADJUSTMENTS, ODD_FILES, ODD_PAYOUTS } from './payout-entries.ts'

/** Two sources that should agree and do not. It holds ids and amounts, and no personal data. */
export interface Difference {
  what: string
  id: string
  orderId?: string | null
  currency?: string | null
  /** Minor units. Null: there should be nothing, or nothing was found. */
  expectedMinor?: number | null
  foundMinor?: number | null
}

/** The most differences of one kind. More than these have one common cause, so a longer list would not help. */
const MOST_LISTED = 1000

/**
 * Checks the books against themselves. It only reads, and covers all of them in a few statements. Balances by the indexes must equal
 * balances by the table. Every entry must go between the accounts of its kind and belong to an order, a payout or an adjustment. The
 * entries of an order must add up to its amount, its fee, its refunds and its state, and those of a payout to its amount and state.
 * Bank files must hold the payouts that are noted for them.
 */
export async function trialBalance(tx: Tx): Promise<Difference[]> {
  const found = await checkAccounts(tx)
  for (const statement of [ODD_ENTRIES, ODD_ORDERS, ODD_PAYOUTS, ODD_ADJUSTMENTS, ODD_FILES])
    found.push(...(await differences(tx, statement)))
  return found
}

/** Runs a statement that finds differences, each a row of `what, id, order_id, currency, expected, found`. */
export async function differences(tx: Tx, statement: RawBuilder<unknown>): Promise<Difference[]> {
  const { rows } = await sql<Difference>`
    select what, id, order_id as "orderId", currency, expected::bigint as "expectedMinor", found::bigint as "foundMinor"
    from (${statement}) as d(what, id, order_id, currency, expected, found) order by what, id limit ${MOST_LISTED}`.execute(
    tx,
  )
  return rows
}

const NEVER_NEGATIVE: ReadonlySet<string> = new Set(['fees', 'held', 'disputed', 'payouts'])

/**
 * Suspended money in open disputes. The money may have gone back to the buyer before the dispute. Then the suspense account may be
 * below zero, by this amount and no more, until the bank has decided.
 */
const HELD_DISPUTED = sql`
  select h.order_id, h.currency, h.amount_minor - (
    select coalesce(sum(e.amount_minor), 0) from transfers e
    where e.cause = h.cause and e.kind in ('dispute_release', 'dispute_loss')) as minor
  from transfers h where h.kind = 'dispute_hold' and h.debit_account = 'held'`

/**
 * A balance is never stored. An index sums it up. So a balance can be wrong only if an index differs from its table, and this
 * compares the two.
 */
async function checkAccounts(tx: Tx): Promise<Difference[]> {
  const byTable = await accountSums(tx, { indexes: false })
  const byIndex = await accountSums(tx, { indexes: true })
  const { rows: heldDisputed } = await sql<{ currency: string; minor: string }>`
    select currency, sum(minor)::text as minor from (${HELD_DISPUTED}) as d group by 1`.execute(tx)
  const least = new Map(heldDisputed.map(({ currency, minor }) => [`held ${currency}`, -BigInt(minor)]))
  const found: Difference[] = []
  const totals = new Map<string, bigint>()
  for (const key of new Set([...byTable.keys(), ...byIndex.keys()])) {
    const [id = '', currency = ''] = key.split(' ')
    const [expected, held] = [byTable.get(key) ?? 0n, byIndex.get(key) ?? 0n]
    const difference = { id, currency, expectedMinor: Number(expected), foundMinor: Number(held) }
    if (expected !== held) found.push({ what: 'balance_differs', ...difference })
    if (held < (least.get(key) ?? 0n) && (NEVER_NEGATIVE.has(id) || id.startsWith('tax:')))
      found.push({ what: 'balance_below_zero', ...difference, expectedMinor: 0 })
    totals.set(currency, (totals.get(currency) ?? 0n) + held)
  }
  for (const [currency, total] of totals)
    if (total !== 0n)
      found.push({ what: 'books_not_zero', id: 'all accounts', currency, expectedMinor: 0, foundMinor: Number(total) })
  return found
}

async function accountSums(tx: Tx, { indexes }: { indexes: boolean }): Promise<Map<string, bigint>> {
  const on = (yes: boolean) => (yes ? 'on' : 'off')
  await sql`
    select set_config('enable_seqscan', ${on(!indexes)}, true), set_config('enable_indexscan', ${on(indexes)}, true),
      set_config('enable_indexonlyscan', ${on(indexes)}, true), set_config('enable_bitmapscan', ${on(indexes)}, true)`.execute(
    tx,
  )
  const { rows } = await sql<{ account: string; minor: string }>`
    select account || ' ' || currency as account, sum(minor)::text as minor from (
      select credit_account as account, currency, sum(amount_minor) as minor from transfers group by 1, 2
      union all
      select debit_account, currency, -sum(amount_minor) from transfers group by 1, 2) as sides
    group by 1`.execute(tx)
  await sql`
    select set_config(name, 'on', true) from unnest(
      array['enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan']) as name`.execute(tx)
  return new Map(rows.map(({ account, minor }) => [account, BigInt(minor)]))
}

/** Entries without an order, between the wrong accounts for their kind, or in another currency than their order. */
const ODD_ENTRIES = sql`
  select case when o.id is null then 'transfer_without_order' when not right_accounts then 'wrong_accounts' else 'wrong_currency' end,
    t.kind || ' ' || t.cause, t.order_id, t.currency, null::bigint, t.amount_minor
  from transfers t left join orders o on o.id = t.order_id
  cross join lateral (select 'processor:' || split_part(t.cause, ':', 1) as processor,
    -- where the processor's name has an account, the money lies there and is the seller's
    case when split_part(t.cause, ':', 1) like '%@%' then 'direct:' else 'seller:' end || o.seller_id as seller) as a
  cross join lateral (select case t.kind
    when 'sale' then t.debit_account = a.processor and t.credit_account = a.seller
    when 'refund_failed' then t.debit_account = a.processor and t.credit_account = a.seller
    when 'refund' then t.debit_account = a.seller and t.credit_account = a.processor
    when 'fee' then t.debit_account = a.seller and t.credit_account = 'fees'
    when 'fee_again' then t.debit_account = a.seller and t.credit_account = 'fees'
    when 'fee_refund' then t.debit_account = 'fees' and t.credit_account = a.seller
    when 'held' then t.debit_account = a.processor and t.credit_account = 'held'
    when 'return_failed' then t.debit_account = a.processor and t.credit_account = 'held'
    when 'returned' then t.debit_account = 'held' and t.credit_account = a.processor
    when 'dispute_hold' then t.debit_account in (a.seller, 'held') and t.credit_account = 'disputed'
    when 'dispute_release' then t.debit_account = 'disputed' and t.credit_account in (a.seller, 'held')
    when 'dispute_loss' then t.debit_account = 'disputed' and t.credit_account = a.processor
    when 'dispute_return' then t.debit_account = a.processor and t.credit_account in (a.seller, 'held')
    when 'held_loss' then t.debit_account = a.seller and t.credit_account = 'held'
    when 'held_loss_back' then t.debit_account = 'held' and t.credit_account = a.seller
    when 'tax' then t.debit_account = 'tax-owed:' || o.seller_id and t.credit_account = 'tax:' || o.seller_id
    when 'tax_again' then t.debit_account = 'tax-owed:' || o.seller_id and t.credit_account = 'tax:' || o.seller_id
    when 'tax_refund' then t.debit_account = 'tax:' || o.seller_id and t.credit_account = 'tax-owed:' || o.seller_id
    when 'passed_on' then t.debit_account = a.seller and t.credit_account = 'direct:' || o.seller_id
    when 'passed_back' then t.debit_account = 'direct:' || o.seller_id and t.credit_account = a.seller
    else false end as right_accounts) as r
  where t.order_id is not null and (o.id is null or not right_accounts
    or (t.currency <> o.currency and t.kind in (
      'sale', 'fee', 'refund', 'refund_failed', 'fee_refund', 'fee_again', 'tax', 'tax_refund', 'tax_again')))`

/**
 * Compares the sums of an order's entries with the order. The returned fee and the returned tax must be the share of the returned money
 * (refunds and lost disputes), rounded half to even as in kit/money.ts.
 */
const ODD_ORDERS = sql`
  with booked as (
    select order_id,
      coalesce(sum(amount_minor) filter (where kind = 'sale'), 0) as sale,
      coalesce(sum(amount_minor) filter (where kind = 'fee'), 0) as fee,
      coalesce(sum(case kind when 'refund' then amount_minor when 'refund_failed' then -amount_minor end), 0) as refunded,
      coalesce(sum(case kind when 'fee_refund' then amount_minor when 'fee_again' then -amount_minor end), 0) as fee_back,
      coalesce(sum(amount_minor) filter (where kind = 'tax'), 0) as tax,
      coalesce(sum(case kind when 'tax_refund' then amount_minor when 'tax_again' then -amount_minor end), 0) as tax_back,
      coalesce(sum(case kind when 'passed_on' then amount_minor when 'passed_back' then -amount_minor end), 0) as passed,
      sum(case when credit_account = 'held' then amount_minor when debit_account = 'held' then -amount_minor else 0 end) as held,
      sum(case when credit_account = 'disputed' then amount_minor when debit_account = 'disputed' then -amount_minor else 0 end) as disputed
    from transfers where order_id is not null group by order_id),
  held_disputed as (select order_id, sum(minor) as minor from (${HELD_DISPUTED}) as d group by 1),
  lost as (
    select l.order_id, sum(case l.kind when 'dispute_loss' then l.amount_minor else -l.amount_minor end) as minor
    from transfers l left join transfers h on h.kind = 'dispute_hold' and h.cause = l.cause
    where (l.kind = 'dispute_loss' and h.debit_account <> 'held') or (l.kind = 'dispute_return' and l.credit_account <> 'held')
    group by l.order_id),
  sums as (
    select o.id, o.state, o.currency, o.amount_minor, o.fee_minor, o.refunded_minor, o.paid_at is not null as paid,
      coalesce(o.tax_minor, 0) as tax_minor, coalesce(b.tax, 0) as tax, coalesce(b.tax_back, 0) as tax_back, coalesce(b.sale, 0) as sale, coalesce(b.fee, 0) as fee, coalesce(b.refunded, 0) as refunded, coalesce(b.fee_back, 0) as fee_back,
      coalesce(b.held, 0) + coalesce(d.minor, 0) as held, coalesce(b.disputed, 0) as disputed, coalesce(l.minor, 0) as lost, coalesce(b.passed, 0) as passed,
      least(greatest(coalesce(b.refunded, 0) + coalesce(l.minor, 0), 0), o.amount_minor)::bigint as returned
    from orders o left join booked b on b.order_id = o.id left join lost l on l.order_id = o.id
      left join held_disputed d on d.order_id = o.id
    -- most orders are unpaid or free, and have no entries
    where (o.paid_at is not null and o.amount_minor > 0) or b.order_id is not null)
  select v.what, s.id, s.id, s.currency, v.expected, v.found from sums s
  -- a free order must have no entries; if it has some, this must report them and not divide by zero
  cross join lateral (select case when s.amount_minor = 0 then 0 else share_of(s.fee::bigint, s.returned, s.amount_minor) end as fee_back,
    case when s.amount_minor = 0 then 0 else share_of(s.tax::bigint, s.returned, s.amount_minor) end as tax_back) as due
  cross join lateral (values
    ('sale_differs', case when s.paid then s.amount_minor else 0 end, s.sale),
    ('fee_differs', case when s.paid then s.fee_minor else 0 end, s.fee),
    ('refunded_differs', s.refunded_minor, s.refunded),
    ('fee_returned_differs', due.fee_back, s.fee_back),
    ('fee_below_zero', 0, least(s.fee - s.fee_back, 0)),
    ('tax_differs', case when s.paid then s.tax_minor else 0 end, s.tax),
    ('tax_returned_differs', due.tax_back, s.tax_back),
    ('held_below_zero', 0, least(s.held, 0)),
    ('passed_below_zero', 0, least(s.passed, 0)),
    ('disputed_below_zero', 0, least(s.disputed, 0)),
    ('state_differs', case s.state when 'refunded' then s.amount_minor else s.refunded end, s.refunded),
    ('state_differs', case when s.state = 'paid' then 0 else s.refunded + s.lost end, s.refunded + s.lost),
    ('state_differs', case when s.state = 'partially_refunded' and s.refunded + s.lost not between 1 and s.amount_minor - 1 then 1 else s.refunded + s.lost end, s.refunded + s.lost),
    ('state_differs', case when s.state = 'disputed' and s.disputed <= 0 then s.amount_minor else s.disputed end, s.disputed),
    ('state_differs', case when s.state = 'charged_back' and s.lost <= 0 then s.amount_minor else s.lost end, s.lost),
    ('state_differs', case when s.state = 'charged_back' then greatest(s.amount_minor, s.refunded + s.lost) else 0 end,
      case when s.state = 'charged_back' then s.refunded + s.lost else 0 end)
  ) as v(what, expected, found)
  where v.expected <> v.found`
