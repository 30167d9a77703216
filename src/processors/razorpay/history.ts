import type { MoneyMovement, ProcessorEvent } from '../processor.ts'
import { type Visit, askPayment, listed } from './client.ts'
import { type Dispute, type Payment, type Refund, shapes } from './entities.ts'
import { unlessRefused } from './errors.ts'
import { isCaptured, isClaim, isSentBack, timeOf } from './snapshot.ts'
import { isPassed, transferFact } from './transfers.ts'

const DAY = 24 * 60 * 60
/** Razorpay asks banks for up to five days after a payment without an answer. */
const LATE_PAYMENT_SECONDS = 6 * DAY
/** A refund takes five to seven working days. */
const LATE_REFUND_SECONDS = 14 * DAY
/** A dispute lasts months, and there are few of them. */
const LATE_DISPUTE_SECONDS = 180 * DAY
/** Razorpay refuses earlier times. */
const FIRST_SECOND = 946_684_800

/**
 * Returns the events since a moment, oldest first. Razorpay has no readable list of its notifications, so the adapter makes events
 * from the lists of payments, refunds and disputes. These lists know when an item was made and not when it changed, so the adapter
 * reads them from long enough before. An event's id consists of the item and its state, so the same event always has the same id.
 */
export async function* eventsSince(visit: () => Visit, since: Date): AsyncGenerator<ProcessorEvent> {
  const before = (late: number) => Math.max(FIRST_SECOND, seconds(since) - late)
  const to = seconds(new Date())
  const payments = await listed(shapes.payments, visit, '/v1/payments', { from: before(LATE_PAYMENT_SECONDS), to })
  const refunds = await listed(shapes.refunds, visit, '/v1/refunds', { from: before(LATE_REFUND_SECONDS), to })
  const disputes = await disputesSince(visit, before(LATE_DISPUTE_SECONDS))
  const orders = new Map(payments.map(({ id, order_id: orderId }) => [id, orderId]))

  const happened = [
    // a payment that is only created has no answer yet
    ...payments
      .filter(({ order_id: orderId, status }) => orderId && status !== 'created')
      .map((one) => ({ ...one, type: `payment.${isCaptured(one) ? 'captured' : one.status}`, payment_id: one.id })),
    ...refunds.map((one) => ({ ...one, type: `refund.${one.status}` })),
    ...disputes.map((one) => ({ ...one, type: `payment.dispute.${one.status}` })),
  ].sort((a, b) => a.created_at - b.created_at)
  for (const { id, type, payment_id: paymentId } of happened) {
    // a refund or dispute of a payment outside the list names the payment: fetchPayment finds its order
    const orderId = orders.get(paymentId)
    if (orderId || !orders.has(paymentId)) yield { id: `${id}:${type}`, type, paymentId: orderId || paymentId }
  }
}

/**
 * The captures, refunds, disputes and transfers of payments that have an order, as snapshots report them. Each has the time at which the
 * payment, refund or dispute was made: Razorpay reports no other time. A dispute counts with the amount that it claims. The snapshot
 * says whether it was won.
 */
export async function* movements(visit: () => Visit, from: Date, to: Date): AsyncGenerator<MoneyMovement> {
  const first = Math.max(FIRST_SECOND, Math.ceil(from.getTime() / 1000))
  const end = Math.ceil(to.getTime() / 1000)
  const query = { from: first, to: Math.max(first, end) }
  const isInside = ({ created_at: at }: { created_at: number }) => at >= first && at < end
  const payments = await listed(shapes.payments, visit, '/v1/payments', query)
  const known = new Map(payments.map((payment) => [payment.id, payment]))
  const paymentFor = async (id: string): Promise<Payment> => {
    const found = known.get(id) ?? (await askPayment(visit(), id))
    known.set(id, found)
    return found
  }

  for (const payment of payments.filter(isInside)) if (isCaptured(payment)) yield* moved('capture', payment, payment)
  for (const refund of (await listed(shapes.refunds, visit, '/v1/refunds', query)).filter(isInside))
    if (isSentBack(refund)) yield* moved('refund', refund, await paymentFor(refund.payment_id))
  for (const dispute of (await disputesSince(visit, first)).filter(isInside))
    if (isClaim(dispute)) yield* moved('dispute', dispute, await paymentFor(dispute.payment_id))
  // an account without Route refuses the list
  const transfers = await listed(shapes.transfers, visit, '/v1/transfers', query).catch(unlessRefused([]))
  for (const transfer of transfers.filter(isInside)) {
    if (!isPassed(transfer)) continue
    const { source } = transfer
    const orderId = shapes.paymentId.Check(source) ? (await paymentFor(source)).order_id : source
    const { id, amountMinor, reversedMinor, currency, madeAt: at } = transferFact(transfer)
    if (shapes.orderId.Check(orderId))
      yield {
        kind: 'transfer',
        id,
        processorPaymentId: orderId,
        amountMinor: amountMinor - reversedMinor,
        currency,
        at,
      }
  }
}

/** Leaves out payments without an order, which are not ours, and payments that were never captured. */
function* moved(
  kind: MoneyMovement['kind'],
  { id, amount: amountMinor, currency, created_at: at }: Payment | Refund | Dispute,
  payment: Payment,
): Generator<MoneyMovement> {
  const { order_id: orderId } = payment
  if (orderId && isCaptured(payment))
    yield { kind, id, processorPaymentId: orderId, amountMinor, currency, at: timeOf(at) }
}

/**
 * Reads the disputes since `start`. Razorpay lists them newest first and has no filter. It answers accounts that may not read
 * disputes with "no such address". Their payments must still work, so the list is then empty.
 */
export async function disputesSince(visit: () => Visit, start: number): Promise<Dispute[]> {
  const isOlder = ({ created_at: at }: Dispute) => at < start
  const disputes = await listed(shapes.disputes, visit, '/v1/disputes', {}, (page) => page.every(isOlder)).catch(
    unlessRefused([]),
  )
  return disputes.filter((dispute) => !isOlder(dispute))
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)
