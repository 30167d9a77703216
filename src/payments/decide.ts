import assert from 'node:assert/strict'
import * as ledger from '../ledger/transfers.ts'
import { type Move, type Rail, SLOW_RAILS, type State, stateAfter } from '../orders/states.ts'
import type { Capture, DisputeFact, PaymentSnapshot, RefundFact } from './processor.ts'

/** What we know of an order and one of its payments, locked while we decide. */
export interface Known {
  orderId: string
  sellerId: string
  state: State
  amountMinor: number
  currency: string
  feeMinor: number
  refundedMinor: number
  paymentId: string
  processor: string
  processorPaymentId: string
  paymentState: PaymentSnapshot['state']
  declines: number
  captures: { id: string; purpose: CapturePurpose; amountMinor: number; currency: string }[]
  /** Refunds we asked for have our id, and the processor's once it has told us. */
  refunds: {
    id: string | null
    key: string
    amountMinor: number
    captureId: string
    state: 'requested' | 'succeeded'
  }[]
  disputes: { id: string; captureId: string; amountMinor: number; state: DisputeFact['state'] }[]
}
export type CapturePurpose = 'sale' | 'duplicate' | 'mismatch'

/** What follows from a snapshot: rows to write, in the words of the tables. */
export interface Effects {
  moves: { move: Move; to: State; rail?: Rail; paidAt?: string }[]
  /** The order's new total, where something was refunded. */
  refundedMinor?: number
  payment?: { state: PaymentSnapshot['state']; declines: number }
  captures: (Capture & { purpose: CapturePurpose })[]
  refunds: RefundFact[]
  /** Money to send back at once. */
  returns: { captureId: string; amountMinor: number }[]
  disputes: DisputeFact[]
  timeline: string[]
  transfers: ledger.Transfer[]
  mails: ('receipt' | 'duplicate_refunded' | 'refunded' | 'disputed')[]
  /** The buyer's bank needs days: the order waits that long. */
  waitsForBank: boolean
}

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
})

/**
 * What a snapshot means for an order: pure, so every order and repetition of a processor's notifications can be tried. `known`
 * is brought up to date as it goes. Facts we know already change nothing; a fact that the order's state has no room for is
 * recorded all the same, because the money has moved.
 */
