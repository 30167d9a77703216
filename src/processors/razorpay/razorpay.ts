import { isId as isOurId } from '../../kit/ids.ts'
import {
  AmountNotTaken,
  type PaymentSnapshot,
  PaymentRefused,
  PaymentUnknown,
  type Processor,
  ProcessorUnavailable,
  type StartPayment,
  refundTaken,
} from '../processor.ts'
import type { RazorpaySettings } from '../settings.ts'
import { checkAccount } from './check.ts'
import { RazorpayRefusal, type Visit, razorpayClient, unlessRefused } from './client.ts'
import { type Order, type Payment, allOf, askPayment, isId, listOf, orderOf, paymentOf, refundOf } from './entities.ts'
import { disputesSince, eventsSince, movements } from './history.ts'
import { isCaptured, lacksCard, snapshotOf } from './snapshot.ts'
import { fetchMethods, railsOf } from './methods.ts'
import { webhookVerifier } from './webhook.ts'

/** Razorpay refunds no less than one rupee. Its refusal would not say whether the amount was too small or more than is left. */
const LEAST_REFUND_PAISE = 100
/** Razorpay's reason for an order of less than one rupee (https://razorpay.com/docs/errors/payments/list). */
const TOO_SMALL = 'amount_less_than_minimum_amount'
/** Statuses that mean a fault of the request, the key or the account's permissions. */
const FOR_GOOD: ReadonlySet<number> = new Set([400, 401, 403])
/** Five days: the time in which a bank can still authorize late, and Razorpay's maximum. */
const CAPTURE_MINUTES = 7_200

export interface RazorpayOptions extends RazorpaySettings {
  /** Returns the ways of paying that the account offers, or undefined while they are unknown. */
  ways?: (() => readonly string[] | undefined) | undefined
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}
type WantedRefund = Parameters<Processor['refund']>[0]

/**
 * Payments by Razorpay, in rupees (https://razorpay.com/docs/api). Our payment is an Order at Razorpay, and a buyer can make any
 * number of payments on it. Both sides count paise. Calls fail with ProcessorUnavailable.
 */
export function razorpayProcessor(options: RazorpayOptions): Required<Processor> {
  const visit = razorpayClient(options)
  return {
    name: 'razorpay',
    takes: (currency) => currency === 'INR',
    rails: (currency) => (currency === 'INR' ? railsOf(options.ways?.()) : []),
    async startPayment(payment) {
      const id = payment.processorPaymentId ?? (await findOrMakeOrder(visit(), payment)).id
      return { processorPaymentId: id, clientSecret: id, publishableKey: options.keyId }
    },
    fetchPayment: (id) => read(visit, id),
    /**
     * Razorpay cannot close an Order: only its notes can change. So this reports it as canceled. A later payment still counts, and
     * the service refunds what the order cannot take.
     */
    async cancelPayment(id) {
      const payment = await read(visit, id)
      return payment.state === 'open' ? { ...payment, state: 'canceled' } : payment
    },
    async refund(refund) {
      const ask = visit()
      await sendBack(ask, refund)
      return read(visit, refund.processorPaymentId, ask).catch(refundTaken)
    },
    signature: { header: 'x-razorpay-signature', form: /^[0-9a-f]{64}$/i },
    verifyEvent: webhookVerifier(options.webhookSecrets),
    eventsSince: (since) => eventsSince(visit, since),
    eventsDays: Infinity,
    movements: (from, to) => movements(visit, from, to),
    fetchMethods: () => fetchMethods(visit(), options.keyId),
    check: () => checkAccount(options),
  }
}

/**
 * Finds or makes the Order with our key as its receipt. After a lost answer the Order exists already and is found by its receipt.
 * With `unique_receipt`, only one of two simultaneous requests makes the Order. The other gets the same Order, or a refusal.
 * (https://razorpay.com/docs/payments/payment-gateway/s2s-integration/test-s2s/best-practices/retries-and-idempotency)
 */
