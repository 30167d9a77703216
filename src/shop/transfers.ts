import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import type { Period } from '../kit/period.ts'
import { directAccount, sellerAccount } from '../ledger/transfers.ts'
import type { Transfer } from './schema.ts'

export interface TransferFilter extends Period {
  currency?: string | undefined
  orderId?: string | undefined
}

export interface TransferRow {
  id: string
  kind: Transfer['kind']
  /** Null for payouts and adjustments. */
  orderId: string | null
  payoutId: string | null
  amountMinor: number
  currency: string
  createdAt: Date
  /** The account's balance in this currency after all transfers of the order, or of the payout, at this moment. */
  balanceMinor?: number | null | undefined
  /** The money lies at the seller's connected account, and is in no balance here. */
  isDirect: boolean
}

/** The owner of a transfer: its order, or the payout or adjustment that caused it. */
const OWNER = sql<string>`coalesce(t.order_id, t.cause)`

/** A transfer is stored under its cause, which names a payment of the processor. Sellers see this id in its place. It begins with the
 * order's id (or the payout's), so that the transfers of an order stay together. */
const ID = sql<string>`
  'trf_' || right(${OWNER}, 26) || left(encode(sha256(convert_to(t.kind || ' ' || t.cause, 'UTF8')), 'hex'), 12)`
export const TRANSFER_ID = '^trf_[0-9a-hjkmnp-tv-z]{26}[0-9a-f]{12}$'

/** Transfers of one order and one moment are listed in the order of booking: a sale before its fee. */
const BOOKED = sql<number>`array_position(array['sale', 'fee', 'refund', 'fee_refund', 'refund_failed', 'fee_again',
  'dispute_hold', 'dispute_release', 'dispute_return', 'held_loss', 'held_loss_back', 'passed_on', 'passed_back', 'payout', 'payout_failed', 'payout_reversed', 'adjustment']::text[], t.kind::text)`

/** These move money between the seller's two accounts. They are listed once, where they change the balance. */
export const BETWEEN_OWN = ['passed_on', 'passed_back']
const isListed = (account: string) =>
  account.startsWith('direct:') ? sql`t.kind <> all(${BETWEEN_OWN}::text[])` : sql`true`

interface Range {
  after?: string | undefined
  limit: number
}

/**
 * The transfers of a seller, newest moment first, from `after` on: of money owed here, and of money at the seller's connected account
 * at the processor. `withBalance` adds the amount owed after each moment. It needs all transfers, so it does not work with a filter by
 * order.
 */
export async function listTransfers(
  db: Db,
  sellerId: string,
  filter: TransferFilter,
  range: Range & { withBalance?: boolean },
): Promise<TransferRow[]> {
  const [account, direct] = [sellerAccount(sellerId), directAccount(sellerId)]
  const of = filter.orderId ? ofOrder : ofAccount
  const entries = sql`${of(account, filter, range)} union all ${of(direct, filter, range)}`
  const page = sql`select t.* from (${entries}) t order by ${IN_ORDER} limit ${range.limit}`
  const columns = sql`
    t.id, t.kind, t.order_id as "orderId", case when t.owner ^@ 'po_' then t.owner end as "payoutId", t.amount_minor as "amountMinor", t.currency, t.created_at as "createdAt",
    t.account = ${direct} as "isDirect"`
  const { rows } = range.withBalance
    ? await sql<TransferRow>`
      with page as materialized (${page}), ${balances(account)}
      select ${columns}, b.balance as "balanceMinor"
      from page t left join balances b on t.account = ${account} and b.currency = t.currency and b.created_at = t.created_at and b.owner = t.owner
      order by ${IN_ORDER}`.execute(db)
    : await sql<TransferRow>`select ${columns} from (${page}) t order by ${IN_ORDER}`.execute(db)
  return rows
}

const IN_ORDER = sql`t.created_at desc, t.owner desc, t.booked, t.id`

/**
 * The account's balance after each moment of the page. The balance after the newest moment of a currency is summed once from the indexes.
 * For earlier moments the sum of the newer ones is subtracted from it.
 */
