import assert from 'node:assert/strict'
import * as ledger from '../../ledger/transfers.ts'
import { isDelivered } from '../../orders/states.ts'
import { follow, lostOf, saleOf } from './by-money.ts'
import { type Effects, type PaymentRecord, type TryMove, moneyOf } from './payment-record.ts'
import type { DisputeFact, PaymentSnapshot, RefundFact } from '../../processors/processor.ts'

/**
 * What a refund means for an order. Each refund of the processor's is booked once, whoever asked for it and however it is told;
 * one that has failed is final, and takes back what was booked for it.
 */
export function decideRefund(
  known: PaymentRecord,
  refund: RefundFact,
  { refunds: told }: PaymentSnapshot,
  effects: Effects,
  move: TryMove,
): void {
  const before = known.refunds.find(({ id }) => id === refund.id)
  const missing = missingOf(known, refund)
  const failed = refund.state === 'failed'
  if (before && (before.state === 'failed' || !failed)) return
  const sameKey = (key: string | undefined) => refund.key !== undefined && key === refund.key
  // an adapter may have asked anew after a failure: our row is then for the try that did it
  const replaced = failed && told.some((one) => sameKey(one.key) && one.id !== refund.id && one.state !== 'failed')
  const asked = replaced ? undefined : known.refunds.find(({ id, key }) => id === null && sameKey(key))

  if (!failed) bookRefund(known, refund, effects, move, asked !== undefined)
  else {
    if (before) takeBack(known, refund, effects, move)
    // what we had given up ourselves was told then
    if (!replaced && asked?.state !== 'failed') tellFailure(known, refund, effects, before !== undefined)
  }

  const row = before ?? asked
  const { id, captureId, amountMinor } = refund
  const state = failed ? 'failed' : 'succeeded'
  if (row) Object.assign(row, { id, amountMinor, state })
  else known.refunds.push({ id, key: '', amountMinor, captureId, state })
  bookMissing(known, refund, missing, moneyOf(known, 'refund', id), effects)
  effects.refunds.push({ ...refund, row: asked?.key })
}

function bookRefund(known: PaymentRecord, refund: RefundFact, effects: Effects, move: TryMove, byApi: boolean): void {
  const { purpose, currency } = captureOf(known, refund)
  const { amountMinor } = refund
  const money = { ...moneyOf(known, 'refund', refund.id), amountMinor, currency }
  if (purpose !== 'sale') {
    effects.transfers.push(...ledger.returnedTransfers(money))
    const what = purpose === 'duplicate' ? 'duplicate_refunded' : 'payment_returned'
    effects.timeline.push(what)
    effects.mails.push({ kind: what, amountMinor, currency })
    return
  }
  effects.transfers.push(...ledger.refundTransfers({ ...money, ...returnedOf(known) }))
  known.refundedMinor += amountMinor
  effects.refundedMinor = known.refundedMinor
  const whole = known.refundedMinor === known.amountMinor
  // told also where a dispute keeps the order in its state: the money has moved
  effects.timeline.push(whole ? 'refunded' : 'partially_refunded')
  const wasRest = follow(known, 'refund', move) && known.state === 'charged_back'
  if (wasRest) effects.timeline.push('charged_back')
  const news = { amountMinor, refundedMinor: known.refundedMinor, ...(wasRest && { wasRest }) }
  effects.mails.push({ kind: 'refunded', ...news }, { kind: 'seller_refunded', ...news, byApi })
}

/** The entries of a refund that failed after it was booked, and the order as it would be without it. */
function takeBack(known: PaymentRecord, refund: RefundFact, effects: Effects, move: TryMove): void {
  const { purpose, currency } = captureOf(known, refund)
  const money = { ...moneyOf(known, 'refund', refund.id), amountMinor: refund.amountMinor, currency }
  if (purpose !== 'sale') {
    effects.transfers.push(...ledger.returnFailedTransfers(money))
    return
  }
  effects.transfers.push(...ledger.refundFailedTransfers({ ...money, ...returnedOf(known) }))
  known.refundedMinor -= refund.amountMinor
  effects.refundedMinor = known.refundedMinor
  follow(known, 'unrefund', move)
}

