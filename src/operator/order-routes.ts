import { Type } from 'typebox'
import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { Refund, RefundHeaders, refundView } from '../payments/refunds/routes.ts'
import { detailOf } from '../shop/order-routes.ts'
import { HIDDEN } from './guard.ts'
import {
  type FoundOrder as FoundOrderRow,
  type OrderPayment,
  acceptOrder,
  findOrderOfSeller,
  refundAsOperator,
  resendReceipt,
  searchOrders,
  sendOrderBack,
} from './orders.ts'
import { type OperatorRouteParts, TAG } from './routes.ts'
import {
  Acceptance,
  Accepted,
  type FoundOrder,
  FoundOrders,
  OperatorOrder,
  OperatorRefund,
  OrderParams,
  OrdersQuery,
  SentBack,
} from './schema.ts'

/** The orders of all sellers. */
export function operatorOrderRoutes(server: Server, parts: OperatorRouteParts): void {
  searchRoute(server, parts)
  getRoute(server, parts)
  acceptRoute(server, parts)
  sendBackRoute(server, parts)
  refundRoute(server, parts)
  resendRoute(server, parts)
}

function searchRoute(server: Server, { db }: OperatorRouteParts): void {
  server.get(
    '/api/operator/orders',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorOrders',
        summary: 'Find orders of all sellers',
        description: 'Newest first.',
        tags: TAG,
        querystring: OrdersQuery,
        response: { 200: FoundOrders, ...refusing() },
      },
    },
    async (request) => {
      const { cursor, limit, ...search } = request.query
      const most = limitOf(limit)
      const after = afterOf(cursor, idPattern('ord'))
      return pageOf(await searchOrders(db, search, { after, limit: most + 1 }), most, foundView)
    },
  )
}

function getRoute(server: Server, { db, orderUrl }: OperatorRouteParts): void {
  server.get(
    '/api/operator/orders/:orderId',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorOrder',
        summary: 'An order with its history and its payments',
        tags: TAG,
        params: OrderParams,
        response: { 200: OperatorOrder, ...refusing('order_not_found') },
      },
    },
    async (request) => {
      const { orderId } = request.params
      const { sellerId, sellerName, sellerEmail, payments } = await findOrderOfSeller(db, orderId)
      const detail = await detailOf(db, sellerId, orderId, orderUrl)
      const seller = { id: sellerId, name: sellerName, email: sellerEmail }
      return { ...detail, seller, payments: payments.map(paymentView) }
    },
  )
}

function acceptRoute(server: Server, { db, jobs, operators }: OperatorRouteParts): void {
  server.post(
    '/api/operator/orders/:orderId/accept',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorAcceptOrder',
        summary: 'Take what the buyer paid as the price',
        description:
          'For an order that is `needs_review`. Needs a sign-in of the last ten minutes. The order is paid, with what was paid as its amount, and the buyer gets the files and the receipt. A payment in another currency, or at a seller’s own account, can only be sent back. One that a bank still examines, or of which a part has gone back, is `order_not_acceptable` too.',
        tags: TAG,
        params: OrderParams,
        body: Acceptance,
        response: {
          200: Accepted,
          ...refusing('recent_sign_in_required', 'order_not_found', 'order_not_in_review', 'order_not_acceptable'),
        },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      const { orderId } = request.params
      const { captureId, amountMinor, currency } = await acceptOrder(db, jobs, actor, { orderId, ...request.body })
      return { captureId, amount: amountMinor, currency }
    },
  )
}

function sendBackRoute(server: Server, { db, jobs, operators }: OperatorRouteParts): void {
  server.post(
    '/api/operator/orders/:orderId/send-back',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorSendOrderBack',
        summary: 'Send back what the buyer paid',
        description:
          'All money of an order that does not pay for it: of one that is `needs_review`, and a second payment whose return failed. Needs a sign-in of the last ten minutes. The buyer gets a mail when the money is on its way.',
        tags: TAG,
        params: OrderParams,
        response: { 202: SentBack, ...refusing('recent_sign_in_required', 'order_not_found', 'order_not_in_review') },
      },
    },
    async (request, reply) => {
      const actor = operators.recently(request)
      const returns = await sendOrderBack(db, jobs, actor, request.params.orderId)
      const items = returns.map(({ amountMinor, ...one }) => ({ ...one, amount: amountMinor }))
      return reply.code(202).send({ items })
    },
  )
}

function refundRoute(server: Server, { db, jobs, operators }: OperatorRouteParts): void {
  server.post(
    '/api/operator/orders/:orderId/refunds',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorRefundOrder',
        summary: 'Refund a seller’s order, all of it or a part',
        description:
          'Needs a sign-in of the last ten minutes. The money comes from the seller’s balance, as with a refund by the seller.',
        tags: TAG,
        params: OrderParams,
        headers: RefundHeaders,
        body: OperatorRefund,
        response: {
          201: Refund,
          ...refusing(
            'recent_sign_in_required',
            'order_not_found',
            'order_not_refundable',
            'refund_too_large',
            'idempotency_key_reused',
          ),
        },
      },
    },
    async (request, reply) => {
      const actor = operators.recently(request)
      const { amount, reason } = request.body
      const refund = await refundAsOperator(db, jobs, actor, {
        orderId: request.params.orderId,
        amountMinor: amount,
        reason,
        idempotencyKey: request.headers['idempotency-key'],
      })
      return reply.code(201).send(refundView(refund))
    },
  )
}

function resendRoute(server: Server, { db, jobs, operators }: OperatorRouteParts): void {
  server.post(
    '/api/operator/orders/:orderId/receipt',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorResendReceipt',
        summary: 'Send the buyer the receipt again',
        tags: TAG,
        params: OrderParams,
        response: { 202: Type.Object({}), ...refusing('order_not_found', 'order_not_paid') },
      },
    },
    async (request, reply) => {
      await resendReceipt(db, jobs, operators.who(request), request.params.orderId)
      return reply.code(202).send({})
    },
  )
}

const foundView = ({
  id,
  state,
  amountMinor,
  productName,
  sellerId,
  sellerName,
  ...row
}: FoundOrderRow): FoundOrder => ({
  orderId: id,
  status: state,
  email: row.email,
  amount: amountMinor,
  currency: row.currency,
  product: productName,
  seller: { id: sellerId, name: sellerName },
  createdAt: row.createdAt.toISOString(),
  paidAt: row.paidAt && row.paidAt.toISOString(),
})

const moment = (text: string): string => new Date(text).toISOString()

const paymentView = ({
  captures,
  disputes,
  createdAt,
  ...payment
}: OrderPayment): OperatorOrder['payments'][number] => ({
  ...payment,
  createdAt: moment(createdAt),
  captures: captures.map(({ amountMinor, leftMinor, capturedAt, ...capture }) => ({
    ...capture,
    amount: amountMinor,
    left: leftMinor,
    capturedAt: moment(capturedAt),
  })),
  disputes: disputes.map(({ id, amountMinor, state, respondBy }) => ({
    id,
    amount: amountMinor,
    state: state as 'open' | 'won' | 'lost',
    respondBy: respondBy && moment(respondBy),
  })),
})
