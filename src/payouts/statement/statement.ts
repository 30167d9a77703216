/** The parts of a payout. They always come to the payout: carried + net of all orders + others = amount + left. */
export interface PayoutSums extends Totals {
  /** When the period of the payout before ended. Undefined: it is the first payout in this currency, or a processor has made it. */
  from: Date | undefined
  /** The rest of the payouts before, in minor units. Negative: they could not cover a debt. */
  carriedMinor: number
  /** Orders with entries that became available in the period, or with movements in the processor's payout. */
  orderCount: number
  /** Entries of no order: adjustments, and payouts that came back. Of a payout by a processor: its movements of no order, summed by kind. */
  others: readonly { at: Date; what: string; amountMinor: number }[]
  /** The rest for the next payout. */
  leftMinor: number
}

export interface Statement extends PayoutSums {
  payout: StatedPayout
  seller: { name: string; email: string }
  /** The name of the service: its host. */
  service: string
  /** In the order in which they were made. The first ones, where there are more than a reader reads. */
  orders: readonly StatedOrder[]
}

export interface StatedPayout {
  id: string
  /** `manual`: the operator pays by bank. Otherwise Stripe or Razorpay has paid from the seller's connected account. */
  by: 'manual' | 'stripe-connect' | 'razorpay-route'
  state: 'approved' | 'sent' | 'paid' | 'failed' | 'reversed'
  currency: string
  amountMinor: number
  destination: string
  /** The reference on the seller's bank statement, or the processor's id of the payout. */
  reference: string
  /** The number by which the seller's bank shows a payout by a processor. Null: it is not known. */
  bankReference: string | null
  cutoffAt: Date
  createdAt: Date
  sentAt: Date | null
  paidAt: Date | null
  endedAt: Date | null
  failure: string | null
  /** It failed because it was cancelled at the processor. */
  isCancelled: boolean
}

/** The entries of one order, or of all. */
export interface Totals {
  saleMinor: number
  /** Negative where it was taken, positive where a share of it came back. */
  feeMinor: number
  refundMinor: number
  disputeMinor: number
  netMinor: number
}

/** A refund can come in a later period than its sale: then `saleMinor` is 0. */
export interface StatedOrder extends Totals {
  orderId: string
  soldAt: Date
  product: string
}

/** How a payout stands, in words for its seller. */
export function standingOf({ state, sentAt, paidAt, endedAt, failure, isCancelled }: StatedPayout): string {
  const on = (at: Date | null) => (at ? ` on ${dayOf(at)}` : '')
  if (isCancelled) return `Cancelled${on(endedAt)}`
  const why = failure ? `: ${failure}` : ''
  return {
    approved: 'Approved, not sent yet',
    sent: `Sent${on(sentAt)}`,
    paid: `Paid${on(paidAt)}`,
    failed: `Failed${on(endedAt)}${why}`,
    reversed: `Came back${on(endedAt)}${why}`,
  }[state]
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** Days are those of UTC, so that two readers of one statement read the same. */
export const dayOf = (at: Date): string => DAY.format(at)

/** The end of an order's id, as the pages show it. */
export const shortOrder = (orderId: string): string => `…${orderId.slice(-6)}`
