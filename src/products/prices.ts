import { sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { type FieldProblem, notValid } from '../kit/errors.ts'
import { CURRENCIES } from '../kit/currencies.ts'
import type { Price } from './schema.ts'

// A product's default price is in its row. Its further prices, in other currencies, are rows of `product_prices`.

/** A price as the rows have it. `leastMinor` is the amount that buyers pay, or with pay what you want the least. */
export interface PriceRow {
  currency: string
  leastMinor: number
  suggestedMinor: number | null
}

/** The further prices of the product `p`, in the seller's order. An earlier version can have made one of their currencies the default. */
export const furtherPrices = sql<PriceRow[]>`(
  select coalesce(json_agg(json_build_object('currency', pp.currency, 'leastMinor', pp.price_minor,
    'suggestedMinor', case when p.pay_what_you_want then pp.suggested_minor end) order by pp.position), '[]')
  from product_prices pp where pp.product_id = p.id and pp.currency <> p.currency)`

/** A price in the API: `minimum` is there where the page suggests more than the lowest price. */
export const priceOf = ({ currency, leastMinor, suggestedMinor }: PriceRow): Price =>
  suggestedMinor === null || suggestedMinor === leastMinor
    ? { currency, amount: leastMinor }
    : { currency, amount: suggestedMinor, minimum: leastMinor }

const rowOf = ({ currency, amount, minimum = amount }: Price): PriceRow => ({
  currency,
  leastMinor: minimum,
  suggestedMinor: amount > minimum ? amount : null,
})

/** The members of a body that set prices. */
export interface SentPrices {
  amount?: number | undefined
  currency?: string | undefined
  suggestedAmount?: number | null | undefined
  prices?: Price[] | undefined
}

/** The faults in the prices of a body. */
export function priceProblems(sent: SentPrices): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (sent.currency !== undefined && !CURRENCIES.has(sent.currency))
    problems.push({ path: 'currency', message: NO_CURRENCY })
  const seen = new Set<string>()
  for (const [at, { currency, amount, minimum = amount }] of (sent.prices ?? []).entries()) {
    if (!CURRENCIES.has(currency)) problems.push({ path: `prices.${at}.currency`, message: NO_CURRENCY })
    if (seen.has(currency))
      problems.push({ path: `prices.${at}.currency`, message: 'must differ from the currencies of the other prices' })
    seen.add(currency)
    if (minimum > amount) problems.push({ path: `prices.${at}.minimum`, message: 'must not be above the amount' })
  }
  return problems.length > 0 ? problems : contradictions(sent)
}

/** A client that reads a product and sends it back sends both forms, and they must say the same. */
function contradictions({ prices, ...alone }: SentPrices): FieldProblem[] {
  if (!prices) return []
  const first = rowOf(prices[0]!)
  const isOther = {
    amount: alone.amount !== undefined && alone.amount !== first.leastMinor,
    currency: alone.currency !== undefined && alone.currency !== first.currency,
    suggestedAmount: alone.suggestedAmount !== undefined && alone.suggestedAmount !== first.suggestedMinor,
  }
  const message = 'differs from the first of `prices`: leave it out, or send the same'
  return Object.entries(isOther).flatMap(([path, differs]) => (differs ? [{ path, message }] : []))
}

const NO_CURRENCY = 'must be a currency of ISO 4217 in upper case, such as USD'

/** The default price of a body, and its further prices. Undefined: the body leaves them as they are. */
export function splitPrices<Sent extends SentPrices>(
  sent: Sent,
): Omit<Sent, 'prices'> & { further?: PriceRow[] | undefined } {
  const { prices, ...rest } = sent
  if (!prices) return rest
  const [first, ...further] = prices.map(rowOf)
  return {
    ...rest,
    amount: first!.leastMinor,
    currency: first!.currency,
    suggestedAmount: first!.suggestedMinor,
    further,
  }
}

/** Replaces a product's further prices. The caller has changed or made the product's row, so that changes come one after the other. */
export async function saveFurtherPrices(tx: Tx, productId: string, further: readonly PriceRow[]): Promise<void> {
  const column = <K extends keyof PriceRow>(name: K) => further.map((price) => price[name])
  await sql`delete from product_prices where product_id = ${productId} and currency <> all(${column('currency')}::text[])`.execute(
    tx,
  )
  await sql`
    insert into product_prices (product_id, currency, price_minor, suggested_minor, position)
    select ${productId}, f.currency, f.price_minor, f.suggested_minor, f.position
    from unnest(${column('currency')}::text[], ${column('leastMinor')}::bigint[], ${column('suggestedMinor')}::bigint[])
      with ordinality as f(currency, price_minor, suggested_minor, position)
    on conflict (product_id, currency) do update set price_minor = excluded.price_minor,
      suggested_minor = excluded.suggested_minor, position = excluded.position`.execute(tx)
}

/**
 * Makes the further prices fit the product as it is after a change: without pay what you want nothing is suggested. Refuses
 * `validation_failed` for prices that cannot stand together. The caller's transaction has locked the product's row.
 */
export async function fitFurtherPrices(tx: Tx, productId: string, areSent: boolean): Promise<void> {
  if (!areSent)
    await sql`
      update product_prices pp set suggested_minor = null from products p
      where p.id = ${productId} and pp.product_id = p.id and not p.pay_what_you_want and pp.suggested_minor is not null`.execute(
      tx,
    )
  const { rows } = await sql<{ isTwice: boolean; isPartlyFree: boolean; isSuggested: boolean }>`
    select bool_or(pp.currency = p.currency) as "isTwice",
      bool_or(not p.pay_what_you_want and 0 in (p.price_minor, pp.price_minor)) as "isPartlyFree",
      bool_or(not p.pay_what_you_want and pp.suggested_minor is not null) as "isSuggested"
    from products p join product_prices pp on pp.product_id = p.id where p.id = ${productId}`.execute(tx)
  const { isTwice, isPartlyFree, isSuggested } = rows[0]!
  if (isTwice) throw notValid('currency', 'is that of another price of the product: send all of them as `prices`')
  if (isPartlyFree) throw notValid('prices', 'must have one entry when the product is free')
  if (isSuggested) throw notValid('prices', 'may have `minimum` only with payWhatYouWant')
}
