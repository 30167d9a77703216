import * as ledger from '../../ledger/transfers.ts'
import { addDocument, bookMissing, captureOf, missingOf, returnedOf } from './captured-money.ts'
import { type Draft, type PaymentRecord, entryFor } from './payment-record.ts'
import { moveByMoney } from './state-by-money.ts'
import type { PaymentSnapshot, RefundFact } from '../../processors/processor.ts'

/**
 * Decides what a refund means for an order. Each refund at the processor is booked once, whoever requested it and however often
 * it is reported. A failed refund is final, and new entries undo its entries.
 */
export function decideRefund(draft: Draft, refund: RefundFact, { refunds: reported }: PaymentSnapshot): void {
  const { record, effects } = draft
  const before = record.refunds.find(({ id }) => id === refund.id)
  const missingMinor = missingOf(record, refund)
  const failed = refund.state === 'failed'
  if (before && (before.state === 'failed' || !failed)) return
  const hasSameKey = (key: string | undefined) => refund.key !== undefined && key === refund.key
  // an adapter may have asked again after a failure: our row then belongs to the later try
  const replaced =
    failed && reported.some((one) => hasSameKey(one.key) && one.id !== refund.id && one.state !== 'failed')
  const request = replaced ? undefined : record.refunds.find(({ id, key }) => id === null && hasSameKey(key))

  if (!failed) bookRefund(draft, refund, request !== undefined)
  else {
    const hasMoved = before !== undefined && takeBack(draft, refund)
    // a request that we gave up ourselves was announced as failed at that time
    if (!replaced && request?.state !== 'failed')
      announceFailure(draft, refund, { wasAnnounced: before !== undefined, hasMoved })
  }
  writeRow(record, refund, before ?? request)
  bookMissing(draft, refund, missingMinor, entryFor(record, 'refund', refund.id))
  effects.refunds.push({ ...refund, row: request?.key })
}

function writeRow(
  { refunds }: PaymentRecord,
  { id, captureId, amountMinor, state: reported }: RefundFact,
  row: PaymentRecord['refunds'][number] | undefined,
): void {
  const state = reported ?? 'succeeded'
  if (row) Object.assign(row, { id, amountMinor, state })
  else refunds.push({ id, key: '', amountMinor, captureId, state })
}

function bookRefund(draft: Draft, refund: RefundFact, byApi: boolean): void {
  const { record, effects } = draft
  const { purpose, currency } = captureOf(record, refund)
  const { amountMinor } = refund
  const entry = { ...entryFor(record, 'refund', refund.id), amountMinor, currency }
  if (purpose !== 'sale') {
    effects.transfers.push(...ledger.returnedTransfers(entry))
    const what = purpose === 'duplicate' ? 'duplicate_refunded' : 'payment_returned'
    effects.timeline.push(what)
    effects.mails.push({ kind: what, amountMinor, currency })
    return
  }
  addDocument(draft, 'refund', entry)
  effects.transfers.push(...ledger.refundTransfers({ ...entry, ...returnedOf(record) }))
  record.refundedMinor += amountMinor
  effects.refundedMinor = record.refundedMinor
  const isWhole = record.refundedMinor === record.amountMinor
  // this also goes on the timeline when a dispute keeps the order in its state: the money has moved
  effects.timeline.push(isWhole ? 'refunded' : 'partially_refunded')
  const hasMoved = moveByMoney(draft, 'refund')
  if (!hasMoved) effects.events.push({ type: 'order.partially_refunded' })
  const wasRest = hasMoved && record.state === 'charged_back'
  if (wasRest) effects.timeline.push('charged_back')
  const mailData = { amountMinor, refundedMinor: record.refundedMinor, ...(wasRest && { wasRest }) }
  effects.mails.push(
    { kind: 'refunded', ...mailData, cause: entry.cause },
    { kind: 'seller_refunded', ...mailData, byApi },
  )
}

/**
 * Reverses the entries of a refund that failed after it was booked, and moves the order to its state without that refund. False: that is
 * its state already.
 */
function takeBack(draft: Draft, refund: RefundFact): boolean {
  const { record, effects } = draft
  const { purpose, currency } = captureOf(record, refund)
  const entry = { ...entryFor(record, 'refund', refund.id), amountMinor: refund.amountMinor, currency }
  if (purpose !== 'sale') {
    effects.transfers.push(...ledger.returnFailedTransfers(entry))
    return false
  }
  addDocument(draft, 'returned', entry)
  effects.transfers.push(...ledger.refundFailedTransfers({ ...entry, ...returnedOf(record) }))
  record.refundedMinor -= refund.amountMinor
  effects.refundedMinor = record.refundedMinor
  return moveByMoney(draft, 'unrefund', { refundId: refund.id })
}

/** Mails the seller. The buyer gets a mail only after an earlier one that announced the refund. */
function announceFailure(
  { record, effects }: Draft,
  refund: RefundFact,
  { wasAnnounced, hasMoved }: { wasAnnounced: boolean; hasMoved: boolean },
): void {
  const { purpose, currency } = captureOf(record, refund)
  const { amountMinor } = refund
  if (purpose !== 'sale') {
    effects.mails.push({ kind: 'seller_return_failed', amountMinor, currency })
    return
  }
  effects.timeline.push('refund_failed')
  if (!hasMoved) effects.events.push({ type: 'refund.failed', refundId: refund.id })
  effects.mails.push({ kind: 'seller_refund_failed', amountMinor })
  if (wasAnnounced) effects.mails.push({ kind: 'refund_failed', amountMinor })
}
