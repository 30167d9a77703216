import { currenciesOf } from '../kit/country-currency.ts'
import type { Rail } from '../processors/rails.ts'

// A processor's own form orders its payment methods by itself. This order is for the methods that our page draws and lists.

/** The rails that buyers use beside cards, the most usual first: by country where several countries share a currency, else by currency. */
const USUAL: readonly (readonly [places: string, rails: readonly Rail[]])[] = [
  // UPI pays most online purchases; netbanking and wallets come next
  ['INR', ['upi', 'bank_transfer', 'wallet']],
  // iDEAL, Bancontact, EPS, Multibanco, and the bank links of Finland and the Baltic states
  ['NL BE AT PT FI EE LV LT', ['bank_transfer', 'wallet', 'debit']],
  // BLIK and Przelewy24, Pix and boleto, konbini, OXXO, PromptPay, PayNow, FPX
  ['PLN BRL JPY MXN THB SGD MYR', ['bank_transfer', 'wallet']],
  // PayPal and SEPA debit; Bacs; ACH
  ['EUR GBP USD', ['wallet', 'debit', 'bank_transfer']],
  // Swish, MobilePay, TWINT, Kakao Pay and Naver Pay, Alipay and WeChat Pay
  ['SEK DKK NOK CHF KRW CNY', ['wallet', 'bank_transfer']],
  ['AUD NZD CAD', ['debit', 'wallet', 'bank_transfer']],
]

/**
 * The rails of a price as the page shows them: cards, then the usual ones where the buyer is, then the others. A country counts only
 * for a price in its own currency: a buyer in the Netherlands who pays dollars finds no iDEAL.
 */
export function orderedRails(
  rails: readonly Rail[],
  { currency, country }: { currency: string; country: string | undefined },
): Rail[] {
  const isHome = country !== undefined && currenciesOf(country).includes(currency)
  const usual = (isHome && usualIn(country)) || usualIn(currency) || []
  const first: readonly Rail[] = ['card', ...usual]
  return [...first.filter((rail) => rails.includes(rail)), ...rails.filter((rail) => !first.includes(rail))]
}

const usualIn = (place: string): readonly Rail[] | undefined =>
  USUAL.find(([places]) => places.split(' ').includes(place))?.[1]
