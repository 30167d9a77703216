import { ApiRefusal, isRefusal, refusedStart } from '../api-refusal.ts'
import type { StartPayment, StartedPayment } from '../processor.ts'
import { AmountNotTaken, PaymentClosed, PaymentUnknown, ProcessorUnavailable } from '../refusals.ts'
import type { Visit } from './client.ts'
import { LEAST_PAISE, type Order, shapes } from './entities.ts'
import { isRefused, unlessMissing } from './errors.ts'
import { orderIdOf } from './snapshot.ts'
import { payeeOf } from './transfers.ts'

/** Five days: the time in which a bank can still authorize late, and Razorpay's maximum. */
const CAPTURE_MINUTES = 7_200
const BAD_REQUEST = 400

/** Our payment is an Order. A browser pays it with the Order's id and our key's id. */
export async function startPayment(ask: Visit, keyId: string, payment: StartPayment): Promise<StartedPayment> {
  const { processorPaymentId } = payment
  const { id } =
    processorPaymentId === undefined ? await findOrMakeOrder(ask, payment) : await orderToPay(ask, processorPaymentId)
  return { processorPaymentId: id, clientSecret: id, publishableKey: keyId }
}

/** Reads an Order that we began before. Its window would stay dead with the key of another account, and would take no money once it is paid. */
async function orderToPay(ask: Visit, id: string): Promise<Order> {
  if (!shapes.orderId.Check(id)) throw new PaymentUnknown('this is no payment of Razorpay’s')
  const order = await ask.get(shapes.order, `/v1/orders/${id}`).catch(unlessMissing).catch(unlessKeyRefused)
  if (order.id !== id) throw new ProcessorUnavailable('another order than the one that was asked for')
  if (order.amount_paid > 0) throw new PaymentClosed('this payment is paid')
  return order
}

/**
 * Finds or makes the Order with our key as its receipt. After a lost answer the Order exists already and is found by its receipt.
 * With `unique_receipt`, only one of two simultaneous requests makes the Order. The other gets the same Order, or a refusal.
 * (https://razorpay.com/docs/payments/payment-gateway/s2s-integration/test-s2s/best-practices/retries-and-idempotency)
 */
async function findOrMakeOrder(
  ask: Visit,
  { key, orderId, amountMinor, currency, passOn }: StartPayment,
): Promise<Order> {
  if (currency !== 'INR') throw new AmountNotTaken('only rupees can be paid here')
  // its refusal would look as if the seller could not be paid at all
  if (passOn && passOn.amountMinor < LEAST_PAISE) throw new AmountNotTaken('Razorpay passes on no less than one rupee')
  const find = async (): Promise<Order | undefined> => {
    const { items } = await ask.get(shapes.orders, '/v1/orders', { receipt: key, count: 100 })
    return items.filter(({ receipt }) => receipt === key).sort(older)[0]
  }
  const make = (more: object): Promise<Order> =>
    ask.post(shapes.order, '/v1/orders', {
      amount: amountMinor,
      currency,
      receipt: key,
      notes: { order_id: orderId, ...(passOn && { account: passOn.account }) },
      ...(passOn && { transfers: [transferTo(passOn, orderId)] }),
      payment: {
        capture: 'automatic',
        capture_options: {
          automatic_expiry_period: CAPTURE_MINUTES,
          manual_expiry_period: CAPTURE_MINUTES,
          refund_speed: 'normal',
        },
      },
      ...more,
    })

  const findOrMake = async () => (await find()) ?? (await make({ unique_receipt: true }).catch(otherwise))
  const order = await findOrMake().catch(refusedForGood)
  // with an Order for another attempt, order or amount the buyer would pay for something else
  if (
    order.receipt === key &&
    orderIdOf(order) === orderId &&
    order.amount === amountMinor &&
    payeeOf(order) === passOn?.account
  ) {
    if (order.currency === currency) return order
  }
  throw new ProcessorUnavailable('another order than the one that was asked for')

  async function otherwise(error: unknown): Promise<Order> {
    if (!isRefused(error)) throw error
    // some accounts refuse the field `unique_receipt`
    if (error.details.code === 'extra_field_sent') return make({})
    const made = await find()
    if (!made) throw error
    return made
  }
}

/**
 * No Order came of it, and Razorpay would refuse it again. A 400 counts also without Razorpay's error in it: otherwise the reconciler
 * would try for ever. A 401 or 403 without that error comes from a proxy on the way, so it is an outage, and a 404 can pass.
 */
function refusedForGood(error: unknown): never {
  const isBadRequest = error instanceof ApiRefusal && error.details.status === BAD_REQUEST
  const isRefused = isBadRequest && error.meaning !== 'in_progress' && error.meaning !== 'key_reused'
  throw isRefused || isRefusal(error, 'key_refused') ? refusedStart(error) : error
}

function unlessKeyRefused(error: unknown): never {
  throw isRefusal(error, 'key_refused') ? refusedStart(error) : error
}

/** Razorpay makes the transfer once the payment is captured, and tries for three days more if it fails. */
const transferTo = ({ account, amountMinor }: NonNullable<StartPayment['passOn']>, orderId: string) => ({
  account,
  amount: amountMinor,
  currency: 'INR',
  notes: { order_id: orderId },
  on_hold: false,
})

const older = (a: Order, b: Order): number => a.created_at - b.created_at || (a.id < b.id ? -1 : 1)