function tellFailure(known: PaymentRecord, refund: RefundFact, effects: Effects, wasTold: boolean): void {
  const { purpose, currency } = captureOf(known, refund)
  const { amountMinor } = refund
  if (purpose !== 'sale') {
    effects.mails.push({ kind: 'seller_return_failed', amountMinor, currency })
    return
  }
  effects.timeline.push('refund_failed')
  effects.mails.push({ kind: 'seller_refund_failed', amountMinor })
  if (wasTold) effects.mails.push({ kind: 'refund_failed', amountMinor })
}

/** What a dispute means for an order: the money is out of reach at once, and back or gone when the bank has decided. */
export function decideDispute(known: PaymentRecord, dispute: DisputeFact, effects: Effects, move: TryMove): void {
  const before = known.disputes.find(({ id }) => id === dispute.id)
  if (before?.state === 'lost' && dispute.state === 'lost') return decideReturn(known, before, dispute, effects, move)
  if (before && (before.state === dispute.state || before.state !== 'open')) return
  const { purpose, currency } = captureOf(known, dispute)
  const { id, captureId, state } = dispute
  // what was held is what ends, whatever amount comes with the end
  const amountMinor = before?.amountMinor ?? dispute.amountMinor
  // all of it, where the processor does not say that some came back
  const lostMinor = state === 'lost' ? Math.min(amountMinor, dispute.lostMinor ?? dispute.amountMinor) : 0
  const missing = missingOf(known, dispute)
  // money that paid for nothing can be disputed too: that is no reason to take the files away
  const ofSale = purpose === 'sale'
  const money = { ...moneyOf(known, 'dispute', id), amountMinor, currency, ofSale }
  const news = { amountMinor, currency }
  if (!before) {
    effects.transfers.push(...ledger.disputeHeld(money))
    const moved = ofSale && move('dispute')
    if (moved) effects.timeline.push('disputed')
    // where it is decided already, that is the news
    if (state === 'open') {
      if (moved) effects.mails.push({ kind: 'disputed', ...news })
      effects.mails.push({ kind: 'seller_disputed', ...news })
    }
  }
  if (state === 'won') effects.transfers.push(...ledger.disputeWon(money))
  if (state === 'lost') effects.transfers.push(...ledger.disputeLost({ ...money, lostMinor, ...returnedOf(known) }))
  const now = { id, captureId, amountMinor, state, lostMinor }
  if (before) Object.assign(before, now)
  else known.disputes.push(now)
  const missingMinor = bookMissing(known, dispute, missing, money, effects)
  const files = ofSale && state !== 'open' ? moveOn(known, now, effects, move) : undefined
  if (state === 'won') effects.mails.push({ kind: 'seller_dispute_won', ...news })
  if (state === 'lost') {
    const releasedMinor = amountMinor - lostMinor
    const more = ofSale ? { refundedMinor: known.refundedMinor, ...(files && { files }) } : { missingMinor }
    effects.mails.push({ kind: 'seller_dispute_lost', amountMinor: lostMinor, currency, releasedMinor, ...more })
  }
  effects.disputes.push({ ...dispute, amountMinor, lostMinor: state === 'lost' ? lostMinor : undefined })
}

/**
 * What comes back of a dispute after it was lost. It only becomes less that is lost, so what is told late, twice or out of order
 * changes nothing.
 */
