import type { Rail } from '../rails.ts'

/**
 * The rail of each of Stripe's payment methods (https://docs.stripe.com/api/payment_methods/object). Some take only the listed
 * currencies: Stripe refuses a payment that names them in another one. Bank transfers through a customer's balance
 * (`customer_balance`) are missing here: they need a customer and an account that keeps money.
 */
const METHODS: Record<string, { rail: Rail; currencies?: string }> = {
  card: { rail: 'card' },
  kr_card: { rail: 'card', currencies: 'KRW' },

  acss_debit: { rail: 'debit', currencies: 'CAD USD' },
  au_becs_debit: { rail: 'debit', currencies: 'AUD' },
  bacs_debit: { rail: 'debit', currencies: 'GBP' },
  nz_bank_account: { rail: 'debit', currencies: 'NZD' },
  payto: { rail: 'debit', currencies: 'AUD' },
  sepa_debit: { rail: 'debit', currencies: 'EUR' },
  us_bank_account: { rail: 'debit', currencies: 'USD' },

  bancontact: { rail: 'bank_transfer', currencies: 'EUR' },
  blik: { rail: 'bank_transfer', currencies: 'PLN' },
  boleto: { rail: 'bank_transfer', currencies: 'BRL' },
  eps: { rail: 'bank_transfer', currencies: 'EUR' },
  fpx: { rail: 'bank_transfer', currencies: 'MYR' },
  ideal: { rail: 'bank_transfer', currencies: 'EUR' },
  konbini: { rail: 'bank_transfer', currencies: 'JPY' },
  multibanco: { rail: 'bank_transfer', currencies: 'EUR' },
  oxxo: { rail: 'bank_transfer', currencies: 'MXN' },
  p24: { rail: 'bank_transfer', currencies: 'EUR PLN' },
  pay_by_bank: { rail: 'bank_transfer', currencies: 'EUR GBP' },
  paynow: { rail: 'bank_transfer', currencies: 'SGD' },
  pix: { rail: 'bank_transfer', currencies: 'BRL' },
  promptpay: { rail: 'bank_transfer', currencies: 'THB' },

  upi: { rail: 'upi', currencies: 'INR' },

  affirm: { rail: 'wallet', currencies: 'CAD USD' },
  afterpay_clearpay: { rail: 'wallet' },
  alipay: { rail: 'wallet' },
  alma: { rail: 'wallet', currencies: 'EUR' },
  amazon_pay: { rail: 'wallet' },
  billie: { rail: 'wallet' },
  bizum: { rail: 'wallet', currencies: 'EUR' },
  cashapp: { rail: 'wallet', currencies: 'USD' },
  crypto: { rail: 'wallet', currencies: 'USD' },
  grabpay: { rail: 'wallet', currencies: 'MYR SGD' },
  kakao_pay: { rail: 'wallet', currencies: 'KRW' },
  klarna: { rail: 'wallet' },
  link: { rail: 'wallet' },
  mb_way: { rail: 'wallet', currencies: 'EUR' },
  mobilepay: { rail: 'wallet', currencies: 'DKK EUR NOK SEK' },
  naver_pay: { rail: 'wallet', currencies: 'KRW' },
  payco: { rail: 'wallet', currencies: 'KRW' },
  paypal: { rail: 'wallet' },
  paypay: { rail: 'wallet', currencies: 'JPY' },
  revolut_pay: { rail: 'wallet', currencies: 'EUR GBP' },
  samsung_pay: { rail: 'wallet', currencies: 'KRW' },
  satispay: { rail: 'wallet', currencies: 'EUR' },
  scalapay: { rail: 'wallet', currencies: 'EUR' },
  sequra: { rail: 'wallet', currencies: 'EUR' },
  sunbit: { rail: 'wallet', currencies: 'USD' },
  swish: { rail: 'wallet', currencies: 'SEK' },
  twint: { rail: 'wallet', currencies: 'CHF' },
  wechat_pay: { rail: 'wallet' },
  zip: { rail: 'wallet' },
}