async function findOrMakeOrder(ask: Visit, { key, orderId, amountMinor, currency }: StartPayment): Promise<Order> {
  if (currency !== 'INR') throw new AmountNotTaken('only rupees can be paid here')
  const find = async (): Promise<Order | undefined> => {
    const orders = listOf(await ask.get('/v1/orders', { receipt: key, count: 100 }), orderOf)
    return orders.filter(({ receipt }) => receipt === key).sort(older)[0]
  }
  const make = async (more: object): Promise<Order> =>
    orderOf(
      await ask.post('/v1/orders', {
        amount: amountMinor,
        currency,
        receipt: key,
        notes: { order_id: orderId },
        payment: {
          capture: 'automatic',
          capture_options: {
            automatic_expiry_period: CAPTURE_MINUTES,
            manual_expiry_period: CAPTURE_MINUTES,
            refund_speed: 'normal',
          },
        },
        ...more,
      }),
    )

  const findOrMake = async () => (await find()) ?? (await make({ unique_receipt: true }).catch(otherwise))
  const order = await findOrMake().catch(forGood)
  // with an Order for another attempt, order or amount the buyer would pay for something else
  if (order.receipt === key && order.orderId === orderId && order.amountMinor === amountMinor) {
    if (order.currency === currency) return order
  }
  throw new ProcessorUnavailable('another order than the one that was asked for')

  async function otherwise(error: unknown): Promise<Order> {
    if (!(error instanceof RazorpayRefusal)) throw error
    // some accounts refuse the field `unique_receipt`
    if (error.reason === 'extra_field_sent') return make({})
    const made = await find()
    if (!made) throw error
    return made
  }
}

/** Turns a refusal into AmountNotTaken or PaymentRefused if no Order came of it and Razorpay would refuse again. */
function forGood(error: unknown): never {
  if (!(error instanceof ProcessorUnavailable)) throw error
  const { said, message } = error
  const isRepeat = error instanceof RazorpayRefusal && (error.isRepeat || error.keyReused)
  if (!said || isRepeat || !FOR_GOOD.has(said.status)) throw error
  const more = { said, cause: error }
  // each account has its own most, and its refusal names only the parameter
  const isAmount = said.code === TOO_SMALL || said.parameter === 'amount'
  throw isAmount ? new AmountNotTaken(message, more) : new PaymentRefused(message, more)
}

const older = (a: Order, b: Order): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

/**
 * Reads how an Order stands, by its own id or by the id of a payment on it. On the way it captures what a bank has authorized.
 * Razorpay lists an account's disputes newest first and cannot filter them by payment. For an old payment that means many pages, and
 * each of them has the time limit of a whole call.
 */
async function read(visit: () => Visit, id: string, ask = visit()): Promise<PaymentSnapshot> {
  const orderId = isId('pay_', id) ? (await askPayment(ask, id).catch(unknown)).orderId : id
  // a payment without an order is not ours
  if (orderId === undefined)
    return { processorPaymentId: id, state: 'open', declines: 0, captures: [], refunds: [], disputes: [] }
  if (!isId('order_', orderId)) throw new PaymentUnknown('no such payment')
  const order = orderOf(await ask.get(`/v1/orders/${orderId}`).catch(unknown))
  if (order.id !== orderId) throw new ProcessorUnavailable('another order than the one that was asked for')
  const payments = await capture(ask, order, await paymentsOf(ask, order))
  const captured = payments.filter(isCaptured)
  if (captured.length === 0) {
    // the list of payments can lag: a paid Order would look unpaid
    if (order.paidMinor > 0) throw new ProcessorUnavailable('the Order is paid, and Razorpay lists no payment')
    return snapshotOf({ order, payments, refunds: [], disputes: [] })
  }
  const [told, disputes, ...refunds] = await Promise.all([
    Promise.all(payments.map((payment) => (isCaptured(payment) ? withCard(ask, payment) : payment))),
    disputesSince(visit, Math.min(...captured.map(({ createdAt }) => createdAt))),
    // for every captured payment, because a failed refund leaves no mark on its payment
    ...captured.map(({ id: paymentId }) => refundsOf(ask, paymentId)),
  ])
  return snapshotOf({ order, payments: told, disputes, refunds: refunds.flat() })
}

/** For the `catch` of a read by id: a refusal means that the id does not exist. */
function unknown(error: unknown): never {
  throw error instanceof RazorpayRefusal ? new PaymentUnknown('no such payment', { cause: error }) : error
}

