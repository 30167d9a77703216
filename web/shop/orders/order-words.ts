import type { Status } from '../../ui/api.ts'
import { moment } from '../../ui/format.ts'
import type { Order, OrderDetail, Refund } from './orders-api.ts'

type Tone = 'good' | 'quiet' | 'bad' | ''

/** The states of an order, in words for its seller. */
export const STATES: Record<Status, [name: string, tone: Tone]> = {
  pending: ['Not paid yet', 'quiet'],
  processing: ['Bank is processing', ''],
  paid: ['Paid', 'good'],
  partially_refunded: ['Partly refunded', 'good'],
  refunded: ['Refunded', 'quiet'],
  disputed: ['Disputed', 'bad'],
  charged_back: ['Charged back', 'bad'],
  expired: ['Expired', 'quiet'],
  needs_review: ['Needs attention', 'bad'],
}

/** The bank began to work on the payment and declined it. */
const PAYMENT_FAILED: [name: string, tone: Tone] = ['Payment failed', 'quiet']

/** A bank took a part of the price back by a dispute. The service then has the status of a partial refund. */
const PARTLY_CHARGED_BACK: [name: string, tone: Tone] = ['Partly charged back', 'bad']

type Told = Pick<Order, 'status' | 'paymentFailed' | 'chargedBackAmount'>

export function stateOf(order: Told): [name: string, tone: Tone] {
  if (order.paymentFailed) return PAYMENT_FAILED
  return isPartlyChargedBack(order) ? PARTLY_CHARGED_BACK : STATES[order.status]
}

const isPartlyChargedBack = ({ status, chargedBackAmount = 0 }: Told): boolean =>
  status === 'partially_refunded' && chargedBackAmount > 0

/** Explanations of the states in which the seller has to do something. */
export const adviceOf = (order: Told): [title: string, text: string] | undefined =>
  isPartlyChargedBack(order) ? PART_TAKEN : ADVICE[order.status]

const PART_TAKEN: [title: string, text: string] = [
  'The buyer’s bank has taken a part of the money back.',
  'The buyer keeps the files, as after a refund of a part, and that part of the fee came back to you.',
]

const ADVICE: Partial<Record<Status, [title: string, text: string]>> = {
  disputed: [
    'The buyer’s bank has asked for the money back.',
    'The amount is on hold and the files are too, until the bank has decided. If the account at the payment processor is yours, answer in its dashboard. Otherwise the operator of this service answers: send them your evidence.',
  ],
  charged_back: [
    'The buyer’s bank has taken the money back.',
    'The files are no longer available, and the fee for it came back to you.',
  ],
  needs_review: [
    'The buyer paid an amount other than the price.',
    'Nothing was delivered. The operator of this service accepts the payment or sends it back. We have written to the buyer that you will answer.',
  ],
}

const HAPPENINGS: Record<string, string> = {
  created: 'Order created',
  payment_declined: 'Payment declined by the bank',
  payment_processing: 'Bank began to process the payment',
  paid: 'Paid; files released',
  expired: 'Expired unpaid',
  refund_requested: 'Refund requested',
  refund_failed: 'Refund failed; the money stayed with you',
  refunded: 'Refunded in full; files no longer available',
  partially_refunded: 'Refunded in part',
  duplicate_refunded: 'A second payment arrived and was sent back',
  payment_returned: 'A payment that did not match was sent back',
  needs_review: 'A payment of an amount other than the price',
  disputed: 'Disputed at the buyer’s bank; files on hold',
  dispute_won: 'Dispute won; files available again',
  charged_back: 'Reversed by the buyer’s bank; files no longer available',
  partially_charged_back: 'Part reversed by the buyer’s bank',
  receipt_bounced: 'Receipt could not be delivered',
  receipt_sent_again: 'Receipt sent again',
  email_change_requested: 'Another address named; its owner has to confirm',
  email_changed: 'Moved to another address',
}
/** When an order moves to its confirmed new address. */
export function whenItMoves({ movesAt, needsConsent }: NonNullable<OrderDetail['emailMove']>): string {
  if (needsConsent) return 'It moves when the old address agrees: it has kept the order before.'
  if (movesAt) return `It moves on ${moment(movesAt)}, unless the old address keeps it.`
  return 'It moves when the old address agrees, or three days after its mail server has taken our question.'
}

/** The events, also those that this page does not know because the service is newer. */
export const happening = (what: string): string => {
  const words = what.replaceAll('_', ' ')
  return HAPPENINGS[what] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** The events that went wrong. */
export const WENT_WRONG = new Set([
  'payment_declined',
  'refund_failed',
  'needs_review',
  'disputed',
  'charged_back',
  'partially_charged_back',
  'receipt_bounced',
  'expired',
])

export const REFUND_STATES: Record<Refund['status'], [name: string, tone: Tone]> = {
  pending: ['On its way', ''],
  succeeded: ['Done', 'quiet'],
  failed: ['Failed', 'bad'],
}
