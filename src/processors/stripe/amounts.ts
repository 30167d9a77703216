import { decimalsOf } from '../../kit/money.ts'
import { AmountNotTaken, ProcessorUnavailable } from '../processor.ts'

// How Stripe counts money, by https://docs.stripe.com/currencies: mostly as ISO 4217 does, in places by its own history.

/** Charged in more than 130 currencies; the last line has three decimals and is offered in some countries only. */
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

/** Decimals that are not 2. ISK and UGX have none any more and are still counted in hundredths; MGA has two and is not. */
const DECIMALS: Record<string, number> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ').map((one) => [one, 0]),
  ),
  ...Object.fromEntries('BHD JOD KWD OMR TND'.split(' ').map((one) => [one, 3])),
}

/** The least that can be charged, in Stripe's units. It holds where the account is paid out in that currency. */
const LEAST: Record<string, number> = {
  AED: 200,
  ARS: 50,
  AUD: 50,
  BRL: 50,
  CAD: 50,
  CHF: 50,
  COP: 50,
  CZK: 1500,
  DKK: 250,
  EUR: 50,
  GBP: 30,
  HKD: 400,
  HUF: 17_500,
  IDR: 50,
  ILS: 50,
  INR: 50,
  JPY: 50,
  KRW: 50,
  MXN: 1000,
  MYR: 200,
  NOK: 300,
  NZD: 50,
  PHP: 50,
  PLN: 200,
  RON: 200,
  RUB: 50,
  SEK: 300,
  SGD: 50,
  THB: 1000,
  USD: 50,
  ZAR: 50,
}

/** Eight digits, whatever the way of paying; more in currencies of small units. */
const MOST = 99_999_999
const MOST_IN: Record<string, number> = { COP: 9_999_999_999, IDR: 999_999_999_999, INR: 999_999_999 }

export const takesCurrency = (currency: string): boolean => CURRENCIES.has(currency)

/** Our minor units in Stripe's. Refuses what cannot be said there exactly: half an ariary, the last of a fils' thousandths. */
export function toStripe(amountMinor: number, currency: string): number {
  if (!takesCurrency(currency)) throw new AmountNotTaken(`Stripe takes no ${currency}`)
  const amount = scaled(amountMinor, stripeDecimals(currency) - decimalsOf(currency))
  const whole = Number.isSafeInteger(amountMinor) && Number.isSafeInteger(amount) && amount > 0
  if (!whole || (stripeDecimals(currency) === 3 && amount % 10 !== 0))
    throw new AmountNotTaken(`Stripe cannot take exactly this amount of ${currency}`)
  return amount
}

/** The same for a price, which has a least and a most. */
export function priceToStripe(amountMinor: number, currency: string): number {
  const amount = toStripe(amountMinor, currency)
  if (amount < (LEAST[currency] ?? 1)) throw new AmountNotTaken(`this is less than Stripe charges in ${currency}`)
  if (amount > (MOST_IN[currency] ?? MOST)) throw new AmountNotTaken(`this is more than Stripe charges in ${currency}`)
  return amount
}

/** What Stripe says, in our minor units and with the currency in our letters. */
export function fromStripe(amount: number, stripeCurrency: string): { amountMinor: number; currency: string } {
  const currency = stripeCurrency.toUpperCase()
  const amountMinor = scaled(amount, decimalsOf(currency) - stripeDecimals(currency))
  if (!Number.isSafeInteger(amountMinor)) throw new ProcessorUnavailable(`an amount of ${currency} that is none`)
  return { amountMinor, currency }
}

const stripeDecimals = (currency: string): number => DECIMALS[currency] ?? 2

const scaled = (amount: number, places: number): number => (places < 0 ? amount / 10 ** -places : amount * 10 ** places)
