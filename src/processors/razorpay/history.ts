import type { MoneyMovement, ProcessorEvent } from '../processor.ts'
import { type Visit, unlessRefused } from './client.ts'
import {
  type Dispute,
  type Payment,
  type Refund,
  allOf,
  askPayment,
  disputeOf,
  paymentOf,
  refundOf,
} from './entities.ts'
import { isCaptured, isClaim, isSentBack, timeOf } from './snapshot.ts'

const DAY = 24 * 60 * 60
/** Banks are asked for up to five days after a payment had no answer. */
const LATE_PAYMENT_SECONDS = 6 * DAY
/** A refund takes five to seven working days. */
const LATE_REFUND_SECONDS = 14 * DAY
/** A dispute goes on for months, and there are few. */
const LATE_DISPUTE_SECONDS = 180 * DAY
/** The beginning of time: Razorpay refuses to be asked about earlier. */
const FIRST_SECOND = 946_684_800

/**
 * What has happened since, oldest first. Razorpay keeps no list of its notifications that could be read, so this is made from
 * the lists of payments, refunds and disputes. Those know when a thing was made and not when it changed: therefore they are
 * read from long enough before. The id names the thing and its state, so that what was told once has the same id again.
 */
export async function* eventsSince(visit: () => Visit, since: Date): AsyncGenerator<ProcessorEvent> {
  const before = (late: number) => Math.max(FIRST_SECOND, seconds(since) - late)
  const to = seconds(new Date())
  const payments = await allOf(visit, '/v1/payments', { from: before(LATE_PAYMENT_SECONDS), to }, paymentOf)
  const refunds = await allOf(visit, '/v1/refunds', { from: before(LATE_REFUND_SECONDS), to }, refundOf)
  const disputes = await disputesSince(visit, before(LATE_DISPUTE_SECONDS))
  const orders = new Map(payments.map(({ id, orderId }) => [id, orderId]))

  const happened = [
    // made and not answered yet is no news
    ...payments
      .filter(({ orderId, status }) => orderId !== undefined && status !== 'created')
      .map((one) => ({ ...one, type: `payment.${isCaptured(one) ? 'captured' : one.status}`, paymentId: one.id })),
    ...refunds.map((one) => ({ ...one, type: `refund.${one.status}` })),
    ...disputes.map((one) => ({ ...one, type: `payment.dispute.${one.status}` })),
  ].sort((a, b) => a.createdAt - b.createdAt)
  for (const { id, type, paymentId } of happened) {
    // who asks about a payment that is not in the list gets the order it belongs to
    const orderId = orders.get(paymentId)
    if (orderId || !orders.has(paymentId)) yield { id: `${id}:${type}`, type, paymentId: orderId ?? paymentId }
  }
}

/**
 * What was captured, sent back and disputed through orders: what snapshots tell, each by the day on which the payment, refund or
 * dispute was made, the one time that Razorpay tells. A dispute is what it claims; whether it was won is in the snapshot.
 */
export async function* movements(visit: () => Visit, from: Date, to: Date): AsyncGenerator<MoneyMovement> {
  const first = Math.max(FIRST_SECOND, Math.ceil(from.getTime() / 1000))
  const end = Math.ceil(to.getTime() / 1000)
  const query = { from: first, to: Math.max(first, end) }
  const isInside = ({ createdAt }: { createdAt: number }) => createdAt >= first && createdAt < end
  const payments = await allOf(visit, '/v1/payments', query, paymentOf)
  const known = new Map(payments.map((payment) => [payment.id, payment]))
  const paymentFor = async (id: string): Promise<Payment> => {
    const found = known.get(id) ?? (await askPayment(visit(), id))
    known.set(id, found)
    return found
  }

  for (const payment of payments.filter(isInside)) if (isCaptured(payment)) yield* moved('capture', payment, payment)
  for (const refund of (await allOf(visit, '/v1/refunds', query, refundOf)).filter(isInside))
    if (isSentBack(refund)) yield* moved('refund', refund, await paymentFor(refund.paymentId))
  for (const dispute of (await disputesSince(visit, first)).filter(isInside))
    if (isClaim(dispute)) yield* moved('dispute', dispute, await paymentFor(dispute.paymentId))
}

/** What is of a payment without an order, or of one that never was captured, is not ours. */
function* moved(
  kind: MoneyMovement['kind'],
  { id, amountMinor, currency, createdAt }: Payment | Refund | Dispute,
  payment: Payment,
): Generator<MoneyMovement> {
  const { orderId } = payment
  if (orderId !== undefined && isCaptured(payment))
    yield { kind, id, processorPaymentId: orderId, amountMinor, currency, at: timeOf(createdAt) }
}

/**
 * Disputes come in no other order and by no other choice than newest first. Accounts that may not read them are told that there
 * is no such address; their payments are payments all the same.
 */
export async function disputesSince(visit: () => Visit, start: number): Promise<Dispute[]> {
  const isOlder = ({ createdAt }: Dispute) => createdAt < start
  const disputes = await allOf(visit, '/v1/disputes', {}, disputeOf, (page) => page.every(isOlder)).catch(
    unlessRefused([]),
  )
  return disputes.filter((dispute) => !isOlder(dispute))
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)
