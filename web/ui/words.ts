import type { Rail } from './api.ts'
import { ApiError } from './api.ts'
import { LOCALE, inAWhile, say, wordsOf } from './language.ts'

const words = wordsOf('ui')

export const RAIL_NAMES: Record<Rail, string> = {
  card: words.card,
  debit: words.debit,
  bank_transfer: words.bankTransfer,
  upi: words.upi,
  apple_pay: words.applePay,
  google_pay: words.googlePay,
  wallet: words.wallet,
}

/** The rails as a buyer chooses among them: a debit card is a card there, and only the payment shows which kind it was. */
export const WAYS: Record<Rail, string> = { ...RAIL_NAMES, debit: words.bankDebit }

/** The ways to pay, in the processor's own form: that form tells a bank debit from a debit card. */
export const waysIn = (rails: readonly Rail[]): string[] =>
  rails.filter((rail) => rail !== 'debit' || !rails.includes('card')).map((rail) => WAYS[rail])

/** The refusals that say the same to every buyer. */
const REFUSALS: Record<string, string> = {
  card_number_refused: words.cardNumber,
  shop_not_open: words.shopNotOpen,
  product_not_found: words.notForSale,
  discount_not_valid: words.discountNotValid,
  amount_too_small: words.amountTooSmall,
  currency_not_offered: words.notSoldIn,
}

/** The trouble in words for a buyer: what happened, and what to do. */
export function sentence(trouble: unknown): string {
  if (!(trouble instanceof ApiError)) return words.pageBroke
  const known = REFUSALS[trouble.code]
  if (known) return known
  const when = inAWhile(trouble.retryAfterSeconds)
  switch (trouble.code) {
    case 'unreachable':
      return navigator.onLine ? words.unreachable : words.offline
    case 'rate_limited':
      return say(words.tooFast, { when })
    case 'processor_unavailable':
      return say(words.processorSilent, { when })
    case 'rail_not_offered':
      return trouble.message
    case 'validation_failed':
      return trouble.fields[0]?.message ?? words.checkEntered
    default:
      // The service explains the others of this kind in English. Those about values in the link of the seller's site are for the seller.
      if (trouble.status === 422 && /^en|_url/.test(LOCALE + trouble.code)) return trouble.message
      return trouble.unknown ? say(words.shopBusy, { when }) : words.notAccepted
  }
}
