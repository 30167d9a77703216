import { Type } from 'typebox'
import type { Db } from '../../kit/database.ts'
import { type Server, neverCached } from '../../kit/http.ts'
import { idempotencyHeaders } from '../../kit/idempotency.ts'
import { idPattern } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { LARGEST_AMOUNT } from '../../kit/money.ts'
import { Amount, Currency, refusing, NO_NUL, Time } from '../../kit/schema.ts'
import { type Browsers, needs } from '../../sellers/guard.ts'
import { type RefundRow, listRefunds, requestRefund } from './request.ts'

const TAG = ['Orders']
const OrderParams = Type.Object({ orderId: Type.String({ pattern: idPattern('ord') }) })

export const NewRefund = Type.Object({
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LARGEST_AMOUNT,
      description: 'Integer minor units of the order’s currency. The default is all that is left.',
    }),
  ),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      // PostgreSQL cannot store NUL
      pattern: NO_NUL,
      description: 'A note for yourself. The buyer does not see it.',
    }),
  ),
})
export const RefundHeaders = idempotencyHeaders('The same key and body always give the same refund.')

export const Refund = Type.Object({
  id: Type.String(),
  orderId: Type.String(),
  amount: Amount,
  currency: Currency,
  status: Type.Enum(['pending', 'succeeded', 'failed'], {
    description: 'Pending until the payment processor has made the refund, which can take days.',
  }),
  origin: Type.Enum(['api', 'dashboard'], {
    description: '`api`: you requested the refund here. `dashboard`: it was made in the payment processor’s dashboard.',
  }),
  reason: Type.Optional(Type.String()),
  createdAt: Time,
})
type Refund = Type.Static<typeof Refund>

const STATUS = { requested: 'pending', succeeded: 'succeeded', failed: 'failed' } as const

/** A seller sends money back, and sees how the refund goes. */
export function refundRoutes(server: Server, { db, jobs, browsers }: { db: Db; jobs: Jobs; browsers: Browsers }): void {
  server.post(
    '/api/orders/:orderId/refunds',
    {
      schema: {
        operationId: 'refundOrder',
        summary: 'Refund an order, all of it or a part',
        description:
          'A refund of all the money ends the buyer’s files with this request. An amount above the rest is 409 `refund_too_large`, without a request to the processor. An order that is not paid, or is disputed, is 409 `order_not_refundable`.',
        tags: TAG,
        security: needs('refunds:write'),
        params: OrderParams,
        headers: RefundHeaders,
        body: NewRefund,
        response: {
          201: Refund,
          ...refusing('order_not_found', 'order_not_refundable', 'refund_too_large', 'idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { amount, reason } = request.body
      const refund = await requestRefund(db, jobs, {
        orderId: request.params.orderId,
        sellerId: seller.id,
        amountMinor: amount,
        note: reason,
        idempotencyKey: request.headers['idempotency-key'],
      })
      return reply.code(201).send(refundView(refund))
    },
  )

  server.get(
    '/api/orders/:orderId/refunds',
    {
      schema: {
        operationId: 'listRefunds',
        summary: 'The refunds of an order',
        description: 'Newest first. The succeeded ones add up to the order’s refunded amount.',
        tags: TAG,
        security: needs('refunds:read'),
        params: OrderParams,
        response: { 200: Type.Object({ items: Type.Array(Refund) }), ...refusing('order_not_found') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { seller } = await browsers.caller(request, reply)
      const refunds = await listRefunds(db, request.params.orderId, seller.id)
      return { items: refunds.map(refundView) }
    },
  )
}

export const refundView = (row: RefundRow): Refund => ({
  id: row.id,
  orderId: row.orderId,
  amount: row.amountMinor,
  currency: row.currency,
  status: STATUS[row.state],
  origin: row.reason === 'seller' ? 'api' : 'dashboard',
  ...(row.note !== null && { reason: row.note }),
  createdAt: row.createdAt.toISOString(),
})
