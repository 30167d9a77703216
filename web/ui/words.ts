import type { Rail } from './api.ts'
import { ApiError } from './api.ts'

export const RAIL_NAMES: Record<Rail, string> = {
  card: 'Card',
  debit: 'Debit',
  bank_transfer: 'Bank transfer',
  upi: 'UPI',
  apple_pay: 'Apple Pay',
  google_pay: 'Google Pay',
  wallet: 'Wallet',
}

/** The rails as a buyer chooses among them: a debit card is a card there, and only the payment shows which kind it was. */
export const WAYS: Record<Rail, string> = { ...RAIL_NAMES, debit: 'Bank debit' }

/** The ways to pay, in the processor's own form: that form tells a bank debit from a debit card. */
export const waysIn = (rails: readonly Rail[]): string[] =>
  rails.filter((rail) => rail !== 'debit' || !rails.includes('card')).map((rail) => WAYS[rail])

/** The trouble in words for a buyer: what happened, and what to do. */
export function sentence(trouble: unknown): string {
  if (!(trouble instanceof ApiError)) return 'Something went wrong on this page. Please reload it.'
  // These refusals are about what the buyer, or the seller's site, has asked for, and the service says them in words for buyers.
  if (trouble.status === 422) return trouble.message
  switch (trouble.code) {
    case 'unreachable':
      return navigator.onLine ? 'We cannot reach the shop right now. Please try again.' : 'You are offline.'
    case 'rate_limited':
      return `That was a little too fast. Please try again ${inAWhile(trouble)}.`
    case 'processor_unavailable':
      return `The payment service does not answer right now. Nothing was taken; please try again ${inAWhile(trouble)}.`
    case 'card_number_refused':
      return 'That looks like the number of a card. Please type it only where the payment form asks for it.'
    case 'shop_not_open':
    case 'product_not_found':
    case 'rail_not_offered':
      return trouble.message
    case 'validation_failed':
      return trouble.fields[0]?.message ?? 'Please check what you entered.'
    default:
      return trouble.unknown
        ? `The shop is busy right now. Please try again ${inAWhile(trouble)}.`
        : 'The shop did not accept this. Please reload the page and try again.'
  }
}

function inAWhile({ retryAfterSeconds: wait }: ApiError): string {
  if (!wait || wait <= 3) return 'in a moment'
  return wait < 90 ? `in ${wait} seconds` : `in ${Math.ceil(wait / 60)} minutes`
}
