import { isId as isOurId } from '../../kit/ids.ts'
import type { PaymentSnapshot, StoredPayment } from '../processor.ts'
import { PaymentUnknown, ProcessorUnavailable } from '../refusals.ts'
import type { WantedBack } from '../seller-accounts.ts'
import { type Visit, askPayment, listed } from './client.ts'
import { type Dispute, type Order, type Payment, type Refund, shapes } from './entities.ts'
import { isRefused, isTooOld, unlessMissing, unlessRefused } from './errors.ts'
import { disputesSince } from './history.ts'
import { lacksCard } from './rails.ts'
import { isCaptured, orderIdOf, snapshotOf } from './snapshot.ts'
import { isUnderWay, payeeOf, reverse, storedTransfersOf, transferFact, transfersOf } from './transfers.ts'

export interface Reading {
  visit: () => Visit
  /** Finds a payment of ours by the id of its Order. */
  stored(orderId: string): Promise<StoredPayment | undefined> | undefined
}

/**
 * Reads how an Order stands, by its own id or by the id of a payment on it. On the way it captures money that a bank has authorized.
 * Razorpay lists an account's disputes newest first and cannot filter them by payment. For an old payment that means many pages, and
 * each of them has the time limit of a whole call.
 */
export async function readPayment(
  { visit, stored }: Reading,
  id: string,
  /** With `needsTransfers` it fails where Razorpay does not answer about the transfers. */
  { ask = visit(), needsTransfers = false } = {},
): Promise<PaymentSnapshot> {
  let orderId = id
  let payment: Payment | undefined
  if (shapes.paymentId.Check(id)) {
    payment = await askPayment(ask, id).catch(unlessMissing)
    // a payment without an order is not ours
    if (!payment.order_id)
      return { processorPaymentId: id, state: 'open', declines: 0, captures: [], refunds: [], disputes: [] }
    orderId = payment.order_id
  }
  if (!shapes.orderId.Check(orderId)) throw new PaymentUnknown('this is no payment of Razorpay’s')
  const order = await ask.get(shapes.order, `/v1/orders/${orderId}`).catch(unlessTooOld)
  if (!order) return readOldOrder({ visit, stored }, ask, orderId, { named: payment, needsTransfers })
  if (order.id !== orderId) throw new ProcessorUnavailable('another order than the one that was asked for')
  const payments = await capture(ask, order, await paymentsOf(ask, order))
  const captured = payments.filter(isCaptured)
  if (captured.length === 0) {
    // the list of payments can lag: a paid Order would look unpaid
    if (order.amount_paid > 0) throw new ProcessorUnavailable('the Order is paid, and Razorpay lists no payment')
    return snapshotOf({ order, payments, refunds: [], disputes: [] })
  }
  const [withCards, disputes, transfers, ...refunds] = await Promise.all([
    Promise.all(payments.map((one) => (isCaptured(one) ? withCard(ask, one) : one))),
    disputesOf(visit, captured),
    // a buyer who has paid gets the files also where Razorpay does not answer about the transfers: the service asks for them later
    payeeOf(order) ? transfersOf(ask, order, captured).catch(needsTransfers ? rethrow : unlessUnavailable) : [],
    // for every captured payment, because a failed refund leaves no mark on its payment
    ...captured.map(({ id: paymentId }) => refundsOf(ask, paymentId)),
  ])
  return snapshotOf({
    order,
    payments: withCards,
    disputes,
    refunds: refunds.flat(),
    ...(transfers && { transfers: transfers.map(transferFact) }),
  })
}

/**
 * Razorpay shows an Order for 180 days (https://razorpay.com/docs/api/orders/fetch-with-id), and payments without such a limit. So a later
 * refund or dispute is read from the captures that the service has stored, and from the payment that a notification names. Of the
 * transfers to a linked account it reads those that the service has stored.
 */
async function readOldOrder(
  { visit, stored }: Reading,
  ask: Visit,
  orderId: string,
  { named, needsTransfers }: { named: Payment | undefined; needsTransfers: boolean },
): Promise<PaymentSnapshot> {
  const found = await storedOf(stored, orderId)
  const ids = new Set([...found.captureIds, ...(named ? [named.id] : [])])
  const payments = await Promise.all([...ids].map((id) => askPayment(ask, id)))
  if (payments.some((one) => one.order_id !== orderId)) throw new ProcessorUnavailable('payments of another order')
  const captured = payments.filter(isCaptured)
  if (captured.length === 0) throw new ProcessorUnavailable('Razorpay does not show the captured payment any more')
  const [disputes, transfers, ...refunds] = await Promise.all([
    disputesOf(visit, captured),
    storedTransfersOf(ask, orderId, found).catch(needsTransfers ? rethrow : unlessUnavailable),
    ...captured.map(({ id }) => refundsOf(ask, id)),
  ])
  const order = { id: orderId, notes: { order_id: found.orderId } }
  return snapshotOf({
    order,
    payments,
    disputes,
    refunds: refunds.flat(),
    ...(transfers && { transfers: transfers.map(transferFact) }),
  })
}

