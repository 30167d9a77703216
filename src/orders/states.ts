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
 * Every way an order may move. What is not listed cannot happen. Forward only, with two exceptions: a verified capture
 * beats our own timeout, since the buyer's money has already left; and what went back and came again, by a refund that failed
 * or a lost dispute, leaves the order as it would be without.
 */
export const MOVES = {
  process: { from: ['pending'], to: 'processing' },
  pay: { from: ['pending', 'processing', 'expired'], to: 'paid' },
  review: { from: ['pending', 'processing', 'expired'], to: 'needs_review' },
  expire: { from: ['pending', 'processing'], to: 'expired' },
  refund_part: { from: ['paid', 'partially_refunded'], to: 'partially_refunded' },
  // A refund of all that a bank had left: the buyer has the whole price again, and a part of it from the bank.
  refund_rest: { from: ['partially_refunded', 'disputed'], to: 'charged_back' },
  // When all of it is back, whoever else asks for it, that is how the order ends, in whatever order we hear.
  refund_all: { from: ['paid', 'partially_refunded', 'disputed', 'charged_back'], to: 'refunded' },
  dispute: { from: ['paid', 'partially_refunded'], to: 'disputed' },
  win_dispute: { from: ['disputed'], to: 'paid' },
  win_dispute_refunded_in_part: { from: ['disputed'], to: 'partially_refunded' },
  // A part of the price that a bank took is as a part that was refunded: the buyer keeps the files.
  lose_dispute: { from: ['disputed'], to: 'charged_back' },
  lose_dispute_in_part: { from: ['disputed'], to: 'partially_refunded' },
  // A refund can fail after it was made: the order is again what it would be without it.
  unrefund: { from: ['partially_refunded', 'refunded'], to: 'paid' },
  unrefund_part: { from: ['refunded', 'charged_back'], to: 'partially_refunded' },
  unrefund_disputed: { from: ['refunded', 'charged_back'], to: 'disputed' },
  unrefund_charged_back: { from: ['refunded'], to: 'charged_back' },
  // So it is when a bank gives back what a lost dispute took.
  unlose: { from: ['charged_back', 'partially_refunded'], to: 'paid' },
  unlose_part: { from: ['charged_back'], to: 'partially_refunded' },
  unlose_disputed: { from: ['charged_back'], to: 'disputed' },
} as const satisfies Record<string, { from: readonly State[]; to: State }>
export type Move = keyof typeof MOVES

/** The state after a move, or undefined when the present one forbids it: already done, or overtaken. */
export function stateAfter(state: State, move: Move): State | undefined {
  const { from, to } = MOVES[move]
  return (from as readonly State[]).includes(state) ? to : undefined
}

/** The buyer may have the files: paid, and not paid back. */
export const isDelivered = (state: State): boolean => state === 'paid' || state === 'partially_refunded'
