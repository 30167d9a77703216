import { Type } from 'typebox'
import { CSV_ROWS, type Columns, Decimal, listOf, sendCsv, wantsCsv } from '../kit/csv.ts'
import { type Db, inSnapshot, inTransaction } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { endReminder, withdrawalsOf } from '../buyers/withdrawals/orders.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { afterOf, allPages, pageOf } from '../kit/keyset.ts'
import { type Limit, countUses, refuseBeyond } from '../kit/limits.ts'
import { periodOf } from '../kit/period.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { type FreeMailLimits, refuseFreeMails } from '../orders/free-mails.ts'
import { TOO_MANY_RECEIPTS } from '../orders/receipts.ts'
import { orderTaxView } from '../orders/new-order.ts'
import { onStatement } from '../orders/paid-by.ts'
import { listRefunds } from '../payments/refunds/request.ts'
import { refundView } from '../payments/refunds/routes.ts'
import { recalledFilesOf } from '../products/schema.ts'
import { consentsView } from '../orders/consents/consents.ts'
import { type Browsers, needs } from '../sellers/guard.ts'
import { refuseUnlessActive } from '../sellers/standing.ts'
import { type Order, type OrderRow, orderView, paidFeeOf } from '../orders/seller-view.ts'
import { type OrderDetails, type OrderFilter, findOwnOrder, listOrders } from './orders.ts'
import { OrderDetail, OrderParams, Orders, OrdersQuery } from './schema.ts'
import { BETWEEN_OWN, listTransfers, transferView } from './transfers.ts'

export const TAG = ['Orders']
export const refusals = refusing()
/** More than an order can have. */
const MOST_TRANSFERS = 1000

export interface OrderRouteParts {
  db: Db
  jobs: Jobs
  browsers: Browsers
  orderUrl: (orderId: string) => string
  limits: FreeMailLimits & { receipt?: Limit }
}

/** The seller's own orders. An order of another seller is not found. */
export function orderRoutes(server: Server, parts: OrderRouteParts): void {
  listOrdersRoute(server, parts)
  getOrderRoute(server, parts)
  resendReceiptRoute(server, parts)
  withdrawalDoneRoute(server, parts)
}

function listOrdersRoute(server: Server, { db, browsers }: OrderRouteParts): void {
  server.get(
    '/api/orders',
    {
      schema: {
        operationId: 'listOrders',
        summary: 'Your orders',
        description:
          'Newest first. With `Accept: text/csv` the response is a file with all orders; amounts are in minor units and as decimals.',
        tags: TAG,
        security: needs('orders:read', 'exports:read'),
        querystring: OrdersQuery,
        response: { 200: listOf(Orders, 'A page of orders.'), ...refusals },
      },
    },
    async (request, reply) => {
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      const { cursor, limit, format: _, from, to, email, ...rest } = request.query
      const after = afterOf(cursor, idPattern('ord'))
      const filter: OrderFilter = {
        ...rest,
        ...periodOf(request.query),
        productIds,
        ...(email !== undefined && { email: canonicalEmail(email) }),
      }
      if (wantsCsv(request)) {
        const read = (from: typeof after, rows: number) =>
          listOrders(db, seller.id, filter, { after: from, limit: rows })
        return sendCsv(request, reply, 'orders', CSV_COLUMNS, allPages(read, { after, limit: CSV_ROWS }))
      }
      const most = limitOf(limit)
      const rows = await listOrders(db, seller.id, filter, { after, limit: most + 1 })
      return pageOf(rows, most, orderView)
    },
  )
}

