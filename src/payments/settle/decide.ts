import assert from 'node:assert/strict'
import * as ledger from '../../ledger/transfers.ts'
import { stateAfter } from '../../orders/states.ts'
import { SLOW_RAILS } from '../../processors/rails.ts'
import { type Capture, MOST_DECLINES, type PaymentSnapshot, type RefundFact } from '../../processors/processor.ts'
import { decideDispute } from './disputes.ts'
import { decidePasses } from './passes.ts'
import { type CapturePurpose, type Draft, type Effects, type PaymentRecord, entryFor } from './payment-record.ts'
import { decideRefund } from './refunds.ts'
import { isBookedAsLoss, withoutRefund } from './refunds-for-losses.ts'

/**
 * Decides what a snapshot means for an order. `next` is the record as it is after `effects` are written. The function is pure: it
 * leaves `record` as it is, so tests can try every order and repetition of a processor's notifications. A fact that is already in
 * the record changes nothing. A fact that the order's state has no move for is recorded all the same, because the money has moved.
 */
export function decide(record: PaymentRecord, snapshot: PaymentSnapshot): { next: PaymentRecord; effects: Effects } {
  const draft = newDraft(record)
  // without this check an attempt would end without money, and the buyer could pay a second time
  assert(snapshot.state !== 'captured' || snapshot.captures.length > 0, 'captured, and no capture')
  decidePayment(draft, snapshot)
  for (const capture of snapshot.captures)
    if (!draft.record.captures.some(({ id }) => id === capture.id)) decideCapture(draft, capture, snapshot)
  // failed refunds come first: a later refund may have sent the same money again
  const isFailed = ({ state }: RefundFact) => state === 'failed'
  for (const refund of [...snapshot.refunds.filter(isFailed), ...snapshot.refunds.filter((one) => !isFailed(one))])
    if (!isBookedAsLoss(draft.record, refund, snapshot)) decideRefund(draft, refund, snapshot)
  for (const dispute of snapshot.disputes) decideDispute(draft, withoutRefund(draft.record, dispute, snapshot))
  decidePasses(draft, snapshot)
  return { next: draft.record, effects: draft.effects }
}

function newDraft(before: PaymentRecord): Draft {
  const record = structuredClone(before)
  const effects: Effects = {
    moves: [],
    captures: [],
    refunds: [],
    returns: [],
    disputes: [],
    transfersAt: [],
    timeline: [],
    events: [],
    transfers: [],
    documents: [],
    mails: [],
    waitsForBank: false,
    failsLate: false,
    closes: false,
  }
  return {
    record,
    effects,
    move(name, more = {}) {
      const to = stateAfter(record.state, name)
      if (!to) return false
      record.state = to
      effects.moves.push({ move: name, to, ...more })
      return true
    },
  }
}

/** Brings the payment's own state up to date: whether it is open, at a bank, captured or canceled, and how often it was declined. */
function decidePayment({ record, effects, move }: Draft, snapshot: PaymentSnapshot): void {
  const { paymentState, declines } = record
  if (snapshot.declines > declines) effects.timeline.push('payment_declined')
  record.paymentState = laterState(record, snapshot)
  record.declines = Math.max(declines, snapshot.declines)
  // the bank took its time and the buyer has left the page: only this mail says that nothing was paid
  const failedLate = paymentState === 'processing' && isUnpaid(record.paymentState) && snapshot.captures.length === 0
  effects.failsLate = failedLate && WAITS_FOR_PAYMENT.has(record.state)
  if (effects.failsLate) effects.mails.push({ kind: 'payment_failed' })
  // the rail of the snapshot counts only while the bank is at work: after a decline it belongs to the failed try
  if (record.paymentState === 'processing' && move('process')) {
    effects.timeline.push('payment_processing')
    effects.waitsForBank = snapshot.rail !== undefined && SLOW_RAILS.has(snapshot.rail)
  }
  if (record.paymentState === 'open' && snapshot.takesDays) effects.waitsForBank = true
  const hasNoTriesLeft = (tries: number, state: PaymentRecord['paymentState']) =>
    tries >= MOST_DECLINES && state === 'open'
  effects.closes = hasNoTriesLeft(record.declines, record.paymentState) && !hasNoTriesLeft(declines, paymentState)
  if (record.paymentState !== paymentState || record.declines !== declines)
    effects.payment = { state: record.paymentState, declines: record.declines }
}

