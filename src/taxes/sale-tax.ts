import { type RawBuilder, sql } from 'kysely'
import { share, stepOf } from '../kit/money.ts'
import { stepIn } from '../kit/money-step.ts'

/** Why an order has its rate. */
export const TREATMENTS = ['domestic', 'oss', 'reverse_charge', 'outside', 'exempt'] as const
export type Treatment = (typeof TREATMENTS)[number]

/** The members of the European Union. Parts of them outside its VAT area, such as the Canary Islands (IC), have codes of their own. */
export const EU = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ')

/** The tax on a sale, as `taxOnSale` finds it. */
export interface SaleTax {
  /** Prices contain the tax. Else it comes on top. */
  isInclusive: boolean
  /** Null: the buyer's country is not known. */
  treatment: Treatment | null
  country: string | null
  /** Percent. Null: no such rate is loaded. */
  rate: number | null
}

/** Rates are kept to a thousandth of a percent. */
const WHOLE = 100_000

/**
 * The tax of an amount, in minor units: the tax that a price contains, or that comes on top of it. Half to even. Tax on top is in whole steps
 * of the currency.
 */
export function taxOf(priceMinor: number, ratePercent: number, isInclusive: boolean, currency: string): number {
  const part = Math.round(ratePercent * 1000)
  return isInclusive ? share(priceMinor, part, WHOLE + part) : share(priceMinor, part, WHOLE, stepOf(currency))
}

/** The same within a statement. */
export const taxMinorOf = (
  price: RawBuilder<unknown>,
  rate: RawBuilder<unknown>,
  isInclusive: RawBuilder<unknown>,
  currency: RawBuilder<unknown>,
): RawBuilder<number> => sql`
  case when ${isInclusive} then share_of(${price}, (${rate} * 1000)::bigint, ${WHOLE}::bigint + (${rate} * 1000)::bigint)
    else share_of(${price}, (${rate} * 1000)::bigint, ${WHOLE}::bigint * ${stepIn(currency)}) * ${stepIn(currency)} end`

/** Which rates are valid on a day of UTC. */
export const isValidOn = (day: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`r.valid_from <= ${day} and coalesce(r.valid_to >= ${day}, true)`
export const TODAY = sql`(now() at time zone 'UTC')::date`

/** Monaco and the Isle of Man belong to the VAT areas of France and the United Kingdom (Directive 2006/112/EC, Article 7). */
export const vatArea = (country: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case ${country} when 'MC' then 'FR' when 'IM' then 'GB' else ${country} end`

/**
 * The tax on a sale today, for a statement. If the seller has a tax profile, it is a row of `is_inclusive, treatment, country, rate` and of
 * the facts that decided them. Otherwise there is no row.
 * - Without a buyer's country there is no treatment, unless the seller charges no tax at all.
 * - Where the rate is missing, `rate` is null: no caller may guess it.
 * - `isBusiness`: VIES knows the buyer as a business of that country. In another EU country than the seller's it owes the tax itself.
 *   Where prices contain the tax, the price stays as it is.
 * - The one-stop-shop counts for a seller outside the EU too: its non-Union scheme is for them.
 */
export const taxOnSale = ({
  seller,
  buyer,
  isBusiness = sql`false`,
}: Record<'seller' | 'buyer', RawBuilder<unknown>> & { isBusiness?: RawBuilder<unknown> }) => sql`
  select f.is_inclusive, f.is_exempt, f.tax_ids, h.country as seller_area, b.country as buyer_area, t.treatment, c.country,
    case when t.treatment in ('outside', 'exempt', 'reverse_charge') then 0 else r.rate end as rate
  from tax_profiles f
  cross join lateral (select ${vatArea(buyer)} as country) b
  cross join lateral (select ${vatArea(sql`f.country`)} as country) h
  cross join lateral (select case
      when f.is_exempt then 'exempt'
      when b.country is null then null
      when b.country = h.country then 'domestic'
      when b.country <> all(${EU}::text[]) then 'outside'
      when ${isBusiness} and h.country = any(${EU}::text[]) then 'reverse_charge'
      when f.has_oss then 'oss'
      when h.country = any(${EU}::text[]) then 'domestic'
      else 'outside' end as treatment) t
  cross join lateral (select case when t.treatment in ('domestic', 'exempt') then h.country else b.country end as country) c
  left join tax_rates r on r.country = c.country and r.category = f.category and ${isValidOn(TODAY)}
  where f.seller_id = ${seller}`
