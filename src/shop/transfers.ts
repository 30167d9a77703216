import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { type Place, microsOf, timeOf } from '../kit/keyset.ts'
import type { Period } from '../kit/period.ts'
import { sellerAccount } from '../ledger/transfers.ts'
import type { Transfer } from './schema.ts'

export interface TransferFilter extends Period {
  currency?: string | undefined
  orderId?: string | undefined
}

export interface TransferRow extends Place {
  kind: Transfer['kind']
  orderId: string
  amountMinor: number
  currency: string
  createdAt: Date
}

/** An entry has no id but what caused it, which names a processor's payment. Made from its order's, so that these stay together. */
const ID = sql<string>`
  'trf_' || substr(t.order_id, 5) || left(encode(sha256(convert_to(t.kind || ' ' || t.cause, 'UTF8')), 'hex'), 12)`
export const TRANSFER_ID = '^trf_[0-9a-hjkmnp-tv-z]{26}[0-9a-f]{12}$'

interface Range {
  after?: Place | undefined
  limit: number
}

/** The entries of a seller's account, the newest first, from `after` on. */
export async function listTransfers(
  db: Db,
  sellerId: string,
  filter: TransferFilter,
  range: Range,
): Promise<TransferRow[]> {
  const account = sellerAccount(sellerId)
  const entries = filter.orderId ? ofOrder(account, filter, range) : ofAccount(account, filter, range)
  const { rows } = await sql<TransferRow>`
    select t.id, t.kind, t.order_id as "orderId", t.amount_minor as "amountMinor", t.currency, t.created_at as "createdAt",
      ${microsOf('t.created_at')} as micros
    from (${entries}) t
    order by t.created_at desc, t.id desc limit ${range.limit}`.execute(db)
  return rows
}

/** An order has a few entries: they are found by it. */
const ofOrder = (account: string, filter: TransferFilter, { after }: Range) => sql`
  select ${ID} as id, t.kind, t.order_id, case when t.credit_account = ${account} then t.amount_minor else -t.amount_minor end as amount_minor,
    t.currency, t.created_at
  from transfers t
  where t.order_id = ${filter.orderId} and ${account} in (t.credit_account, t.debit_account)
    ${filter.currency ? sql`and t.currency = ${filter.currency}` : sql``} and ${within(filter, after)}`

/**
 * The newest of each currency and of each side of the account, as an index has them: a seller's currencies are few, and one of
 * which there is little is found as fast. No entry is on both sides, and what was taken in a currency came in it first.
 */
function ofAccount(account: string, filter: TransferFilter, { after, limit }: Range): RawBuilder<unknown> {
  const side = (column: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    (select ${ID} as id, t.kind, t.order_id, ${sign} t.amount_minor as amount_minor, t.currency, t.created_at
    from transfers t where ${column} = ${account} and t.currency = c.currency and ${within(filter, after)}
    order by t.created_at desc, 1 desc limit ${limit})`
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

function within({ from, to }: TransferFilter, after: Place | undefined): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (from) conditions.push(sql`t.created_at >= ${from}`)
  if (to) conditions.push(sql`t.created_at < ${to}`)
  if (after) {
    const at = timeOf(after.micros)
    conditions.push(sql`t.created_at <= ${at} and (t.created_at < ${at} or ${ID} < ${after.id})`)
  }
  return sql.join(conditions, sql` and `)
}

export const transferView = (row: TransferRow): Transfer => ({
  id: row.id,
  kind: row.kind,
  orderId: row.orderId,
  amount: row.amountMinor,
  currency: row.currency,
  createdAt: row.createdAt.toISOString(),
})
