import type { DisputeFact, PaymentSnapshot, RefundFact } from '../../processors/processor.ts'
import type { PaymentRecord } from './payment-record.ts'

// A processor can make a refund because a dispute is lost. It is the same money as the loss, so it counts once: as the one of the two
// that is booked first. Then the buyer and the seller get one mail about it, and the seller issues one credit note.

/** Whether the refund's money is booked as the loss of its dispute, or is about to be, so that it is no refund beside it. */
export function isBookedAsLoss(
  { refunds, disputes }: PaymentRecord,
  { id, disputeId, amountMinor }: RefundFact,
  { disputes: reported }: PaymentSnapshot,
): boolean {
  if (disputeId === undefined || refunds.some((one) => one.id === id)) return false
  const known = disputes.find((one) => one.id === disputeId)
  // a report that is older than the loss still calls the dispute open
  if (known && known.state !== 'open') return known.lostMinor >= amountMinor
  const heldMinor = known?.amountMinor ?? Infinity
  return reported.some(
    (one) => one.id === disputeId && one.state === 'lost' && Math.min(heldMinor, lossOf(one)) >= amountMinor,
  )
}

/** The dispute without the money that is booked as a refund already: the refund was reported while the dispute was still open. */
export function withoutRefund(
  { refunds }: PaymentRecord,
  dispute: DisputeFact,
  { refunds: reported }: PaymentSnapshot,
): DisputeFact {
  const isBooked = (refundId: string) => refunds.some(({ id, state }) => id === refundId && state === 'succeeded')
  const refund = reported.find(({ id, disputeId }) => disputeId === dispute.id && isBooked(id))
  if (!refund || dispute.state !== 'lost') return dispute
  return { ...dispute, lostMinor: Math.max(0, lossOf(dispute) - refund.amountMinor) }
}

const lossOf = ({ amountMinor, lostMinor = amountMinor }: DisputeFact): number => lostMinor
