import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { currenciesOf } from '../kit/country-currency.ts'
import { Refusal } from '../kit/errors.ts'
import { isId } from '../kit/ids.ts'
import { onStatement } from '../orders/paid-by.ts'
import type { Processor } from '../processors/processor.ts'
import { processorFor } from '../processors/routing.ts'
import { type PriceRow, priceOf } from '../products/prices.ts'
import type { PriceView } from './product-schema.ts'
import { orderedRails } from './rail-order.ts'

type Processors = ReadonlyMap<string, Processor>

/** With which of a product's prices the page begins. */
export interface Begin {
  /** The currency that the address names. */
  currency?: string | undefined
  /** The buyer's country, as far as it is known. */
  country?: string | undefined
}

/**
 * The prices that buyers can pay, the one to begin with first. The first of `prices` is the default. A price in a currency that no
 * processor takes is left out, unless it is the default: then it comes last, and the page says that it cannot be paid.
 */
export function offeredPrices(
  processors: Processors,
  prices: readonly PriceRow[],
  { currency, country }: Begin,
): PriceRow[] {
  const payable = prices.filter((price) => isPayable(processors, price.currency))
  const offered = [...new Set([...payable, ...prices.slice(0, 1)])]
  const wanted = [...(currency ? [currency] : []), ...currenciesOf(country)]
  const first = wanted.map((code) => offered.find((price) => price.currency === code)).find(Boolean)
  return first ? [first, ...offered.filter((price) => price !== first)] : offered
}

/** Where payments are not live at all, every price is as good as the others. */
const isPayable = (processors: Processors, currency: string): boolean =>
  processors.size === 0 || processorFor(processors, currency) !== undefined

/** How an order of the product would be paid. */
export interface Payable {
  /** The seller's connected account, as a processor's name. */
  account: string | null
  free: boolean
  /** The payment leaves vouchers out. */
  withoutVouchers: boolean
  /** The buyer's country, as far as it is known. */
  country: string | undefined
}

export function priceView(
  processors: Processors,
  price: PriceRow,
  { account, free, withoutVouchers, country }: Payable,
): PriceView {
  const { currency } = price
  const processor = processorFor(processors, currency)
  // an order is paid at its seller's account and nowhere else
  const paidAt = account === null ? processor : processors.get(account)
  const form = !free && paidAt?.formSetup?.({ currency, withoutVouchers })
  return {
    ...priceOf(price),
    rails: orderedRails(processor?.rails(currency) ?? [], { currency, country }),
    payments: {
      live: processor !== undefined,
      ...(processor && { processor: processor.name, ...onStatement({ processor: processor.name }) }),
      ...(form && { form }),
    },
  }
}

/**
 * Refuses `currency_not_offered` for a further price that no processor takes. The default price makes an order all the same, as it does
 * without a currency. Whether the product has the price at all, the statement decides that makes the order.
 */
export async function refuseUnpayable(
  db: Db,
  processors: Processors,
  { productId, currency }: { productId: string; currency?: string | undefined },
): Promise<void> {
  if (currency === undefined || isPayable(processors, currency) || !isId('prod', productId)) return
  const { rows } = await sql<{ currency: string }>`select currency from products where id = ${productId}`.execute(db)
  // that there is no such product, the statement says that makes the order
  if (rows[0] && rows[0].currency !== currency) throw notOffered()
}

export const notOffered = () => new Refusal('currency_not_offered', 'This product has no price in this currency.')
