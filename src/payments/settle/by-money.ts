import type { Move, State } from '../../orders/states.ts'
import type { PaymentRecord, TryMove } from './payment-record.ts'

/** What can happen to the money of a sale, and the move to each state that the order can have afterwards. */
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

/** Moves the order to where its money says that it is, in whatever order we heard. False: it is there already. */
export function follow(known: PaymentRecord, happened: keyof typeof MOVES_TO, move: TryMove): boolean {
  const moves: Partial<Record<State, Move>> = MOVES_TO[happened]
  const name = moves[stateByMoney(known)]
  return name !== undefined && move(name)
}

/** The state of an order that was sold, by what refunds gave back, what banks took and what they hold. */
function stateByMoney(known: PaymentRecord): State {
  const { refundedMinor, amountMinor, disputes } = known
  const sale = saleOf(known)
  const backMinor = refundedMinor + lostOf(known, sale?.id)
  if (refundedMinor === amountMinor) return 'refunded'
  if (backMinor >= amountMinor) return 'charged_back'
  if (disputes.some(({ captureId, state }) => captureId === sale?.id && state === 'open')) return 'disputed'
  return backMinor > 0 ? 'partially_refunded' : 'paid'
}

/** What banks have taken back of a capture. */
export const lostOf = ({ disputes }: PaymentRecord, id: string | undefined): number =>
  disputes.filter(({ captureId }) => captureId === id).reduce((sum, { lostMinor }) => sum + lostMinor, 0)

export const saleOf = ({ captures }: PaymentRecord) => captures.find(({ purpose }) => purpose === 'sale')
