import assert from 'node:assert/strict'
import * as ledger from '../../ledger/transfers.ts'
import type { Draft, PaymentRecord, entryFor } from './payment-record.ts'

// The money of a capture, as refunds and disputes both see it.

export const saleOf = ({ captures }: PaymentRecord) => captures.find(({ purpose }) => purpose === 'sale')

/** The capture that a refund or dispute is about. */
export function captureOf(
  record: PaymentRecord,
  { captureId }: { captureId: string },
): PaymentRecord['captures'][number] {
  const capture = record.captures.find(({ id }) => id === captureId)
  assert(capture, 'a refund or dispute of a capture that the same snapshot does not have')
  return capture
}

/** How much of a capture banks have taken back for good. */
export const lostOf = ({ disputes }: PaymentRecord, id: string | undefined): number =>
  disputes.filter(({ captureId }) => captureId === id).reduce((sum, { lostMinor }) => sum + lostMinor, 0)

/** How much of the sale the buyer already has back, as the ledger needs it to split the fee and the tax. */
export function returnedOf(record: PaymentRecord) {
  const returnedBeforeMinor = record.refundedMinor + lostOf(record, saleOf(record)?.id)
  const { amountMinor: saleMinor, feeMinor, taxMinor } = record
  return { saleMinor, feeMinor, taxMinor, returnedBeforeMinor }
}

/**
 * Asks for an invoice or a credit note about money of the sale that went back (`refund`, `chargeback`) or came again (`returned`). Call it
 * where the entry is booked. A refund and a lost dispute together can take more than the price; these documents stop at the price.
 */
export function addDocument(
  { record, effects }: Draft,
  reason: 'refund' | 'chargeback' | 'returned',
  { cause, amountMinor }: { cause: string; amountMinor: number },
): void {
  const { saleMinor, returnedBeforeMinor } = returnedOf(record)
  const upTo = (returnedMinor: number) => Math.min(saleMinor, returnedMinor)
  const documented =
    reason === 'returned'
      ? upTo(returnedBeforeMinor) - upTo(returnedBeforeMinor - amountMinor)
      : upTo(returnedBeforeMinor + amountMinor) - upTo(returnedBeforeMinor)
  if (documented > 0) effects.documents.push({ reason, amountMinor: documented, cause })
}

/** How much has left beyond the amount of a suspended capture: we refunded it and a bank took it too. Always 0 for a sale. */
export function missingOf(record: PaymentRecord, about: { captureId: string }): number {
  const { id, purpose, amountMinor } = captureOf(record, about)
  if (purpose === 'sale') return 0
  const refundedMinor = record.refunds
    .filter(({ captureId, state }) => captureId === id && state === 'succeeded')
    .reduce((sum, one) => sum + one.amountMinor, 0)
  return Math.max(0, refundedMinor + lostOf(record, id) - amountMinor)
}

/** Charges the change of `missingOf` since `beforeMinor` to the seller, from whose account at the processor the money left. */
export function bookMissing(
  { record, effects }: Draft,
  about: { captureId: string },
  beforeMinor: number,
  { cause, orderId, sellerId, processor }: ReturnType<typeof entryFor>,
): number {
  const { currency } = captureOf(record, about)
  const amountMinor = missingOf(record, about) - beforeMinor
  effects.transfers.push(...ledger.heldLoss({ cause, orderId, sellerId, processor, amountMinor, currency }))
  return amountMinor
}
