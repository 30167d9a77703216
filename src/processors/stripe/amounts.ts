import { decimalsOf } from '../../kit/money.ts'
import { AmountNotTaken, ProcessorUnavailable } from '../refusals.ts'

// How Stripe counts money (https://docs.stripe.com/currencies): mostly as ISO 4217 does, with exceptions from Stripe's history.

/** The currencies that Stripe charges. Those in the last line have three decimals, and only some countries offer them. */
const CURRENCIES: ReadonlySet<string> = new Set(
  (
    'AED AFN AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK ' +
    'DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JPY KES KGS KHR KMF ' +
    'KRW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK ' +
    'PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SRD SZL THB TJS TRY TTD TWD TZS UAH UGX USD UYU UZS VND ' +
    'VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ' +
    'BHD JOD KWD OMR TND'
  ).split(' '),
)

/** Decimals other than 2. ISK and UGX have none any more, but Stripe still counts hundredths. MGA is in ISO with two; Stripe uses none. */
const DECIMALS: Record<string, number> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ').map((one) => [one, 0]),
  ),
  ...Object.fromEntries('BHD JOD KWD OMR TND'.split(' ').map((one) => [one, 3])),
}

export const takesCurrency = (currency: string): boolean => CURRENCIES.has(currency)

/**
 * Converts our minor units to Stripe's. Throws AmountNotTaken for an amount that Stripe's units cannot express exactly, such as half
 * an ariary, or a dinar amount whose third decimal is not zero. Stripe itself says which amounts are too small or too large.
 */
export function toStripe(amountMinor: number, currency: string): number {
  const amount = exactly(amountMinor, currency)
  if (stripeDecimals(currency) === 3 && amount % 10 !== 0) throw cannotTake(currency)
  return amount
}

/**
 * The same for our fee. It moves between two accounts at Stripe, while the rule for the third decimal is for the partners behind
 * payments. 2 % of most prices in dinars is no round amount. If Stripe refuses such a fee all the same, its answer says so.
 */
export const feeToStripe = (feeMinor: number, currency: string): number => exactly(feeMinor, currency)

/** A part of our fee in Stripe's units. 2 % of a part of a price in ariary has a fraction of them. */
export const feePartToStripe = (feeMinor: number, currency: string): number =>
  scaled(feeMinor, stripeDecimals(currency) - decimalsOf(currency))

function exactly(amountMinor: number, currency: string): number {
  if (!takesCurrency(currency)) throw new AmountNotTaken(`Stripe takes no ${currency}`)
  const amount = scaled(amountMinor, stripeDecimals(currency) - decimalsOf(currency))
  if (!Number.isSafeInteger(amountMinor) || !Number.isSafeInteger(amount) || amount <= 0) throw cannotTake(currency)
  return amount
}

const cannotTake = (currency: string) => new AmountNotTaken(`Stripe cannot take exactly this amount of ${currency}`)

/** Converts Stripe's amount to our minor units, and its currency code to upper case. */
export function fromStripe(amount: number, stripeCurrency: string): { amountMinor: number; currency: string } {
  const currency = stripeCurrency.toUpperCase()
  const amountMinor = scaled(amount, decimalsOf(currency) - stripeDecimals(currency))
  if (!Number.isSafeInteger(amountMinor))
    throw new ProcessorUnavailable(`Stripe reported an impossible ${currency} amount`)
  return { amountMinor, currency }
}

/** Stripe's units for one of our minor units. */
export const stripeUnits = (currency: string): number => scaled(1, stripeDecimals(currency) - decimalsOf(currency))

const stripeDecimals = (currency: string): number => DECIMALS[currency] ?? 2

const scaled = (amount: number, places: number): number => (places < 0 ? amount / 10 ** -places : amount * 10 ** places)