async function storedOf(stored: Reading['stored'], orderId: string): Promise<StoredPayment> {
  const found = await stored(orderId)
  if (!found) throw new PaymentUnknown('Razorpay does not show this Order any more, and no money of ours is on it')
  return found
}

async function disputesOf(visit: () => Visit, payments: readonly Payment[]): Promise<Dispute[]> {
  const ids = new Set(payments.map(({ id }) => id))
  const found: Dispute[] = []
  for await (const dispute of disputesSince(visit, Math.min(...payments.map((one) => one.created_at))))
    if (ids.has(dispute.payment_id)) found.push(dispute)
  return found
}

function unlessTooOld(error: unknown): undefined {
  if (!isTooOld(error)) unlessMissing(error)
}

function rethrow(error: unknown): never {
  throw error
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ProcessorUnavailable)) throw error
}

async function paymentsOf(ask: Visit, { id }: Order): Promise<Payment[]> {
  const { items } = await ask.get(shapes.payments, `/v1/orders/${id}/payments`)
  if (items.some((one) => one.order_id !== id)) throw new ProcessorUnavailable('payments of another order')
  return items
}

/**
 * Captures an authorized payment. Razorpay captures automatically, except when the account's settings prevent it or a bank
 * authorizes late. It captures one payment of each Order, with the Order's amount: Razorpay sends the rest back by itself. It leaves
 * Orders alone that are not ours.
 */
async function capture(ask: Visit, order: Order, payments: Payment[]): Promise<Payment[]> {
  const { amount, currency } = order
  const due = payments
    .filter((one) => one.status === 'authorized' && one.amount === amount && one.currency === currency)
    .sort((a, b) => a.created_at - b.created_at)[0]
  if (!due || payments.some(isCaptured) || !isOurId('ord', orderIdOf(order) ?? '')) return payments
  try {
    const answer = await ask.post(shapes.payment, `/v1/payments/${due.id}/capture`, { amount, currency })
    if (answer.id !== due.id) throw new ProcessorUnavailable('another payment than the one that was captured')
  } catch (error) {
    // Razorpay or another instance may have captured it meanwhile: the payments below show it
    if (!isRefused(error)) throw error
  }
  return paymentsOf(ask, order)
}

async function withCard(ask: Visit, payment: Payment): Promise<Payment> {
  if (!lacksCard(payment)) return payment
  const { card } = await askPayment(ask, payment.id, { 'expand[]': 'card' }).catch(unlessRefused(payment))
  return { ...payment, card }
}

/** Reverses the order's transfers to its seller's linked account until that keeps `leaveMinor`. Transfers to others stay. Returns how much is back of each transfer that it changed. */
export async function takeBack(
  reading: Reading,
  { processorPaymentId: id, leaveMinor, waits, reversedMinor }: WantedBack,
): Promise<Record<string, number>> {
  if (!shapes.orderId.Check(id)) throw new PaymentUnknown('this is no payment of Razorpay’s')
  const ask = reading.visit()
  const { orderId, payee, isPaid, all } = await passedOn(reading, ask, id)
  const transfers = all
    .filter(({ recipient }) => recipient === payee)
    .map((one) => ({ ...one, amount_reversed: Math.max(one.amount_reversed ?? 0, reversedMinor[one.id] ?? 0) }))
  if (waits && isPaid && transfers.some(isUnderWay))
    throw new ProcessorUnavailable('the transfer to the linked account is still under way')
  return reverse(ask, orderId, transfers, leaveMinor)
}

/** All transfers of an Order, also of one that Razorpay does not show any more. */
async function passedOn({ stored }: Reading, ask: Visit, id: string) {
  const order = await ask.get(shapes.order, `/v1/orders/${id}`).catch(unlessTooOld)
  if (!order) {
    const found = await storedOf(stored, id)
    const all = found.payee ? await storedTransfersOf(ask, id, found) : []
    return { orderId: found.orderId, payee: found.payee, isPaid: true, all }
  }
  const payee = payeeOf(order)
  const captured = payee ? (await paymentsOf(ask, order)).filter(isCaptured) : []
  const all = payee ? await transfersOf(ask, order, captured) : []
  return { orderId: orderIdOf(order) ?? id, payee, isPaid: captured.length > 0, all }
}

export async function refundsOf(ask: Visit, paymentId: string): Promise<Refund[]> {
  const refunds = await listed(shapes.refunds, () => ask, `/v1/payments/${paymentId}/refunds`)
  if (refunds.some((one) => one.payment_id !== paymentId)) throw new ProcessorUnavailable('refunds of another payment')
  return refunds
}