function getOrderRoute(server: Server, { db, browsers, orderUrl }: OrderRouteParts): void {
  server.get(
    '/api/orders/:orderId',
    {
      schema: {
        operationId: 'getOrder',
        summary: 'One of your orders, with its history',
        tags: TAG,
        security: needs('orders:read'),
        params: OrderParams,
        response: { 200: OrderDetail, ...refusing('order_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { orderId } = request.params
      return detailOf(db, seller.id, orderId, orderUrl)
    },
  )
}

/**
 * An order of this seller with its history, as it was at one moment: a page that sees the refund done and the order still paid would
 * stop polling. Refuses `order_not_found`.
 */
export async function detailOf(
  db: Db,
  sellerId: string,
  orderId: string,
  orderUrl: (orderId: string) => string,
): Promise<OrderDetail> {
  const { order, refunds, transfers, withdrawals } = await inSnapshot(db, async (tx) => ({
    order: await findOwnOrder(tx, sellerId, orderId),
    refunds: await listRefunds(tx, orderId, sellerId),
    transfers: await listTransfers(tx, sellerId, { orderId }, { limit: MOST_TRANSFERS }),
    withdrawals: await withdrawalsOf(tx, orderId),
  }))
  return {
    ...orderView(order),
    ...(order.tax && { tax: orderTaxView(order.tax) }),
    statementDescriptor: order.statementDescriptor,
    ...onStatement(order.paidBy),
    netAmount: transfers.reduce(
      (sum, { kind, amountMinor }) => (BETWEEN_OWN.includes(kind) ? sum : sum + amountMinor),
      0,
    ),
    timeline: timelineOf(order),
    refunds: refunds.map(refundView),
    transfers: transfers.map(transferView),
    files: order.files,
    ...recalledFilesOf(order.recalled),
    consents: consentsView(order.consents),
    withdrawals,
    ...(order.pendingEmail !== null && { pendingEmail: order.pendingEmail }),
    ...(order.move && {
      emailMove: { ...order.move, movesAt: order.move.movesAt && new Date(order.move.movesAt).toISOString() },
    }),
    ...(order.successUrl !== null && { successUrl: order.successUrl }),
    ...(order.cancelUrl !== null && { cancelUrl: order.cancelUrl }),
    orderUrl: orderUrl(orderId),
  }
}

function withdrawalDoneRoute(server: Server, { db, browsers }: OrderRouteParts): void {
  server.post(
    '/api/orders/:orderId/withdrawals/done',
    {
      schema: {
        operationId: 'endWithdrawalReminder',
        summary: 'Nothing is left to do about a withdrawal',
        description:
          'The statements about this order no longer need your attention. A full refund does the same. A repeat changes nothing.',
        tags: TAG,
        security: needs('orders:write'),
        params: OrderParams,
        response: { 200: Type.Object({ changed: Type.Boolean() }), ...refusing('order_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return { changed: await endReminder(db, seller.id, request.params.orderId) }
    },
  )
}

function resendReceiptRoute(server: Server, { db, jobs, browsers, limits }: OrderRouteParts): void {
  server.post(
    '/api/orders/:orderId/receipt',
    {
      schema: {
        operationId: 'resendReceipt',
        summary: 'Send the buyer the receipt again',
        description: 'The mail goes to the order’s address.',
        tags: TAG,
        security: needs('orders:write'),
        params: OrderParams,
        response: {
          202: Type.Object({}),
          ...refusing('order_not_found', 'order_not_paid', 'approval_awaited', 'seller_suspended', 'rate_limited'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { id, paidAt } = await findOwnOrder(db, seller.id, request.params.orderId)
      if (!paidAt) throw new Refusal('order_not_paid', 'This order was not paid, so there is no receipt to send.')
      await refuseUnlessActive(db, seller.id)
      // a key of its own, so that neither the buyer's requests nor a stranger's use up the seller's
      if (limits.receipt)
        refuseBeyond(
          await countUses(db, [{ key: `receipt by seller:${id}`, limit: limits.receipt }]),
          TOO_MANY_RECEIPTS,
        )
      await refuseFreeMails(db, { orderId: id }, limits)
      await inTransaction(db, (tx) => jobs.add(tx, 'mail', [{ data: { kind: 'receipt', orderId: id } }]))
      return reply.code(202).send({})
    },
  )
}

function timelineOf({ createdAt, emailChangedAt, events }: OrderDetails): { at: string; what: string }[] {
  const happened = events.map(({ at, what }) => ({ at: new Date(at).toISOString(), what }))
  if (emailChangedAt) happened.push({ at: emailChangedAt.toISOString(), what: 'email_changed' })
  // events of the same moment keep the order in which they were written
  return [
    { at: createdAt.toISOString(), what: 'created' },
    ...happened.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
  ]
}

const amounts = (name: string, amountOf: (row: OrderRow) => number | null): Columns<OrderRow> => ({
  [`${name}_minor`]: amountOf,
  [name]: (row) => {
    const minor = amountOf(row)
    return minor === null ? null : new Decimal(minor, row.currency)
  },
})

const CSV_COLUMNS: Columns<OrderRow> = {
  order_id: ({ id }) => id,
  created_at: ({ createdAt }) => createdAt.toISOString(),
  paid_at: ({ paidAt }) => paidAt?.toISOString() ?? null,
  status: ({ state }) => state,
  email: ({ email }) => email,
  product_id: ({ productId }) => productId,
  product: ({ productName }) => productName,
  currency: ({ currency }) => currency,
  ...amounts('amount', ({ amountMinor }) => amountMinor),
  ...amounts('fee', paidFeeOf),
  ...amounts('refunded', ({ refundedMinor }) => refundedMinor),
  ...amounts('discount', ({ discountMinor }) => discountMinor),
  discount_code: ({ discountCode }) => discountCode,
  rail: ({ rail }) => rail,
  receipt: (row): Order['receipt'] => orderView(row).receipt,
  client_reference_id: ({ clientReferenceId }) => clientReferenceId,
  metadata: ({ metadata }) => metadata && JSON.stringify(metadata),
}
