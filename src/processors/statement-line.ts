import { familyOf } from './connected.ts'
import { isCardCharge } from './stripe/entities.ts'

/** By which processor an order is or will be paid, and how, as far as that is known. */
export interface PaidBy {
  /** Its name, which can have a connected account. */
  processor: string
  captureId?: string | undefined
  /** A bank has the buyer's "yes" and has not answered. */
  isAtBank?: boolean | undefined
}

/**
 * Whether the line on the buyer's statement is our statement descriptor. Razorpay and the bank choose the line there. Stripe takes our
 * text only for cards (https://docs.stripe.com/get-started/account/statement-descriptors). Before the payment we count on a card.
 * The rail does not decide: `debit` is a debit card or a bank debit, and some wallets pay by card.
 */
export function printsOurLine(by: PaidBy | null): boolean {
  if (!by) return true
  const { processor, captureId, isAtBank } = by
  const family = familyOf(processor)
  if (family === 'razorpay') return false
  // a card is answered at once
  return family !== 'stripe' || (captureId === undefined ? !isAtBank : isCardCharge(captureId))
}
