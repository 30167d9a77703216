import type { Move, State } from '../../orders/states.ts'
import { lostOf, saleOf } from './captured-money.ts'
import type { Draft, PaymentRecord } from './payment-record.ts'

/** The events that change the money of a sale, each with its move to every state that the order can have afterwards. */
const MOVES_TO = {
  refund: { partially_refunded: 'refund_part', charged_back: 'refund_rest', refunded: 'refund_all' },
  unrefund: {
    paid: 'unrefund',
    partially_refunded: 'unrefund_part',
    disputed: 'unrefund_disputed',
    charged_back: 'unrefund_charged_back',
  },
  win: { paid: 'win_dispute', partially_refunded: 'win_dispute_refunded_in_part' },
  lose: { partially_refunded: 'lose_dispute_in_part', charged_back: 'lose_dispute' },
  unlose: { paid: 'unlose', partially_refunded: 'unlose_part', disputed: 'unlose_disputed' },
} as const satisfies Record<string, Partial<Record<State, Move>>>

/** Moves the order to the state that its money implies, in whatever order the news came. False: the order is there already. */
export function moveByMoney(
  { record, move }: Draft,
  happened: keyof typeof MOVES_TO,
  more?: { refundId: string },
): boolean {
  const moves: Partial<Record<State, Move>> = MOVES_TO[happened]
  const name = moves[stateByMoney(record)]
  return name !== undefined && move(name, more)
}

/** The state of a sold order, by the money that refunds gave back, the money that banks took, and the money that banks hold. */
function stateByMoney(record: PaymentRecord): State {
  const { refundedMinor, amountMinor, disputes } = record
  const sale = saleOf(record)
  const goneMinor = refundedMinor + lostOf(record, sale?.id)
  if (refundedMinor === amountMinor) return 'refunded'
  if (goneMinor >= amountMinor) return 'charged_back'
  if (disputes.some(({ captureId, state }) => captureId === sale?.id && state === 'open')) return 'disputed'
  return goneMinor > 0 ? 'partially_refunded' : 'paid'
}
