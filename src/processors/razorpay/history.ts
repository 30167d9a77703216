import type { MoneyMovement, ProcessorEvent } from '../processor.ts'
import { type Visit, askPayment, pagesIfAllowed, pagesOf } from './client.ts'
import { type Dispute, type Payment, type Refund, shapes } from './entities.ts'
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
/** The reconciliation remembers so many payments of the list, and asks for each further one that a refund or a dispute names. */
const MOST_KNOWN = 100_000

/**
 * Returns the events since a moment, oldest first. Razorpay has no readable list of its notifications, so the adapter makes events
 * from the lists of payments, refunds and disputes. These lists know when an item was made and not when it changed, so the adapter
 * reads them from long enough before. An event's id consists of the item and its state, so the same event always has the same id.
 *
 * It reads all lists before the first event, and keeps of each item only what its event needs. The backfill asks about each payment once:
 * an answer must not be older than a list with events of that payment.
 */
export async function* eventsSince(
  visit: () => Visit,
  since: Date,
  onPage = async (): Promise<void> => {},
): AsyncGenerator<ProcessorEvent> {
  const from = (late: number) => Math.max(FIRST_SECOND, seconds(since) - late)
  const to = seconds(new Date())
  const happened: { id: string; type: string; paymentId: string; at: number }[] = []
  /** Undefined: it has no order, so it is not ours. */
  const orders = new Map<string, string | undefined>()
  const payments = pagesOf(shapes.payments, visit, '/v1/payments', { from: from(LATE_PAYMENT_SECONDS), to })
  for await (const page of payments) {
    await onPage()
    for (const payment of page) {
      const { id, order_id: orderId, created_at: at } = payment
      orders.set(id, orderId || undefined)
      const status = isCaptured(payment) ? 'captured' : payment.status
      // a payment that is only created has no answer yet
      if (orderId && status !== 'created') happened.push({ id, type: `payment.${status}`, paymentId: id, at })
    }
  }
  const refunds = pagesOf(shapes.refunds, visit, '/v1/refunds', { from: from(LATE_REFUND_SECONDS), to })
  for await (const page of refunds) {
    await onPage()
    for (const { id, status, payment_id: paymentId, created_at: at } of page)
      happened.push({ id, type: `refund.${status}`, paymentId, at })
  }
  for await (const { id, status, payment_id: paymentId, created_at: at } of disputesSince(
    visit,
    from(LATE_DISPUTE_SECONDS),
  ))
    happened.push({ id, type: `payment.dispute.${status}`, paymentId, at })

  happened.sort((a, b) => a.at - b.at)
  for (const { id, type, paymentId } of happened) {
    // a refund or dispute of a payment outside the list names the payment: fetchPayment finds its order
    const orderId = orders.get(paymentId)
    if (orderId || !orders.has(paymentId)) yield { id: `${id}:${type}`, type, paymentId: orderId || paymentId }
  }
}

/**
 * The captures, refunds, disputes and transfers of payments that have an order, as snapshots report them. Each has the time at which the
 * payment, refund or dispute was made: Razorpay reports no other time. A dispute counts with the amount that it claims. The snapshot
 * says whether it was won. It gives each page as it comes: a period can hold more payments than memory.
 */
export async function* movements(visit: () => Visit, from: Date, to: Date): AsyncGenerator<MoneyMovement> {
  const first = Math.max(FIRST_SECOND, Math.ceil(from.getTime() / 1000))
  const end = Math.ceil(to.getTime() / 1000)
  const query = { from: first, to: Math.max(first, end) }
  const isInside = ({ created_at: at }: { created_at: number }) => at >= first && at < end
  /** The orders of captured payments. Undefined: not captured, or without an order. */
  const known = new Map<string, string | undefined>()
  const orderOf = async (id: string): Promise<string | undefined> => {
    if (known.has(id)) return known.get(id)
    const orderId = paidOrderOf(await askPayment(visit(), id))
    if (known.size < MOST_KNOWN) known.set(id, orderId)
    return orderId
  }

  for await (const page of pagesOf(shapes.payments, visit, '/v1/payments', query))
    for (const payment of page) {
      const orderId = paidOrderOf(payment)
      if (known.size < MOST_KNOWN) known.set(payment.id, orderId)
      if (isInside(payment)) yield* moved('capture', payment, orderId)
    }
  for await (const page of pagesOf(shapes.refunds, visit, '/v1/refunds', query))
    for (const refund of page.filter(isInside))
      if (isSentBack(refund)) yield* moved('refund', refund, await orderOf(refund.payment_id))
  for await (const dispute of disputesSince(visit, first))
    if (isInside(dispute) && isClaim(dispute)) yield* moved('dispute', dispute, await orderOf(dispute.payment_id))
  // an account without Route refuses the list
  for await (const page of pagesIfAllowed(shapes.transfers, visit, '/v1/transfers', query))
    for (const transfer of page.filter(isInside)) {
      if (!isPassed(transfer)) continue
      const { source } = transfer
      const orderId = shapes.paymentId.Check(source) ? await orderOf(source) : source
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

/** Undefined for payments without an order, which are not ours, and for those that were never captured. */
const paidOrderOf = (payment: Payment): string | undefined =>
  isCaptured(payment) ? payment.order_id || undefined : undefined

function* moved(
  kind: MoneyMovement['kind'],
  { id, amount: amountMinor, currency, created_at: at }: Payment | Refund | Dispute,
  orderId: string | undefined,
): Generator<MoneyMovement> {
  if (orderId) yield { kind, id, processorPaymentId: orderId, amountMinor, currency, at: timeOf(at) }
}

/**
 * Reads the disputes since `start`, newest first. Razorpay has no filter for them. It answers accounts that may not read disputes with "no
 * such address". Their payments must still work, so the list is then empty.
 */
export async function* disputesSince(visit: () => Visit, start: number): AsyncGenerator<Dispute> {
  const isOlder = ({ created_at: at }: Dispute) => at < start
  for await (const page of pagesIfAllowed(shapes.disputes, visit, '/v1/disputes')) {
    yield* page.filter((dispute) => !isOlder(dispute))
    if (page.every(isOlder)) return
  }
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)
