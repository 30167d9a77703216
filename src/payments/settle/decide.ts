import assert from 'node:assert/strict'
import * as ledger from '../../ledger/transfers.ts'
import { stateAfter } from '../../orders/states.ts'
import { SLOW_RAILS } from '../../processors/rails.ts'
import {
  type CapturePurpose,
  type Effects,
  type PaymentRecord,
  MOST_DECLINES,
  type TryMove,
  moneyOf,
} from './payment-record.ts'
import { decideDispute, decideRefund } from './refunds-and-disputes.ts'
import type { Capture, PaymentSnapshot, RefundFact } from '../../processors/processor.ts'

export type { PaymentRecord } from './payment-record.ts'

const none = (): Effects => ({
  moves: [],
  captures: [],
  refunds: [],
  returns: [],
  disputes: [],
  timeline: [],
  transfers: [],
  mails: [],
  waitsForBank: false,
  closes: false,
})

/**
 * What a snapshot means for an order: pure, so every order and repetition of a processor's notifications can be tried. `known`
 * is brought up to date as it goes. Facts we know already change nothing; a fact that the order's state has no room for is
 * recorded all the same, because the money has moved.
 */
export function decide(known: PaymentRecord, snapshot: PaymentSnapshot): Effects {
  const effects = none()
  const move: TryMove = (name, more = {}) => {
    const to = stateAfter(known.state, name)
    if (!to) return false
    known.state = to
    effects.moves.push({ move: name, to, ...more })
    return true
  }

  // an attempt that is over without money would let the buyer pay a second time
  assert(snapshot.state !== 'captured' || snapshot.captures.length > 0, 'captured, and no capture')
  if (snapshot.declines > known.declines) effects.timeline.push('payment_declined')
  const { paymentState, declines } = known
  known.paymentState = laterState(known, snapshot)
  known.declines = Math.max(known.declines, snapshot.declines)
  // the buyer has left, since the bank needed time: nobody else would say that nothing was paid
  const failedLate = paymentState === 'processing' && isUnpaid(known.paymentState) && snapshot.captures.length === 0
  if (failedLate && WAITS.has(known.state)) effects.mails.push({ kind: 'payment_failed' })
  // what a bank was at work on before it said no is old news
  if (known.paymentState === 'processing' && move('process')) {
    effects.timeline.push('payment_processing')
    effects.waitsForBank = snapshot.rail !== undefined && SLOW_RAILS.has(snapshot.rail)
  }
  if (known.paymentState === 'open' && snapshot.takesDays) effects.waitsForBank = true
  const isTriedOut = (tries: number, state: PaymentRecord['paymentState']) => tries >= MOST_DECLINES && state === 'open'
  effects.closes = isTriedOut(known.declines, known.paymentState) && !isTriedOut(declines, paymentState)
  if (known.paymentState !== paymentState || known.declines !== declines)
    effects.payment = { state: known.paymentState, declines: known.declines }

  for (const capture of snapshot.captures)
    if (!known.captures.some(({ id }) => id === capture.id)) decideCapture(known, capture, snapshot, effects, move)
  // what came back first: what went out since then may be the same money once more
  const isFailed = ({ state }: RefundFact) => state === 'failed'
  for (const refund of [...snapshot.refunds.filter(isFailed), ...snapshot.refunds.filter((one) => !isFailed(one))])
    decideRefund(known, refund, snapshot, effects, move)
  for (const dispute of snapshot.disputes) decideDispute(known, dispute, effects, move)
  return effects
}

const isUnpaid = (state: PaymentRecord['paymentState']): boolean => state === 'open' || state === 'canceled'
/** Of the order: not paid, and it can be. */
const WAITS: ReadonlySet<PaymentRecord['state']> = new Set(['pending', 'processing'])

function decideCapture(
  known: PaymentRecord,
  capture: Capture,
  snapshot: PaymentSnapshot,
  effects: Effects,
  move: TryMove,
): void {
  const sold = known.captures.some(({ purpose }) => purpose === 'sale')
  const fits = capture.amountMinor === known.amountMinor && capture.currency === known.currency
  const money = {
    ...moneyOf(known, 'capture', capture.id),
    amountMinor: capture.amountMinor,
    currency: capture.currency,
  }
  const late = known.state === 'expired'
  let purpose: CapturePurpose
  if (!sold && fits && move('pay', { rail: capture.rail, paidAt: capture.capturedAt })) {
    purpose = 'sale'
    effects.timeline.push('paid')
    effects.transfers.push(...ledger.saleTransfers({ ...money, feeMinor: known.feeMinor }))
    effects.mails.push({ kind: 'receipt', late })
    if (late) effects.mails.push({ kind: 'seller_paid_late' })
  } else if (sold) {
    purpose = 'duplicate'
    effects.transfers.push(...ledger.heldTransfers(money))
    const amountMinor = capture.amountMinor - sentBack(snapshot, capture.id)
    if (amountMinor > 0) effects.returns.push({ captureId: capture.id, amountMinor })
  } else {
    // another amount, another currency, or more money for an order that already waits for a person
    purpose = 'mismatch'
    effects.transfers.push(...ledger.heldTransfers(money))
    const news = { amountMinor: capture.amountMinor, currency: capture.currency }
    if (move('review')) {
      effects.timeline.push('needs_review')
      effects.mails.push({ kind: 'needs_review', ...news })
    }
    // each is somebody's money that waits
    effects.mails.push({ kind: 'seller_needs_review', ...news })
  }
  known.captures.push({ id: capture.id, purpose, amountMinor: capture.amountMinor, currency: capture.currency })
  effects.captures.push({ ...capture, purpose })
}

/** What of a capture has gone back already, whoever asked for it. */
const sentBack = ({ refunds }: PaymentSnapshot, captureId: string): number =>
  refunds
    .filter((one) => one.captureId === captureId && one.state !== 'failed')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0)

/**
 * Captured is for good, canceled nearly so (a late capture). Before that each "no" of the bank begins anew: the payment is open
 * again, and the buyer may try again; between two of them a bank that works on it is further than one that was not asked.
 */
function laterState(
  { paymentState: known, declines }: Pick<PaymentRecord, 'paymentState' | 'declines'>,
  { state: told, ...snapshot }: PaymentSnapshot,
): PaymentRecord['paymentState'] {
  const rank = { open: 0, processing: 1, canceled: 2, captured: 3 }
  const bothLive = rank[known] < rank.canceled && rank[told] < rank.canceled
  if (bothLive && snapshot.declines !== declines) return snapshot.declines > declines ? told : known
  return rank[told] > rank[known] ? told : known
}