/** Payment methods that cost nothing to begin and can give the buyer days: vouchers, and debits that wait for test deposits. */
export const VOUCHERS = ['acss_debit', 'boleto', 'konbini', 'multibanco', 'oxxo', 'us_bank_account'] as const

/** Payment methods that the form shows only for a payment that exists (https://docs.stripe.com/payments/accept-a-payment-deferred). */
const AFTER_PAYMENT = ['blik', 'acss_debit']

/** Whether a currency has such a payment method, so that the form waits for the order. */
export const waitsForPayment = (
  configured: readonly string[] | undefined,
  currency: string,
  offered: readonly string[] | undefined,
): boolean =>
  // buyers in other countries do not know the debit of Canada
  methodsFor(AFTER_PAYMENT, currency).some(
    (way) =>
      currency !== 'USD' &&
      (configured?.includes(way) ?? true) &&
      (offered?.includes(way) ?? configured?.includes(way) ?? false),
  )

/** Shown while the account's offers are unknown: nearly every account has cards. */
const LEAST = ['card']

/** Returns the configured payment methods, or throws an error that names the unknown ones. */
export function checkedMethods(configured: readonly string[] | undefined): readonly string[] | undefined {
  const unknown = configured?.filter((one) => !Object.hasOwn(METHODS, one)) ?? []
  if (unknown.length > 0) throw new Error(`these payment methods cannot be offered: ${unknown.join(', ')}`)
  return configured?.length ? configured : undefined
}

/** The configured payment methods that take a currency. */
export const methodsFor = (configured: readonly string[], currency: string): string[] =>
  configured.filter((method) => METHODS[method]?.currencies?.split(' ').includes(currency) ?? true)

/** A currency that a payment method takes: the account's own, if possible. */
export const currencyFor = (method: string, accountCurrency: string): string =>
  methodsFor([method], accountCurrency)[0] ? accountCurrency : METHODS[method]!.currencies!.split(' ')[0]!

/**
 * The rails for a currency. They come from the payment methods that the account offers and, if the settings have a list, that the
 * settings name. A device wallet pays with a card, and the account offers it separately. While the offers are unknown, the result
 * holds only the rails that need no confirmation by the account.
 */
export function railsFor(
  configured: readonly string[] | undefined,
  currency: string,
  offered: readonly string[] | undefined,
): Rail[] {
  const has = (way: string) => offered?.includes(way) ?? false
  const listed = configured ?? offered?.filter((way) => Object.hasOwn(METHODS, way)) ?? LEAST
  const rails = methodsFor(listed, currency)
    .filter((method) => !offered || has(method))
    .flatMap((method): Rail[] =>
      method === 'card' ? ['card', 'debit', ...DEVICES.filter(has)] : [METHODS[method]!.rail],
    )
  return [...new Set(rails)]
}
const DEVICES = ['apple_pay', 'google_pay'] as const

/** The part of a charge that says how the buyer paid (`payment_method_details`). */
export interface PaidWith {
  type: string
  card?: { funding?: string | null; wallet?: { type: string } | null } | null
}

/** The rail that the buyer used, as Stripe reports it. For a payment method that is newer than our table, its name decides. */
export function railUsed({ type, card }: PaidWith): Rail {
  if (type === 'card' || type === 'card_present' || type === 'interac_present') {
    const wallet = card?.wallet?.type
    if (wallet === 'apple_pay' || wallet === 'google_pay') return wallet
    if (wallet) return 'wallet'
    return card?.funding === 'debit' || type === 'interac_present' ? 'debit' : 'card'
  }
  const known = METHODS[type]?.rail
  if (known) return known
  if (/_debit$|_bank_account$/.test(type)) return 'debit'
  return /_transfer$|^customer_balance$|^giropay$|^sofort$/.test(type) ? 'bank_transfer' : 'wallet'
}