function decideReturn(
  known: PaymentRecord,
  before: PaymentRecord['disputes'][number],
  { lostMinor = before.lostMinor }: DisputeFact,
  effects: Effects,
  move: TryMove,
): void {
  if (lostMinor >= before.lostMinor) return
  const { purpose, currency } = captureOf(known, before)
  const { id, captureId, amountMinor, state } = before
  const ofSale = purpose === 'sale'
  const backMinor = before.lostMinor - lostMinor
  // it can come in parts: what is lost then tells them apart
  const money = { ...moneyOf(known, 'dispute', `${id}:${lostMinor}`), amountMinor: backMinor, currency, ofSale }
  effects.transfers.push(...ledger.disputeReturned({ ...money, ...returnedOf(known) }))
  const missing = missingOf(known, before)
  before.lostMinor = lostMinor
  bookMissing(known, before, missing, money, effects)
  effects.disputes.push({ id, captureId, amountMinor, state, lostMinor })
  effects.mails.push({ kind: 'seller_dispute_returned', amountMinor: backMinor, currency })
  const hadFiles = isDelivered(known.state)
  if (!ofSale || !follow(known, 'unlose', move) || !isDelivered(known.state)) return
  effects.timeline.push('dispute_won')
  // where a part was lost, the files were there all the time
  if (!hadFiles) effects.mails.push({ kind: 'dispute_won', amountMinor, currency })
}

/**
 * The order when a dispute has ended: how much of the money is gone decides, and not what the bank calls it. Says what becomes
 * of the files where only a part is gone.
 */
function moveOn(
  known: PaymentRecord,
  { amountMinor, lostMinor }: PaymentRecord['disputes'][number],
  effects: Effects,
  move: TryMove,
): 'stay' | 'on_hold' | undefined {
  const { currency } = known
  if (lostMinor === 0) {
    if (!follow(known, 'win', move)) return undefined
    effects.timeline.push('dispute_won')
    effects.mails.push({ kind: 'dispute_won', amountMinor, currency })
    return undefined
  }
  const moved = follow(known, 'lose', move)
  const news = { kind: 'dispute_lost', amountMinor: lostMinor, currency } as const
  if (known.state === 'charged_back' || known.state === 'refunded') {
    if (!moved) return undefined
    effects.timeline.push('charged_back')
    effects.mails.push(news)
    return undefined
  }
  // told also where another dispute keeps the order in its state: the money has moved
  const files = isDelivered(known.state) ? 'stay' : 'on_hold'
  effects.timeline.push('partially_charged_back')
  effects.mails.push({ ...news, files })
  return files
}

/** Of money that paid for nothing: what has left beyond it, when it was sent back and a bank took it all the same. */
function missingOf(known: PaymentRecord, about: { captureId: string }): number {
  const { id, purpose, amountMinor } = captureOf(known, about)
  if (purpose === 'sale') return 0
  const refundedMinor = known.refunds
    .filter(({ captureId, state }) => captureId === id && state === 'succeeded')
    .reduce((sum, one) => sum + one.amountMinor, 0)
  return Math.max(0, refundedMinor + lostOf(known, id) - amountMinor)
}

/** Nobody is owed that money any more, so the seller whose account it left is the one who lacks it. */
function bookMissing(
  known: PaymentRecord,
  about: { captureId: string },
  beforeMinor: number,
  by: ReturnType<typeof moneyOf>,
  effects: Effects,
): number {
  const { currency } = captureOf(known, about)
  const amountMinor = missingOf(known, about) - beforeMinor
  const { cause, orderId, sellerId, processor } = by
  effects.transfers.push(...ledger.heldLoss({ cause, orderId, sellerId, processor, amountMinor, currency }))
  return amountMinor
}

/** The money that a refund or dispute is about. */
function captureOf(known: PaymentRecord, { captureId }: { captureId: string }): PaymentRecord['captures'][number] {
  const capture = known.captures.find(({ id }) => id === captureId)
  assert(capture, 'a refund or dispute of a capture that the same snapshot does not have')
  return capture
}

/** What of the sale is with the buyer again. */
function returnedOf(known: PaymentRecord) {
  const returnedBeforeMinor = known.refundedMinor + lostOf(known, saleOf(known)?.id)
  return { saleMinor: known.amountMinor, feeMinor: known.feeMinor, returnedBeforeMinor }
}