async function paymentsOf(ask: Visit, { id }: Order): Promise<Payment[]> {
  const payments = listOf(await ask.get(`/v1/orders/${id}/payments`), paymentOf)
  if (payments.some(({ orderId }) => orderId !== id)) throw new ProcessorUnavailable('payments of another order')
  return payments
}

/**
 * Captures an authorized payment. Razorpay captures automatically, except when the account's settings prevent it or a bank
 * authorizes late. It captures one payment of each Order, with the Order's amount: Razorpay sends the rest back by itself. It leaves
 * Orders alone that are not ours.
 */
async function capture(ask: Visit, order: Order, payments: Payment[]): Promise<Payment[]> {
  const { amountMinor, currency } = order
  const due = payments
    .filter((one) => one.status === 'authorized' && one.amountMinor === amountMinor && one.currency === currency)
    .sort((a, b) => a.createdAt - b.createdAt)[0]
  if (!due || payments.some(isCaptured) || !isOurId('ord', order.orderId ?? '')) return payments
  try {
    const answer = paymentOf(await ask.post(`/v1/payments/${due.id}/capture`, { amount: amountMinor, currency }))
    if (answer.id !== due.id) throw new ProcessorUnavailable('another payment than the one that was captured')
  } catch (error) {
    // Razorpay or another instance may have captured it meanwhile: the payments below show it
    if (!(error instanceof RazorpayRefusal)) throw error
  }
  return paymentsOf(ask, order)
}

async function withCard(ask: Visit, payment: Payment): Promise<Payment> {
  if (!lacksCard(payment)) return payment
  const { cardType } = await askPayment(ask, payment.id, { 'expand[]': 'card' }).catch(unlessRefused(payment))
  return { ...payment, cardType }
}

async function refundsOf(ask: Visit, paymentId: string) {
  const refunds = await allOf(() => ask, `/v1/payments/${paymentId}/refunds`, {}, refundOf)
  if (refunds.some((one) => one.paymentId !== paymentId)) throw new ProcessorUnavailable('refunds of another payment')
  return refunds
}

/**
 * Makes one refund for a key. The key is the refund's receipt: a repeat finds the refund by it at any time, and Razorpay takes a
 * receipt only once for a payment. The key is also the idempotency key of the request, which is valid for one amount only. If
 * Razorpay refused an earlier request and less is left now, the amount becomes part of the idempotency key.
 * (https://razorpay.com/docs/api/refunds/normal-refunds-idempotent, https://razorpay.com/docs/api/refunds/create-normal)
 */
async function sendBack(ask: Visit, { key, captureId, amountMinor }: WantedRefund): Promise<void> {
  if (!isId('pay_', captureId) || !/^[\w-]{10,40}$/.test(key))
    throw new ProcessorUnavailable('this is no refund that Razorpay could make')
  if (amountMinor < LEAST_REFUND_PAISE) throw new AmountNotTaken('Razorpay refunds no less than one rupee')
  const isMade = async () => (await refundsOf(ask, captureId)).some((one) => one.key === key)
  const unlessMade = async (idempotencyKey: string): Promise<void> => {
    if (await isMade()) return
    try {
      const body = { amount: amountMinor, receipt: key }
      const headers = { 'X-Refund-Idempotency': idempotencyKey }
      const made = refundOf(await ask.post(`/v1/payments/${captureId}/refund`, body, headers))
      if (made.paymentId !== captureId || made.amountMinor !== amountMinor || made.key !== key)
        throw new ProcessorUnavailable('another refund than the one that was asked for')
    } catch (error) {
      if (!(error instanceof RazorpayRefusal)) throw error
      // a simultaneous repeat may have made it, and the list shows that now; if it is not there, it was not made
      if (await isMade()) return
      throw error.isRepeat ? new ProcessorUnavailable('this refund is being made', { cause: error }) : error
    }
  }
  try {
    await unlessMade(key)
  } catch (error) {
    if (!(error instanceof RazorpayRefusal && error.keyReused)) throw error
    await unlessMade(`${key}-${amountMinor}`)
  }
}
