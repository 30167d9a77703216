import { type Transfer, sellerAccount } from './transfers.ts'

/** Money that has left for sellers' banks. */
export const PAYOUTS = 'payouts'
/** The operator's corrections of the money owed to sellers. */
const ADJUSTMENTS = 'adjustments'

/** A payout, or the amount of an adjustment to a seller, which is negative when it takes money from the seller. */
interface Outgoing {
  id: string
  sellerId: string
  amountMinor: number
  currency: string
}

const outgoing = ({ id, amountMinor, currency }: Outgoing) => ({ cause: id, orderId: null, amountMinor, currency })

/** Books a payout, which reserves its amount from then on. */
export const payoutTransfer = (payout: Outgoing): Transfer => ({
  kind: 'payout',
  ...outgoing(payout),
  debit: sellerAccount(payout.sellerId),
  credit: PAYOUTS,
})

/** Books a payout that the bank refused, or that came back after it had been confirmed. */
export const payoutBackTransfer = (kind: 'payout_failed' | 'payout_reversed', payout: Outgoing): Transfer => ({
  kind,
  ...outgoing(payout),
  debit: PAYOUTS,
  credit: sellerAccount(payout.sellerId),
})

export const adjustmentTransfer = (adjustment: Outgoing): Transfer => {
  const [debit, credit] = [ADJUSTMENTS, sellerAccount(adjustment.sellerId)]
  const isToSeller = adjustment.amountMinor > 0
  return {
    kind: 'adjustment',
    ...outgoing({ ...adjustment, amountMinor: Math.abs(adjustment.amountMinor) }),
    debit: isToSeller ? debit : credit,
    credit: isToSeller ? credit : debit,
  }
}
