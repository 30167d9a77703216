import { type BatchOptions, batched } from '../../kit/batch.ts'
import { type Change, type Db, type Tx, changeTogether, inTransaction, isDatabaseOutage } from '../../kit/database.ts'
import { newId } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { issueInvoices } from '../../invoices/issue.ts'
import { postings } from '../../ledger/post.ts'
import { type Transfer } from '../../ledger/transfers.ts'
import {
  inTimelines,
  lookWhileDisputed,
  moveOrders,
  noteRefunded,
  recordOrderEvents,
  waitForBank,
  waitAfterLateNo,
} from '../../orders/move.ts'
import { renewHolds } from '../../orders/discounts/uses.ts'
import { recordSales } from '../../orders/sale-mails.ts'
import { accountOf } from '../../processors/connected.ts'
import { decide } from './decide.ts'
import type { Fact, Outcome } from './fact.ts'
import { endUsesWithoutMoney } from './held-money.ts'
import { type Effects, type PaymentRecord, withOrderOf } from './payment-record.ts'
import { findTooEarly, keyOf, lockRecords } from './records.ts'
import * as rows from './rows.ts'

export type Settle = (fact: Fact, options?: BatchOptions) => Promise<Outcome>

export interface SettleOptions {
  bankTtlHours: number
  /** Hears of the changed orders after the commit. */
  onSettled?: (orderIds: readonly string[]) => void
}

/** Facts that no buyer waits for gather this long. Processors wait five seconds or more for an answer. */
const GATHER_MS = 100

/**
 * Makes `settle`, the one function that turns what a processor says into states and entries of the ledger. Notifications, sync=1, the
 * backfill, the reconciler and the refund jobs all call it. In one transaction it locks the orders, checks that we started the payments for
 * them, decides what is new, and writes all of it: the order's state, captures, refunds, disputes, the ledger, the timeline, the
 * notification's id, and the mails and refunds to send. Facts that arrive together share that transaction.
 */
export function settler(db: Db, jobs: Jobs, { bankTtlHours, onSettled }: SettleOptions): Settle {
  const settle = async (facts: readonly Fact[]) => {
    const { outcomes, changed } = await inTransaction(db, (tx) => settleAll(tx, jobs, bankTtlHours, facts))
    onSettled?.(changed)
    return outcomes
  }
  return batched(settle, { most: 32, atOnce: 2, gatherMs: GATHER_MS, isOutage: isDatabaseOutage })
}

async function settleAll(tx: Tx, jobs: Jobs, bankTtlHours: number, facts: readonly Fact[]) {
  const records = await lockRecords(tx, facts)
  const { decisions, outcomes } = decideAll(records, facts)
  await findTooEarly(tx, facts, outcomes)
  const returns = each(
    decisions,
    ({ returns }) => returns,
    (one, { processor, orderId }) => ({ id: newId('ref'), processor, orderId, ...one }),
  )
  await writeRows(tx, decisions, rows.newEvents(facts, outcomes))
  await rows.writeReturns(tx, returns)
  await writeRefundsAndDisputes(tx, decisions)
  // after the payments and disputes, because the events show the orders with them
  await writeOrders(tx, decisions, bankTtlHours)
  await addJobs(tx, jobs, decisions, returns)
  const documents = each(
    decisions.filter(({ next }) => next.hasInvoices),
    (effects) => effects.documents,
    (one, { orderId }) => ({ orderId, ...one }),
  )
  // at the end, because it locks the numbers of the sellers until the commit
  await issueInvoices(tx, documents)
  return { outcomes, changed: orderIdsWhere(decisions, (effects) => !isNothing(effects)) }
}

type Decision = ReturnType<typeof decide>

function decideAll(records: Map<string, PaymentRecord>, facts: readonly Fact[]) {
  const decisions: Decision[] = []
  const outcomes = facts.map(({ processor, payment }): Outcome => {
    const key = keyOf(processor, payment.processorPaymentId)
    const record = records.get(key)
    if (!record) return 'unknown_payment'
    const decision = decide(record, payment)
    // the next fact about this payment is decided on the record that this fact leaves, and so is one about another payment of the order
    records.set(key, decision.next)
    for (const [other, beside] of records)
      if (other !== key && beside.orderId === record.orderId) records.set(other, withOrderOf(beside, decision.next))
    decisions.push(decision)
    return isNothing(decision.effects) ? 'repeat' : 'applied'
  })
  return { decisions, outcomes }
}

/** Makes one item of each effect that `pick` finds, together with the record of its order. */
const each = <T, R>(
  decisions: readonly Decision[],
  pick: (effects: Effects) => readonly T[],
  make: (effect: T, record: PaymentRecord) => R,
): R[] => decisions.flatMap(({ next, effects }) => pick(effects).map((effect) => make(effect, next)))

const orderIdsWhere = (decisions: readonly Decision[], holds: (effects: Effects) => boolean): string[] =>
  decisions.filter(({ effects }) => holds(effects)).map(({ next }) => next.orderId)

