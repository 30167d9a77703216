import { Type } from 'typebox'
import { CSV_ROWS, listOf, sendCsv, wantsCsv } from '../kit/csv.ts'
import type { Db } from '../kit/database.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, allPages, pageOf } from '../kit/keyset.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { type Browsers, needs } from '../sellers/guard.ts'
import { ordersOf, sumsOf } from './made-of.ts'
import {
  PayoutDetail,
  PayoutParams,
  PayoutQuery,
  Payouts,
  PayoutsQuery,
  detailView,
  payoutView,
} from './list-schema.ts'
import { findPayout, listPayouts } from './list.ts'
import { PAYOUT_COLUMNS, lineColumns, linesOf } from './statement/csv.ts'
import { MOST_ORDERS, statementPdf } from './statement/pdf.ts'
import { statementTurns } from './statement/turns.ts'

const TAG = ['Payouts']

export interface PayoutListParts {
  db: Db
  browsers: Browsers
  /** The name of the service on statements. */
  host: string
}

/** A seller's payouts, with the orders in each, and its statement. A payout of another seller is not found. */
export function payoutListRoutes(server: Server, parts: PayoutListParts): void {
  listPayoutsRoute(server, parts)
  getPayoutRoute(server, parts)
  getStatementRoute(server, parts)
}

function listPayoutsRoute(server: Server, { db, browsers }: PayoutListParts): void {
  server.get(
    '/api/payouts',
    {
      schema: {
        operationId: 'listPayouts',
        summary: 'Your payouts',
        description: 'Newest first. With `Accept: text/csv` the response is a file with all payouts.',
        tags: TAG,
        security: needs('balance:read'),
        querystring: PayoutsQuery,
        response: { 200: listOf(Payouts, 'A page of payouts.'), ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { cursor, limit, currency, status: state } = request.query
      const after = afterOf(cursor, idPattern('po'))
      if (wantsCsv(request)) {
        const read = (from: typeof after, rows: number) =>
          listPayouts(db, seller.id, { currency, state }, { after: from, limit: rows })
        return sendCsv(request, reply, 'payouts', PAYOUT_COLUMNS, allPages(read, { after, limit: CSV_ROWS }))
      }
      const most = limitOf(limit)
      const rows = await listPayouts(db, seller.id, { currency, state }, { after, limit: most + 1 })
      return pageOf(rows, most, payoutView)
    },
  )
}

function getPayoutRoute(server: Server, { db, browsers }: PayoutListParts): void {
  server.get(
    '/api/payouts/:payoutId',
    {
      schema: {
        operationId: 'getPayout',
        summary: 'A payout, with its orders',
        description:
          'Its sums, which always come to the amount, and a page of its orders. With `Accept: text/csv` the response is a file with all orders, adjustments and carried amounts, whose nets add up to the payout.',
        tags: TAG,
        security: needs('balance:read'),
        params: PayoutParams,
        querystring: PayoutQuery,
        response: { 200: listOf(PayoutDetail, 'The payout.'), ...refusing('payout_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { cursor, limit } = request.query
      const after = afterOf(cursor, idPattern('ord'))
      const payout = await findPayout(db, seller.id, request.params.payoutId)
      const sums = await sumsOf(db, payout)
      if (wantsCsv(request)) {
        const read = (from: typeof after, rows: number) => ordersOf(db, payout, { after: from, limit: rows })
        const lines = linesOf(sums, allPages(read, { after: undefined, limit: CSV_ROWS }))
        return sendCsv(request, reply, `payout-${payout.reference}`, lineColumns(payout), lines)
      }
      const most = limitOf(limit)
      const orders = pageOf(await ordersOf(db, payout, { after, limit: most + 1 }), most, (order) => order)
      return detailView(payout, sums, orders)
    },
  )
}

function getStatementRoute(server: Server, { db, browsers, host }: PayoutListParts): void {
  const { inTurn } = statementTurns()
  server.get(
    '/api/payouts/:payoutId/statement.pdf',
    {
      schema: {
        operationId: 'getPayoutStatement',
        summary: 'The statement of a payout',
        description: `A PDF for your accountant. It lists up to ${MOST_ORDERS} orders, and its sums count all of them.`,
        tags: TAG,
        security: needs('balance:read'),
        produces: ['application/pdf'],
        params: PayoutParams,
        response: { 200: Type.Any({ description: 'The bytes.' }), ...refusing('payout_not_found', 'statements_busy') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const payout = await findPayout(db, seller.id, request.params.payoutId)
      const pdf = await inTurn(seller.id, async () => {
        const sums = await sumsOf(db, payout)
        const orders = await ordersOf(db, payout, { limit: MOST_ORDERS })
        return statementPdf({ ...sums, payout, seller, service: host, orders })
      })
      neverCached(reply)
      reply.type('application/pdf')
      reply.header('content-disposition', `attachment; filename="payout-${payout.reference}.pdf"`)
      return reply.send(pdf)
    },
  )
}
