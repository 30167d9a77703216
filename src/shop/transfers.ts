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

/** The entries of a seller's account, the newest first, from `after` on. */
export async function listTransfers(
  db: Db,
  sellerId: string,
  { from, to, currency, orderId }: TransferFilter,
  { after, limit }: { after?: Place | undefined; limit: number },
): Promise<TransferRow[]> {
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (from) conditions.push(sql`t.created_at >= ${from}`)
  if (to) conditions.push(sql`t.created_at < ${to}`)
  if (currency) conditions.push(sql`t.currency = ${currency}`)
  if (orderId) conditions.push(sql`t.order_id = ${orderId}`)
  if (after) {
    const at = timeOf(after.micros)
    conditions.push(sql`t.created_at <= ${at} and (t.created_at < ${at} or ${ID} < ${after.id})`)
  }
  const account = sellerAccount(sellerId)
  const all = sql.join(conditions, sql` and `)
  // no entry is on both sides of one account
  const side = (column: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    select ${ID} as id, t.kind, t.order_id, ${sign} t.amount_minor as amount_minor, t.currency, t.created_at
    from transfers t where ${column} = ${account} and ${all}
    order by t.created_at desc, 1 desc limit ${limit}`
  const { rows } = await sql<TransferRow>`
    select t.id, t.kind, t.order_id as "orderId", t.amount_minor as "amountMinor", t.currency, t.created_at as "createdAt",
      ${microsOf('t.created_at')} as micros
    from (
      (${side(sql`t.credit_account`, sql`+`)}) union all (${side(sql`t.debit_account`, sql`-`)})) t
    order by t.created_at desc, t.id desc limit ${limit}`.execute(db)
  return rows
}

export const transferView = (row: TransferRow): Transfer => ({
  id: row.id,
  kind: row.kind,
  orderId: row.orderId,
  amount: row.amountMinor,
  currency: row.currency,
  createdAt: row.createdAt.toISOString(),
})
