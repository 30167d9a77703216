/**
 * Money is an integer of the currency's minor units (cents, paise, yen, fils) beside its ISO 4217 code. It is never a
 * fraction and never a float. This file is free of Node's modules, so the pages share it.
 */

/** A text and no list: the payment page has few bytes left. */
export const THREE_DECIMALS = 'BHD IQD JOD KWD LYD OMR TND'

/** The largest amount of a price, in minor units. */
export const LARGEST_AMOUNT = 999_999_999_999

/** The fee, in hundredths of a percent, on every rail. */
const FEE_BASIS_POINTS = 200

/** How many decimals a currency, named by its whole code, has by ISO 4217: 2 for USD, 0 for JPY, 3 for KWD. The runtime's own tables differ for some currencies. */
export const decimalsOf = (currency: string): number =>
  'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.includes(currency)
    ? 0
    : THREE_DECIMALS.includes(currency)
      ? 3
      : 2

/**
 * The step, in minor units, of the parts of a price that are computed or given by a code: a discount, and tax on top. Stripe's partners take
 * no third decimal other than 0. Stripe counts whole ariary, also of the fee of 2 %, so their step is 50 ariary, about a US cent. So a price that can
 * be paid can also be paid with a code and with tax.
 */
export const stepOf = (currency: string): number => (decimalsOf(currency) > 2 ? 10 : currency === 'MGA' ? 5000 : 1)

/** The exact decimal of an amount, without a sign for the currency: (1900, 'USD') → "19.00", (5, 'KWD') → "0.005". */
export function decimalText(amountMinor: number, currency: string): string {
  const places = decimalsOf(currency)
  const digits = String(Math.abs(amountMinor)).padStart(places + 1, '0')
  const point = digits.length - places
  return (amountMinor < 0 ? '-' : '') + digits.slice(0, point) + (places ? `.${digits.slice(point)}` : '')
}

/** The currency of a reader's country, and the sign that people there write for it. */
export interface HomeCurrency {
  currency: string
  sign: string
}

/**
 * An amount for people: (49900, 'INR', 'en') → "₹499.00". The locale changes marks and order, never the digits. A bare "$" means the
 * currency of the locale's readers: (1900, 'CAD', 'en') → "CA$19.00". `home` is the reader's currency, if known: a Canadian gets "US$19.00"
 * even on an American page.
 */
export function formatMoney(amountMinor: number, currency: string, locale = 'en', home?: HomeCurrency): string {
  const key = locale + currency
  const format = formats.get(key) ?? newFormat(currency, locale)
  formats.set(key, format)
  // A string keeps its digits: Intl reads it as an exact decimal, not as a float.
  const parts = format.formatToParts(decimalText(amountMinor, currency) as `${number}`)
  return parts
    .map(({ value }) => (value === home?.sign && currency !== home.currency ? currency.slice(0, 2) : '') + value)
    .join('')
}

/** Making a format takes a hundred times as long as using it. */
const formats = new Map<string, Intl.NumberFormat>()

function newFormat(currency: string, locale: string): Intl.NumberFormat {
  const places = decimalsOf(currency)
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  })
}

/** How people write a currency at home: "$" for each of the dollars. */
export const ownSign = (currency: string): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
    .formatToParts(0)
    .find(({ type }) => type === 'currency')!.value

/**
 * `amountMinor` times `part` over `whole`, in whole steps of `step`, rounded half to even, the only rounding rule here. All are
 * non-negative integers.
 */
export function share(amountMinor: number, part: number, whole: number, step = 1): number {
  const numerator = BigInt(amountMinor) * BigInt(part)
  const divisor = BigInt(whole * step)
  const quotient = numerator / divisor
  // exactly a half goes up from an odd quotient only
  const up = 2n * (numerator % divisor) + (quotient % 2n) > divisor
  return Number(up ? quotient + 1n : quotient) * step
}

/**
 * The price before a discount. Undefined: there was no discount, or the order has tax. It does not keep whether that tax was within the
 * price or was added to it, so the sum could be a price that the product never had.
 */
export const fullPriceOf = (amountMinor: number, discountMinor = 0, taxMinor = 0): number | undefined =>
  discountMinor > 0 && taxMinor === 0 ? amountMinor + discountMinor : undefined

/** 2 % of an amount in minor units, half to even. The schema holds orders to the same rule. */
export const feeOf = (amountMinor: number): number => share(amountMinor, FEE_BASIS_POINTS, 10_000)
