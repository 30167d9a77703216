import type { FastifyRequest } from 'fastify'
import type { Db } from '../kit/database.ts'
import { maskedEmail } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { type Limit, limited, networkOf } from '../kit/limits.ts'
import { refusing } from '../kit/schema.ts'
import { type CreatedOrder, orderTaxView } from '../orders/new-order.ts'
import type { FindOrder } from '../orders/find.ts'
import type { OrderPasses } from '../orders/order-passes.ts'
import { orderToPay } from '../orders/payable.ts'
import { onStatement } from '../orders/paid-by.ts'
import { waitsForPayment } from '../orders/states.ts'
import { familyOf } from '../processors/connected.ts'
import { processorFor } from '../processors/routing.ts'
import type { Payments } from '../payments/register.ts'
import type { Processor } from '../processors/processor.ts'
import { PayOrder, Payable, StatusParams } from './schema.ts'

interface Paying {
  processors: ReadonlyMap<string, Processor>
  payments: Pick<Payments, 'start'>
  findOrder: FindOrder
  passes: OrderPasses
}

interface PayOrderParts extends Paying {
  db: Db
  limits: { checkout?: Limit }
  refuseUnknown: (request: FastifyRequest) => Promise<never>
}

/**
 * Starts the payment of an order that a seller's program has made, for the buyer who opens its `payUrl`. The link shows no whole
 * address and opens no files: it may be in a mail that somebody forwards.
 */
export function payOrderRoute(server: Server, parts: PayOrderParts): void {
  const { db, limits, passes, refuseUnknown } = parts
  server.post(
    '/api/checkout/:orderId/payment',
    {
      config: {
        anyOrigin: true,
        ...limited(
          limits.checkout,
          (request) => `pay ${(request.params as { orderId: string }).orderId} ${networkOf(request.ip)}`,
        ),
      },
      schema: {
        operationId: 'payOrder',
        summary: 'Start the payment of an order by its link',
        description:
          'The hosted page calls this with the token of `payUrl`. An order that takes no payment any more has no `clientSecret`.',
        tags: ['Checkout'],
        params: StatusParams,
        body: PayOrder,
        response: {
          200: Payable,
          ...refusing(
            'order_not_found',
            'payment_closed',
            'amount_not_payable',
            'cannot_take_payment',
            'rate_limited',
            'processor_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { orderId } = request.params
      const isHolder = passes.passOf(orderId, request.body.token) === 'pay'
      const order = isHolder ? await orderToPay(db, orderId) : undefined
      if (!order) return refuseUnknown(request)
      return { ...(await readyToPay(parts, order)), productId: order.productId, emailHint: maskedEmail(order.email) }
    },
  )
}

/** Starts the payment of an order that waits for one, or finds the payment under way. Refuses `payment_closed`. */
export async function readyToPay({ processors, payments, findOrder, passes }: Paying, order: CreatedOrder) {
  const waits = waitsForPayment(order.state)
  const serving = order.amountMinor > 0 ? processorFor(processors, order.currency) : undefined
  const processor = waits ? serving : undefined
  const started = processor && (await payments.start(processor, order))
  // the processor may have reported meanwhile that the order is paid
  const status = processor && !started ? (await findOrder(order.id))!.state : order.state
  if (processor && !started && waitsForPayment(status))
    throw new Refusal('payment_closed', 'This order can no longer be paid.')
  return {
    orderId: order.id,
    amount: order.amountMinor,
    ...(order.discountMinor > 0 && { discountAmount: order.discountMinor }),
    currency: order.currency,
    ...(order.tax && { tax: orderTaxView(order.tax) }),
    statementDescriptor: order.statementDescriptor,
    ...(serving && onStatement({ processor: started?.processor ?? serving.name })),
    status,
    ...(started && {
      clientSecret: started.clientSecret,
      publishableKey: started.publishableKey,
      processor: familyOf(started.processor),
      ...(started.account && { account: started.account }),
    }),
    returnToken: passes.tokenFor('back', order.id),
  }
}
