import * as ledger from '../../ledger/transfers.ts'
import { isDelivered } from '../../orders/states.ts'
import { addDocument, bookMissing, captureOf, missingOf, returnedOf } from './captured-money.ts'
import { type Draft, type PaymentRecord, entryFor } from './payment-record.ts'
import { moveByMoney } from './state-by-money.ts'
import type { DisputeFact } from '../../processors/processor.ts'

type DisputeRow = PaymentRecord['disputes'][number]

/** Decides what a dispute means for an order. The money is out of reach at once. The bank's decision gives it back or takes it. */
export function decideDispute(draft: Draft, dispute: DisputeFact): void {
  const { record, effects } = draft
  const before = record.disputes.find(({ id }) => id === dispute.id)
  if (before?.state === 'lost' && dispute.state === 'lost') return decideReturn(draft, before, dispute)
  if (before?.state === 'open' && dispute.state === 'open') return decideDeadline(draft, before, dispute)
  if (before && (before.state === dispute.state || before.state !== 'open')) return
  const { purpose, currency } = captureOf(record, dispute)
  const { id, captureId, state, respondBy } = dispute
  // the dispute ends with the amount that was held, whatever amount comes with the end
  const amountMinor = before?.amountMinor ?? dispute.amountMinor
  // all of it is lost unless the processor says that a part came back
  const lostMinor = state === 'lost' ? Math.min(amountMinor, dispute.lostMinor ?? dispute.amountMinor) : 0
  const missingBeforeMinor = missingOf(record, dispute)
  // a buyer can also dispute a duplicate or a mismatch: then the buyer keeps the files
  const ofSale = purpose === 'sale'
  const entry = { ...entryFor(record, 'dispute', id), amountMinor, currency, ofSale }
  if (!before) openDispute(draft, entry, state)
  if (state === 'won') effects.transfers.push(...ledger.disputeWon(entry))
  if (state === 'lost' && ofSale) addDocument(draft, 'chargeback', { ...entry, amountMinor: lostMinor })
  if (state === 'lost') effects.transfers.push(...ledger.disputeLost({ ...entry, lostMinor, ...returnedOf(record) }))
  const now = { id, captureId, amountMinor, state, lostMinor, ...(respondBy && { respondBy }) }
  if (before) Object.assign(before, now)
  else record.disputes.push(now)
  const missingMinor = bookMissing(draft, dispute, missingBeforeMinor, entry)
  const files = ofSale && state !== 'open' ? moveAfterEnd(draft, now) : undefined
  if (state === 'won') effects.mails.push({ kind: 'seller_dispute_won', amountMinor, currency })
  if (state === 'lost') {
    const releasedMinor = amountMinor - lostMinor
    const more = ofSale ? { refundedMinor: record.refundedMinor, ...(files && { files }) } : { missingMinor }
    effects.mails.push({ kind: 'seller_dispute_lost', amountMinor: lostMinor, currency, releasedMinor, ...more })
  }
  effects.disputes.push({ ...dispute, amountMinor, lostMinor: state === 'lost' ? lostMinor : undefined })
}

/** The bank can name the deadline later, or move it. */
function decideDeadline({ effects }: Draft, before: DisputeRow, dispute: DisputeFact): void {
  const { respondBy } = dispute
  if (!respondBy || (before.respondBy && Date.parse(before.respondBy) === Date.parse(respondBy))) return
  before.respondBy = respondBy
  effects.disputes.push({ ...dispute, amountMinor: before.amountMinor })
}

function openDispute(
  { effects, move }: Draft,
  entry: Parameters<typeof ledger.disputeHeld>[0],
  state: DisputeFact['state'],
): void {
  const { amountMinor, currency, ofSale } = entry
  effects.transfers.push(...ledger.disputeHeld(entry))
  const moved = ofSale && move('dispute')
  if (moved) effects.timeline.push('disputed')
  // when the first news is the bank's decision, the mails about the decision are enough
  if (state !== 'open') return
  if (moved) effects.mails.push({ kind: 'disputed', amountMinor, currency })
  effects.mails.push({ kind: 'seller_disputed', amountMinor, currency })
}

/**
 * Books money of a lost dispute that comes back. The lost amount can only shrink, so reports that are late, repeated or out of order
 * change nothing.
 */
function decideReturn(draft: Draft, before: DisputeRow, { lostMinor = before.lostMinor }: DisputeFact): void {
  const { record, effects } = draft
  if (lostMinor >= before.lostMinor) return
  const { purpose, currency } = captureOf(record, before)
  const { id, captureId, amountMinor, state } = before
  const ofSale = purpose === 'sale'
  const backMinor = before.lostMinor - lostMinor
  // the money can come back in parts: the amount that is still lost gives each part its own cause
  const entry = { ...entryFor(record, 'dispute', `${id}:${lostMinor}`), amountMinor: backMinor, currency, ofSale }
  if (ofSale) addDocument(draft, 'returned', entry)
  effects.transfers.push(...ledger.disputeReturned({ ...entry, ...returnedOf(record) }))
  const missingBeforeMinor = missingOf(record, before)
  before.lostMinor = lostMinor
  bookMissing(draft, before, missingBeforeMinor, entry)
  effects.disputes.push({ id, captureId, amountMinor, state, lostMinor })
  effects.mails.push({ kind: 'seller_dispute_returned', amountMinor: backMinor, currency })
  const hadFiles = isDelivered(record.state)
  if (!ofSale || !moveByMoney(draft, 'unlose') || !isDelivered(record.state)) return
  effects.timeline.push('dispute_won')
  // after the loss of a part the buyer had the files all the time
  if (!hadFiles) effects.mails.push({ kind: 'dispute_won', amountMinor, currency })
}

/**
 * Moves the order after a dispute has ended. The amount that is gone decides, not the bank's name for the outcome. Returns what
 * happens to the files when only a part is gone.
 */
function moveAfterEnd(draft: Draft, { id, amountMinor, lostMinor }: DisputeRow): 'stay' | 'on_hold' | undefined {
  const { record, effects } = draft
  const { currency } = record
  if (lostMinor === 0) {
    if (!moveByMoney(draft, 'win')) return undefined
    effects.timeline.push('dispute_won')
    effects.mails.push({ kind: 'dispute_won', amountMinor, currency })
    return undefined
  }
  const moved = moveByMoney(draft, 'lose')
  const { cause } = entryFor(record, 'dispute', id)
  const mail = { kind: 'dispute_lost', amountMinor: lostMinor, currency, cause } as const
  if (record.state === 'charged_back' || record.state === 'refunded') {
    if (!moved) return undefined
    effects.timeline.push('charged_back')
    effects.mails.push(mail)
    return undefined
  }
  // the buyer gets a mail also when another dispute keeps the order in its state, because the money has moved
  const files = isDelivered(record.state) ? 'stay' : 'on_hold'
  effects.timeline.push('partially_charged_back')
  if (!moved) effects.events.push({ type: 'order.partially_refunded' })
  effects.mails.push({ ...mail, files })
  return files
}