const balances = (account: string) => {
  const upTo = (column: RawBuilder<unknown>) => sql`
    (select coalesce(sum(t.amount_minor), 0) from transfers t
      where ${column} = ${account} and t.currency = m.currency and t.created_at < m.created_at)
    + (select coalesce(sum(t.amount_minor), 0) from transfers t
      where ${column} = ${account} and t.currency = m.currency and t.created_at = m.created_at and ${OWNER} <= m.owner)`
  const ofMoment = (column: RawBuilder<unknown>) => sql`
    (select coalesce(sum(t.amount_minor), 0) from transfers t
      where ${column} = ${account} and t.currency = m.currency and t.created_at = m.created_at and ${OWNER} = m.owner)`
  return sql`
    moments as (
      select m.*, ${ofMoment(sql`t.credit_account`)} - ${ofMoment(sql`t.debit_account`)} as minor
      from (select distinct currency, created_at, owner from page where account = ${account}) m),
    newest as materialized (
      select m.currency, ${upTo(sql`t.credit_account`)} - (${upTo(sql`t.debit_account`)}) as balance
      from (select distinct on (currency) * from moments order by currency, created_at desc, owner desc) m),
    balances as (
      select m.currency, m.created_at, m.owner, (n.balance - coalesce(sum(m.minor) over newer, 0))::bigint as balance
      from moments m join newest n on n.currency = m.currency
      window newer as (partition by m.currency order by m.created_at desc, m.owner desc
        rows between unbounded preceding and 1 preceding))`
}

/** Finds an order's few transfers by the order. */
const ofOrder = (account: string, filter: TransferFilter, { after }: Range) => sql`
  select ${account}::text as account, ${ID} as id, ${BOOKED} as booked, ${OWNER} as owner, t.kind, t.order_id, case when t.credit_account = ${account} then t.amount_minor else -t.amount_minor end as amount_minor,
    t.currency, t.created_at
  from transfers t
  where t.order_id = ${filter.orderId} and ${account} in (t.credit_account, t.debit_account) and ${isListed(account)}
    ${filter.currency ? sql`and t.currency = ${filter.currency}` : sql``} and ${within(filter, after)}`

/**
 * Reads the newest transfers of each currency and of each side of the account from an index. A seller has few currencies, and this way a
 * rare one is found as fast as the others. No transfer is on both sides of an account, and no currency has debits without an earlier
 * credit.
 */
function ofAccount(account: string, filter: TransferFilter, { after, limit }: Range): RawBuilder<unknown> {
  const side = (column: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    (select ${account}::text as account, ${ID} as id, ${BOOKED} as booked, ${OWNER} as owner, t.kind, t.order_id, ${sign} t.amount_minor as amount_minor, t.currency, t.created_at
    from transfers t where ${column} = ${account} and t.currency = c.currency and ${isListed(account)} and ${within(filter, after)}
    order by t.created_at desc, owner desc, booked, id limit ${limit})`
  const currencies = filter.currency
    ? sql`(select ${filter.currency}::text collate "C" as currency)`
    : sql`(
      with recursive c as (
        select min(currency) as currency from transfers where credit_account = ${account}
        union all
        select (select min(t.currency) from transfers t where t.credit_account = ${account} and t.currency > c.currency)
        from c where c.currency is not null)
      select currency from c where currency is not null)`
  return sql`
    select e.* from ${currencies} c cross join lateral (
      ${side(sql`t.credit_account`, sql`+`)} union all ${side(sql`t.debit_account`, sql`-`)}) e`
}

function within({ from, to }: TransferFilter, after: string | undefined): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (from) conditions.push(sql`t.created_at >= ${from}`)
  if (to) conditions.push(sql`t.created_at < ${to}`)
  if (after) {
    const end = after.slice(4, 30)
    // the moment at which the last page ended, and the place within it
    const last = (of: RawBuilder<unknown>) => sql`(
      select ${of} from transfers t where ${ID} = ${after} and (t.order_id = ${`ord_${end}`}
        or (t.kind in ('payout', 'payout_failed', 'payout_reversed', 'adjustment') and t.cause in (${`po_${end}`}, ${`adj_${end}`}))))`
    const [at, owner] = [last(sql`t.created_at`), last(OWNER)]
    conditions.push(sql`t.created_at <= ${at} and (t.created_at < ${at} or ${OWNER} < ${owner}
      or (${OWNER} = ${owner} and (${BOOKED}, ${ID}) > (${last(BOOKED)}, ${after})))`)
  }
  return sql.join(conditions, sql` and `)
}

export const transferView = (row: TransferRow): Transfer => ({
  id: row.id,
  kind: row.kind,
  orderId: row.orderId,
  ...(row.payoutId !== null && { payoutId: row.payoutId }),
  amount: row.amountMinor,
  currency: row.currency,
  createdAt: row.createdAt.toISOString(),
  ...(typeof row.balanceMinor === 'number' && { balance: row.balanceMinor }),
  ...(row.isDirect && { isDirect: true }),
})