const isUnpaid = (state: PaymentRecord['paymentState']): boolean => state === 'open' || state === 'canceled'
/** States of an order that is not paid and can still be paid. */
const WAITS_FOR_PAYMENT: ReadonlySet<PaymentRecord['state']> = new Set(['pending', 'processing'])

function decideCapture({ record, effects, move }: Draft, capture: Capture, snapshot: PaymentSnapshot): void {
  const isSold = record.captures.some(({ purpose }) => purpose === 'sale')
  const fits = capture.amountMinor === record.amountMinor && capture.currency === record.currency
  const entry = {
    ...entryFor(record, 'capture', capture.id),
    amountMinor: capture.amountMinor,
    currency: capture.currency,
  }
  const late = record.state === 'expired'
  let purpose: CapturePurpose
  if (!isSold && fits && move('pay', { rail: capture.rail, paidAt: capture.capturedAt })) {
    purpose = 'sale'
    effects.timeline.push('paid')
    effects.transfers.push(...ledger.saleTransfers({ ...entry, feeMinor: record.feeMinor, taxMinor: record.taxMinor }))
    effects.documents.push({ reason: 'sale', amountMinor: capture.amountMinor, cause: entry.cause })
    effects.mails.push({ kind: 'receipt', late })
    if (late) effects.mails.push({ kind: 'seller_paid_late' })
  } else if (isSold) {
    purpose = 'duplicate'
    effects.transfers.push(...ledger.heldTransfers(entry))
    const amountMinor = capture.amountMinor - refundedOf(snapshot, capture.id)
    if (amountMinor > 0) effects.returns.push({ captureId: capture.id, amountMinor })
  } else {
    // another amount, another currency, or more money for an order that already waits for the operator's decision
    purpose = 'mismatch'
    effects.transfers.push(...ledger.heldTransfers(entry))
    const amount = { amountMinor: capture.amountMinor, currency: capture.currency }
    if (move('review')) {
      effects.timeline.push('needs_review')
      effects.mails.push({ kind: 'needs_review', ...amount })
    }
    // the seller gets a mail for each capture, since each holds a buyer's money
    effects.mails.push({ kind: 'seller_needs_review', ...amount })
  }
  record.captures.push({ id: capture.id, purpose, amountMinor: capture.amountMinor, currency: capture.currency })
  effects.captures.push({ ...capture, purpose })
}

/** How much of a capture has been refunded, by us or in the processor's dashboard. */
const refundedOf = ({ refunds }: PaymentSnapshot, captureId: string): number =>
  refunds
    .filter((one) => one.captureId === captureId && one.state !== 'failed')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0)

/**
 * The payment's state after a snapshot that may be old. `captured` is final, and only a late capture follows `canceled`. Before
 * that each decline opens the payment again for another try. Between two declines `processing` is further than `open`.
 */
function laterState(
  { paymentState: before, declines }: Pick<PaymentRecord, 'paymentState' | 'declines'>,
  { state: reported, ...snapshot }: PaymentSnapshot,
): PaymentRecord['paymentState'] {
  const rank = { open: 0, processing: 1, canceled: 2, captured: 3 }
  const bothLive = rank[before] < rank.canceled && rank[reported] < rank.canceled
  if (bothLive && snapshot.declines !== declines) return snapshot.declines > declines ? reported : before
  return rank[reported] > rank[before] ? reported : before
}