async function writeOrders(tx: Tx, decisions: readonly Decision[], bankTtlHours: number): Promise<void> {
  // of several facts about an order the last total holds
  const totals = new Map<string, number>()
  for (const { next, effects } of decisions)
    if (effects.refundedMinor !== undefined) totals.set(next.orderId, effects.refundedMinor)
  const moves = each(
    decisions,
    ({ moves }) => moves,
    (move, { orderId, refundedMinor }) => ({ orderId, ...move, refundedMinor }),
  )
  await moveOrders(tx, moves)
  const refunded = Array.from(totals, ([orderId, refundedMinor]) => ({ orderId, refundedMinor }))
  await noteRefunded(tx, refunded)
  const events = each(
    decisions,
    (effects) => effects.events,
    (event, { orderId }) => ({ orderId, ...event }),
  )
  await recordOrderEvents(tx, events)
  const waiting = orderIdsWhere(decisions, ({ waitsForBank }) => waitsForBank)
  await waitForBank(tx, waiting, bankTtlHours)
  // the bank declined or is at work: either way the order keeps its use of a discount code for the full time again
  const unpaid = orderIdsWhere(decisions, ({ payment }) => payment?.state === 'open' || payment?.state === 'processing')
  await renewHolds(tx, unpaid)
  const failed = orderIdsWhere(decisions, ({ failsLate }) => failsLate)
  await waitAfterLateNo(tx, failed)
  // a dispute can be open in a state that has no move for it, and a refund of all or the loss of another dispute can end it
  const changed = orderIdsWhere(decisions, (effects) => effects.disputes.length + effects.refunds.length > 0)
  await lookWhileDisputed(tx, changed)
  // a refund or a lost dispute can take the last of the money that waits for the operator's decision
  await endUsesWithoutMoney(tx, changed)
}

async function writeRows(tx: Tx, decisions: readonly Decision[], newEvents: Change): Promise<void> {
  const changedPayments = each(
    decisions,
    ({ payment }) => (payment ? [payment] : []),
    (one, { paymentId }) => ({ paymentId, ...one }),
  )
  const captures = each(
    decisions,
    (effects) => effects.captures,
    (one, { processor, paymentId, orderId }) => ({ processor, paymentId, orderId, ...one }),
  )
  const timeline = each(
    decisions,
    (effects) => effects.timeline,
    (what, { orderId }) => ({ orderId, what }),
  )
  const transfers = decisions.flatMap(({ effects }) => effects.transfers)
  const sales = decisions
    .filter(({ effects }) => isSaleForMail(effects))
    .map(({ next }) => ({ ...next, isFree: false }))
  await changeTogether(tx, [
    newEvents,
    rows.changedPayments(changedPayments),
    rows.newCaptures(captures),
    inTimelines(timeline),
    postings(transfers),
    recordSales(sales),
  ])
}

async function writeRefundsAndDisputes(tx: Tx, decisions: readonly Decision[]): Promise<void> {
  const refunds = each(
    decisions,
    (effects) => effects.refunds,
    (one, { processor, orderId }) => ({ newId: newId('ref'), processor, orderId, ...one }),
  )
  const disputes = each(
    decisions,
    (effects) => effects.disputes,
    (one, { processor, orderId }) => ({ processor, orderId, ...one }),
  )
  await rows.writeRefunds(tx, refunds)
  await rows.writeDisputes(tx, disputes)
  const transfers = each(
    decisions,
    (effects) => effects.transfersAt,
    (one, { processor, orderId }) => ({ ...one, processor, orderId }),
  )
  await rows.writeTransfers(tx, transfers)
  await rows.writePasses(tx, passesOf(decisions))
}

const passesOf = (decisions: readonly Decision[]) =>
  each(
    decisions,
    ({ pass }) => (pass ? [pass] : []),
    (one, { orderId }) => ({ ...one, orderId }),
  )

async function addJobs(
  tx: Tx,
  jobs: Jobs,
  decisions: readonly Decision[],
  returns: readonly { id: string }[],
): Promise<void> {
  const mails = each(
    decisions,
    (effects) => effects.mails,
    (mail, { orderId }) => ({ data: { orderId, ...mail } }),
  )
  const closing = decisions
    .filter(({ effects }) => effects.closes)
    .map(({ next: { processor, processorPaymentId } }) => ({ data: { processor, processorPaymentId } }))
  const refunds = returns.map(({ id }) => ({ data: { refundId: id } }))
  const fees = decisions
    .filter(({ effects, next }) => accountOf(next.processor) && effects.transfers.some(isFeeBack))
    .map(({ next: { orderId } }) => ({ data: { orderId } }))
  await jobs.add(tx, 'mail', mails)
  await jobs.add(tx, 'close_payment', closing)
  await jobs.add(tx, 'refund', refunds)
  await jobs.add(tx, 'return_fee', fees)
  const over = passesOf(decisions).filter(({ dueMinor, passedMinor }) => passedMinor > dueMinor)
  await jobs.add(
    tx,
    'take_back',
    over.map(({ orderId }) => ({ data: { orderId } })),
  )
}

/**
 * At a seller's connected account the processor has taken our fee, so a returned fee has to go back there: a part with a sale's
 * money, and all of it with money that paid for nothing.
 */
const isFeeBack = ({ kind }: Transfer): boolean => FEE_BACK.has(kind)
const FEE_BACK: ReadonlySet<Transfer['kind']> = new Set(['fee_refund', 'returned', 'dispute_loss'])

/** Sales for the seller's sale mails. A late sale has a mail of its own. */
const isSaleForMail = ({ moves, mails }: Effects): boolean =>
  moves.some(({ move }) => move === 'pay') && !mails.some(({ kind }) => kind === 'seller_paid_late')

const isNothing = ({
  moves,
  payment,
  captures,
  refunds,
  disputes,
  transfersAt,
  timeline,
  transfers,
}: Effects): boolean =>
  !payment && [moves, captures, refunds, disputes, transfersAt, timeline, transfers].every((list) => list.length === 0)