export function decide(known: Known, snapshot: PaymentSnapshot): Effects {
  const effects = none()
  const move = (name: Move, more: Omit<Effects['moves'][number], 'move' | 'to'> = {}): boolean => {
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
  // what a bank was at work on before it said no is old news
  if (known.paymentState === 'processing' && move('process')) {
    effects.timeline.push('payment_processing')
    effects.waitsForBank = snapshot.rail !== undefined && SLOW_RAILS.has(snapshot.rail)
  }
  if (known.paymentState !== paymentState || known.declines !== declines)
    effects.payment = { state: known.paymentState, declines: known.declines }

  for (const capture of snapshot.captures)
    if (!known.captures.some(({ id }) => id === capture.id)) decideCapture(known, capture, snapshot, effects, move)
  for (const refund of snapshot.refunds) decideRefund(known, refund, effects, move)
  for (const dispute of snapshot.disputes) decideDispute(known, dispute, effects, move)
  return effects
}

type TryMove = (name: Move, more?: Omit<Effects['moves'][number], 'move' | 'to'>) => boolean

function decideCapture(
  known: Known,
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
  let purpose: CapturePurpose
  if (!sold && fits && move('pay', { rail: capture.rail, paidAt: capture.capturedAt })) {
    purpose = 'sale'
    effects.timeline.push('paid')
    effects.transfers.push(...ledger.saleTransfers({ ...money, feeMinor: known.feeMinor }))
    effects.mails.push('receipt')
  } else if (sold) {
    purpose = 'duplicate'
    effects.transfers.push(...ledger.heldTransfers(money))
    const amountMinor = capture.amountMinor - sentBack(snapshot, capture.id)
    if (amountMinor > 0) effects.returns.push({ captureId: capture.id, amountMinor })
  } else {
    // another amount, another currency, or more money for an order that already waits for a person
    purpose = 'mismatch'
    effects.transfers.push(...ledger.heldTransfers(money))
    if (move('review')) effects.timeline.push('needs_review')
  }
  known.captures.push({ id: capture.id, purpose, amountMinor: capture.amountMinor, currency: capture.currency })
  effects.captures.push({ ...capture, purpose })
}

function decideRefund(known: Known, refund: RefundFact, effects: Effects, move: TryMove): void {
  const asked = known.refunds.find(
    (one) => one.id === refund.id || (refund.key !== undefined && one.key === refund.key),
  )
  if (asked?.state === 'succeeded') return
  const capture = captureOf(known, refund)
  const { currency } = capture
  const money = { ...moneyOf(known, 'refund', refund.id), amountMinor: refund.amountMinor, currency }
  if (capture.purpose !== 'sale') {
    effects.transfers.push(...ledger.returnedTransfers(money))
    if (capture.purpose === 'duplicate') {
      effects.timeline.push('duplicate_refunded')
      effects.mails.push('duplicate_refunded')
    }
  } else {
    effects.transfers.push(...ledger.refundTransfers({ ...money, ...returnedOf(known) }))
    known.refundedMinor += refund.amountMinor
    effects.refundedMinor = known.refundedMinor
    const whole = known.refundedMinor === known.amountMinor
    // told to the buyer also where a dispute keeps the order in its state: the money has moved
    move(whole ? 'refund_all' : 'refund_part')
    effects.timeline.push(whole ? 'refunded' : 'partially_refunded')
    effects.mails.push('refunded')
  }
  if (asked) Object.assign(asked, { id: refund.id, state: 'succeeded' })
  else
    known.refunds.push({
      id: refund.id,
      key: '',
      amountMinor: refund.amountMinor,
      captureId: refund.captureId,
      state: 'succeeded',
    })
  effects.refunds.push(refund)
}

function decideDispute(known: Known, dispute: DisputeFact, effects: Effects, move: TryMove): void {
  const before = known.disputes.find(({ id }) => id === dispute.id)
  if (before && (before.state === dispute.state || before.state !== 'open')) return
  const { purpose, currency } = captureOf(known, dispute)
  // money that paid for nothing can be disputed too: that is no reason to take the files away
  const ofSale = purpose === 'sale'
  const money = { ...moneyOf(known, 'dispute', dispute.id), amountMinor: dispute.amountMinor, currency, ofSale }
  if (!before) {
    effects.transfers.push(...ledger.disputeHeld(money))
    if (ofSale && move('dispute')) {
      effects.timeline.push('disputed')
      effects.mails.push('disputed')
    }
  }
  if (dispute.state === 'lost') {
    effects.transfers.push(...ledger.disputeLost({ ...money, ...returnedOf(known) }))
    if (ofSale && move('lose_dispute')) effects.timeline.push('charged_back')
  }
  if (before) before.state = dispute.state
  else {
    const { id, captureId, amountMinor, state } = dispute
    known.disputes.push({ id, captureId, amountMinor, state })
  }
  if (dispute.state === 'won') {
    effects.transfers.push(...ledger.disputeWon(money))
    const another = known.disputes.some(({ captureId, state }) => captureId === dispute.captureId && state === 'open')
    if (ofSale && !another && move(winningMove(known))) effects.timeline.push('dispute_won')
  }
  effects.disputes.push(dispute)
}

/** The money that a refund or dispute is about. */
function captureOf(known: Known, { captureId }: { captureId: string }): Known['captures'][number] {
  const capture = known.captures.find(({ id }) => id === captureId)
  assert(capture, 'a refund or dispute of a capture that the same snapshot does not have')
  return capture
}

/** What of a capture has gone back already, whoever asked for it. */
const sentBack = ({ refunds }: PaymentSnapshot, captureId: string): number =>
  refunds.filter((one) => one.captureId === captureId).reduce((sum, { amountMinor }) => sum + amountMinor, 0)

/**
 * Captured is for good, canceled nearly so (a late capture). Before that each "no" of the bank begins anew: the payment is open
 * again, and the buyer may try again; between two of them a bank that works on it is further than one that was not asked.
 */
function laterState(
  { paymentState: known, declines }: Pick<Known, 'paymentState' | 'declines'>,
  { state: told, ...snapshot }: PaymentSnapshot,
): Known['paymentState'] {
  const rank = { open: 0, processing: 1, canceled: 2, captured: 3 }
  const bothLive = rank[known] < rank.canceled && rank[told] < rank.canceled
  if (bothLive && snapshot.declines !== declines) return snapshot.declines > declines ? told : known
  return rank[told] > rank[known] ? told : known
}

/** A won dispute gives back what the order was before it. */
const winningMove = ({ refundedMinor }: Known): Move =>
  refundedMinor > 0 ? 'win_dispute_refunded_in_part' : 'win_dispute'

/** What of the sale is with the buyer again. */
function returnedOf(known: Known) {
  const sale = known.captures.find(({ purpose }) => purpose === 'sale')
  const lost = known.disputes
    .filter(({ captureId, state }) => captureId === sale?.id && state === 'lost')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  return { saleMinor: known.amountMinor, feeMinor: known.feeMinor, returnedBeforeMinor: known.refundedMinor + lost }
}

const moneyOf = (known: Known, what: string, id: string) => ({
  cause: `${known.processor}:${what}:${id}`,
  orderId: known.orderId,
  sellerId: known.sellerId,
  processor: known.processor,
})
