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

/** Nothing is paid or sent back below one rupee. */
const LEAST_PAISE = 100
/** The request, the key, or what the account may do. */
const FOR_GOOD: ReadonlySet<number> = new Set([400, 401, 403])
/** Five days: as long as a bank's late yes can take, and the longest there is. */
const CAPTURE_MINUTES = 7_200

export interface RazorpayOptions extends RazorpaySettings {
  /** Returns the ways of paying that the account offers, or undefined while they are unknown. */
  ways?: (() => readonly string[] | undefined) | undefined
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}
type WantedRefund = Parameters<Processor['refund']>[0]

/**
 * Razorpay, for rupees (https://razorpay.com/docs/api). A payment of ours is an Order there, on which a buyer can make any
 * number of payments; amounts are paise on both sides. Fails with ProcessorUnavailable.
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
     * An Order cannot be closed there: nothing but its notes can change. So this only says that nobody waits any more. Who
     * pays all the same is seen as ever, and what the order has no room for goes back.
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
 * The Order with our key as its receipt. Where an answer was lost it is there already and is found by that; `unique_receipt`
 * sees to it that of two at once one makes it and the other gets the same, or a refusal.
 * (https://razorpay.com/docs/payments/payment-gateway/s2s-integration/test-s2s/best-practices/retries-and-idempotency)
 */
async function findOrMakeOrder(ask: Visit, { key, orderId, amountMinor, currency }: StartPayment): Promise<Order> {
  if (currency !== 'INR' || amountMinor < LEAST_PAISE)
    throw new AmountNotTaken('only rupees can be paid here, and at least one')
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
  // what is not for this attempt, this order and this amount was not asked for: the buyer would pay something else
  if (order.receipt === key && order.orderId === orderId && order.amountMinor === amountMinor) {
    if (order.currency === currency) return order
  }
  throw new ProcessorUnavailable('another order than the one that was asked for')

  async function otherwise(error: unknown): Promise<Order> {
    if (!(error instanceof RazorpayRefusal)) throw error
    // accounts differ in which fields they take
    if (error.reason === 'extra_field_sent') return make({})
    const made = await find()
    if (!made) throw error
    return made
  }
}

/** Of all that can go wrong with a start: what will be refused again, and what no order came of. */
function forGood(error: unknown): never {
  if (!(error instanceof ProcessorUnavailable)) throw error
  const { said, message } = error
  const isRepeat = error instanceof RazorpayRefusal && (error.isRepeat || error.keyReused)
  if (!said || isRepeat || !FOR_GOOD.has(said.status)) throw error
  const more = { said, cause: error }
  throw said.parameter === 'amount' ? new AmountNotTaken(message, more) : new PaymentRefused(message, more)
}

const older = (a: Order, b: Order): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

/**
 * How an Order stands, by its own id or by that of a payment on it. What the bank has said yes to is captured on the way. The
 * disputes of an account are listed newest first, and cannot be chosen by their payment: of an old payment that are many pages,
 * and each has the time of a call.
 */
async function read(visit: () => Visit, id: string, ask = visit()): Promise<PaymentSnapshot> {
  const orderId = isId('pay_', id) ? (await askPayment(ask, id).catch(unknown)).orderId : id
  // a payment that was made without an order is none of ours
  if (orderId === undefined)
    return { processorPaymentId: id, state: 'open', declines: 0, captures: [], refunds: [], disputes: [] }
  if (!isId('order_', orderId)) throw new PaymentUnknown('no such payment')
  const order = orderOf(await ask.get(`/v1/orders/${orderId}`).catch(unknown))
  if (order.id !== orderId) throw new ProcessorUnavailable('another order than the one that was asked for')
  const payments = await capture(ask, order, await paymentsOf(ask, order))
  const captured = payments.filter(isCaptured)
  if (captured.length === 0) {
    // lists can be behind: an order that is paid would look as if it was not
    if (order.paidMinor > 0) throw new ProcessorUnavailable('an order that is paid, and no payment')
    return snapshotOf({ order, payments, refunds: [], disputes: [] })
  }
  const [told, disputes, ...refunds] = await Promise.all([
    Promise.all(payments.map((payment) => (isCaptured(payment) ? withCard(ask, payment) : payment))),
    disputesSince(visit, Math.min(...captured.map(({ createdAt }) => createdAt))),
    // also where nothing seems to have gone back: one that failed leaves no mark on its payment
    ...captured.map(({ id: paymentId }) => refundsOf(ask, paymentId)),
  ])
  return snapshotOf({ order, payments: told, disputes, refunds: refunds.flat() })
}

/** An id is all that was said: a "no" to it means that there is none. */
function unknown(error: unknown): never {
  throw error instanceof RazorpayRefusal ? new PaymentUnknown('no such payment', { cause: error }) : error
}

async function paymentsOf(ask: Visit, { id }: Order): Promise<Payment[]> {
  const payments = listOf(await ask.get(`/v1/orders/${id}/payments`), paymentOf)
  if (payments.some(({ orderId }) => orderId !== id)) throw new ProcessorUnavailable('payments of another order')
  return payments
}

/**
 * Orders are captured automatically; this is for what an account's settings, or a bank's late yes, left authorized. One payment
 * an order, and only where it is the order's amount: the rest goes back by itself. Orders that are not ours are left alone.
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
    // captured meanwhile, by itself or by another of us: how it stands is read, and not what was refused
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
 * Sends money back once for a key: the key is the refund's receipt, by which a repeat finds it however late, and which Razorpay
 * itself takes once for a payment; and it is the idempotency key of the request. That one is good for one amount only: where an
 * earlier request was refused, and less is left by now, the amount becomes part of it.
 * (https://razorpay.com/docs/api/refunds/normal-refunds-idempotent, https://razorpay.com/docs/api/refunds/create-normal)
 */
async function sendBack(ask: Visit, { key, captureId, amountMinor }: WantedRefund): Promise<void> {
  if (!isId('pay_', captureId) || !/^[\w-]{10,40}$/.test(key))
    throw new ProcessorUnavailable('this cannot be sent back')
  if (amountMinor < LEAST_PAISE) throw new AmountNotTaken('less than a rupee is not sent back')
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
      // a repeat of it was faster, which is seen by now; or nothing is left to send back, and then this was not made
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
