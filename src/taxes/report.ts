import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { directAccount, sellerAccount } from '../ledger/transfers.ts'
import type { Treatment } from './sale-tax.ts'

export interface TaxPeriod {
  /** Inclusive. */
  from: Date
  /** Exclusive. */
  to: Date
}

/** One line of a tax report: the orders of one country, rate, treatment and currency. Minor units. */
export interface TaxLine {
  country: string
  rate: number
  treatment: Treatment
  currency: string
  orders: number
  grossMinor: number
  taxMinor: number
  returnedGrossMinor: number
  returnedTaxMinor: number
}

/** The moments of a period such as 2026, 2026-Q4 or 2026-10, in days of UTC. */
export function taxPeriodOf(period: string): TaxPeriod {
  const [year = '', part = ''] = period.split('-')
  const quarter = part.startsWith('Q') ? Number(part[1]) : undefined
  const first = quarter === undefined ? (part === '' ? 0 : Number(part) - 1) : (quarter - 1) * 3
  const months = quarter === undefined ? (part === '' ? 12 : 1) : 3
  const at = (month: number) => new Date(Date.UTC(Number(year), month, 1))
  return { from: at(first), to: at(first + months) }
}

/**
 * The tax of a seller in a period. Sales count when the books got them, which is when the payment was confirmed: a bank's payment began
 * days before, perhaps in a period that was reported already. Money that went back counts when it went back, with the tax that the
 * books gave back with it. The statement sums all of it, so a line is a line however many orders it has.
 */
export async function taxReport(db: Db, sellerId: string, { from, to }: TaxPeriod): Promise<TaxLine[]> {
  const { rows } = await sql<TaxLine>`
    with sold as (
      select o.tax_country as country, o.tax_rate as rate, o.tax_treatment as treatment, o.currency,
        count(*)::int as orders, sum(o.amount_minor) as gross, sum(o.tax_minor) as tax
      from transfers t join orders o on o.id = t.order_id
      where t.kind = 'sale' and t.credit_account in (${sellerAccount(sellerId)}, ${directAccount(sellerId)})
        and t.created_at >= ${from} and t.created_at < ${to} and o.tax_treatment is not null
      group by 1, 2, 3, 4),
    moved as (
      select distinct t.order_id from transfers t
      where t.kind in (${BACK}) and t.created_at >= ${from} and t.created_at < ${to}),
    back as (
      select o.tax_country as country, o.tax_rate as rate, o.tax_treatment as treatment, o.currency, sum(b.gross) as gross, sum(b.tax) as tax
      from moved join orders o on o.id = moved.order_id and o.seller_id = ${sellerId} and o.tax_treatment is not null
      cross join lateral (
        -- a bank can take a price that was already refunded: what went back of an order is at most its price
        select least(coalesce(sum(e.gross), 0), o.amount_minor)
            - least(coalesce(sum(e.gross) filter (where e.at < ${from}), 0), o.amount_minor) as gross,
          coalesce(sum(e.tax) filter (where e.at >= ${from}), 0) as tax
        from (${entriesBack(sql`o.id`)}) e where e.at < ${to}) b
      where b.gross <> 0 or b.tax <> 0
      group by 1, 2, 3, 4)
    select country, rate::float8 as rate, treatment, currency, coalesce(sold.orders, 0) as orders,
      coalesce(sold.gross, 0)::bigint as "grossMinor", coalesce(sold.tax, 0)::bigint as "taxMinor",
      coalesce(back.gross, 0)::bigint as "returnedGrossMinor", coalesce(back.tax, 0)::bigint as "returnedTaxMinor"
    from sold full join back using (country, rate, treatment, currency)
    order by country, rate desc, treatment, currency`.execute(db)
  return rows
}

/** As the index transfers_back has them. */
const BACK = sql`'refund', 'refund_failed', 'dispute_loss', 'dispute_return', 'tax_refund', 'tax_again'`

/** The entries of an order's returned money. A negative amount was returned and then came back. Suspended money was no sale, so it is left out. */
const entriesBack = (orderId: RawBuilder<unknown>) => sql`
  select t.created_at as at,
    case t.kind when 'refund' then t.amount_minor when 'dispute_loss' then t.amount_minor
      when 'refund_failed' then -t.amount_minor when 'dispute_return' then -t.amount_minor else 0 end as gross,
    case t.kind when 'tax_refund' then t.amount_minor when 'tax_again' then -t.amount_minor else 0 end as tax
  from transfers t left join transfers h on t.kind = 'dispute_loss' and h.kind = 'dispute_hold' and h.cause = t.cause
  where t.order_id = ${orderId} and t.kind in (${BACK})
    and t.credit_account <> 'held' and coalesce(h.debit_account, '') <> 'held'`
