import { sql } from 'kysely'
import type { EventType } from '../events/event-types.ts'

export const STATES = [
  'pending',
  'processing',
  'paid',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
  'expired',
  'needs_review',
] as const
export type State = (typeof STATES)[number]

/**
 * Every way an order may move, and the event that the seller's program hears of. Other moves cannot happen. Orders move forward only, with
 * three exceptions. A verified capture beats our own timeout, because the buyer's money has already left. A dispute that is won gives the
 * order back its earlier state. And when money that went back comes again, because a refund failed or the bank returns the money of a lost
 * dispute, the order gets the state that it would have without it.
 */
export const MOVES = {
  process: { from: ['pending'], to: 'processing', event: 'order.processing' },
  pay: { from: ['pending', 'processing', 'expired'], to: 'paid', event: 'order.paid' },
  review: { from: ['pending', 'processing', 'expired'], to: 'needs_review', event: 'order.needs_review' },
  // The operator takes the amount that the buyer paid as the price.
  accept: { from: ['needs_review'], to: 'paid', event: 'order.paid' },
  expire: { from: ['pending', 'processing'], to: 'expired', event: 'order.expired' },
  refund_part: { from: ['paid', 'partially_refunded'], to: 'partially_refunded', event: 'order.partially_refunded' },
  // A refund of all that a bank had left: the buyer has the whole price back, a part of it from the bank.
  refund_rest: { from: ['partially_refunded', 'disputed'], to: 'charged_back', event: 'order.charged_back' },
  // An order whose whole price was refunded ends here, also with a dispute, and in whatever order the events arrive.
  refund_all: {
    from: ['paid', 'partially_refunded', 'disputed', 'charged_back'],
    to: 'refunded',
    event: 'order.refunded',
  },
  dispute: { from: ['paid', 'partially_refunded'], to: 'disputed', event: 'order.disputed' },
  win_dispute: { from: ['disputed'], to: 'paid', event: 'order.dispute_won' },
  win_dispute_refunded_in_part: { from: ['disputed'], to: 'partially_refunded', event: 'order.dispute_won' },
  lose_dispute: { from: ['disputed'], to: 'charged_back', event: 'order.charged_back' },
  // If a bank took a part of the price, the buyer keeps the files, as after a refund of a part.
  lose_dispute_in_part: { from: ['disputed'], to: 'partially_refunded', event: 'order.partially_refunded' },
  // A refund can fail after it was made. The order then gets the state that it would have without it.
  unrefund: { from: ['partially_refunded', 'refunded'], to: 'paid', event: 'refund.failed' },
  unrefund_part: { from: ['refunded', 'charged_back'], to: 'partially_refunded', event: 'refund.failed' },
  unrefund_disputed: { from: ['refunded', 'charged_back'], to: 'disputed', event: 'refund.failed' },
  unrefund_charged_back: { from: ['refunded'], to: 'charged_back', event: 'refund.failed' },
  // The same when a bank gives back the money of a lost dispute.
  unlose: { from: ['charged_back', 'partially_refunded'], to: 'paid', event: 'order.dispute_won' },
  unlose_part: { from: ['charged_back'], to: 'partially_refunded', event: 'order.dispute_won' },
  unlose_disputed: { from: ['charged_back'], to: 'disputed', event: 'order.disputed' },
} as const satisfies Record<string, { from: readonly State[]; to: State; event: EventType }>
export type Move = keyof typeof MOVES

/** The state after a move. Undefined: the present state forbids the move, because it is done already or another came first. */
export function stateAfter(state: State, move: Move): State | undefined {
  const { from, to } = MOVES[move]
  return (from as readonly State[]).includes(state) ? to : undefined
}

/** Whether a payment can still make the order paid before it expires. */
export const waitsForPayment = (state: State): boolean => state === 'pending' || state === 'processing'

/** Whether the buyer may have the files: the order is paid, and the money has not gone back. */
export const isDelivered = (state: State): boolean => state === 'paid' || state === 'partially_refunded'

/** The condition of the index on the few orders `o` that wait for somebody. PostgreSQL uses that index only beside these words. */
export const waitsForSomebody = sql<boolean>`(o.state in ('needs_review', 'disputed') or o.receipt_bounced_at is not null)`
