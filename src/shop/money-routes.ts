import { CSV_ROWS, type Columns, Decimal, listOf, sendCsv, wantsCsv } from '../kit/csv.ts'
import type { Db } from '../kit/database.ts'
import { notValid } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { afterOf, allPages, pageOf } from '../kit/keyset.ts'
import { periodOf } from '../kit/period.ts'
import { limitOf } from '../kit/schema.ts'
import { zoneOf } from '../kit/time-zones.ts'
import type { Processor } from '../processors/processor.ts'
import { processorFor } from '../processors/routing.ts'
import { type Browsers, needs } from '../sellers/guard.ts'
import { attentionOf } from './attention.ts'
import { balancesOf } from './balance.ts'
import { refusals } from './order-routes.ts'
import { Attention, Balance, Stats, StatsQuery, Transfers, TransfersQuery } from './schema.ts'
import { statsOf } from './stats.ts'
import { TRANSFER_ID, type TransferRow, listTransfers, transferView } from './transfers.ts'

const TAG = ['Money']
/** The period when the request names none. */
const USUAL_DAYS = 30
const DAY_MS = 86_400_000

export interface MoneyRouteParts {
  db: Db
  browsers: Browsers
  processors: ReadonlyMap<string, Processor>
  /** How long the money of a sale waits. */
  holdDays: number
}

/** A seller's balance, transfers and statistics, by the ledger; and everything that needs the seller's attention. */
export function moneyRoutes(server: Server, parts: MoneyRouteParts): void {
  getBalanceRoute(server, parts)
  listTransfersRoute(server, parts)
  getStatsRoute(server, parts)
  getAttentionRoute(server, parts)
}

function getBalanceRoute(server: Server, { db, browsers, holdDays }: MoneyRouteParts): void {
  server.get(
    '/api/balance',
    {
      schema: {
        operationId: 'getBalance',
        summary: 'Your balance in each currency',
        description: 'The exact sum of all your transfers, and how much of it can be paid out.',
        tags: TAG,
        security: needs('balance:read'),
        response: { 200: Balance, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return { items: await balancesOf(db, seller.id, holdDays) }
    },
  )
}

function listTransfersRoute(server: Server, { db, browsers }: MoneyRouteParts): void {
  server.get(
    '/api/transfers',
    {
      schema: {
        operationId: 'listTransfers',
        summary: 'The transfers of your account',
        description:
          'Newest first. Transfers of one order and one moment are in the order of booking: a sale before its fee. With `Accept: text/csv` the response is a file with all transfers.',
        tags: TAG,
        security: needs('balance:read', 'exports:read'),
        querystring: TransfersQuery,
        response: { 200: listOf(Transfers, 'A page of transfers.'), ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { cursor, limit, currency, orderId } = request.query
      const after = afterOf(cursor, TRANSFER_ID)
      const filter = { ...periodOf(request.query), currency, orderId }
      if (wantsCsv(request)) {
        const read = (from: typeof after, rows: number) =>
          listTransfers(db, seller.id, filter, { after: from, limit: rows })
        return sendCsv(request, reply, 'transfers', CSV_COLUMNS, allPages(read, { after, limit: CSV_ROWS }))
      }
      const most = limitOf(limit)
      const rows = await listTransfers(db, seller.id, filter, { after, limit: most + 1, withBalance: !orderId })
      return pageOf(rows, most, transferView)
    },
  )
}

function getStatsRoute(server: Server, { db, browsers }: MoneyRouteParts): void {
  server.get(
    '/api/stats',
    {
      schema: {
        operationId: 'getStats',
        summary: 'Statistics of your sales',
        description:
          'Sums of the orders paid in the period, for each currency: by interval, by rail, and for the five products with the highest sums. The default is the last 30 days, by day, in UTC. A period has at most 400 intervals.',
        tags: TAG,
        security: needs('balance:read'),
        querystring: StatsQuery,
        response: { 200: Stats, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { interval = 'day', timeZone = 'UTC', ...named } = request.query
      const { from: begin, to: end } = periodOf(named)
      const to = end ?? new Date(Math.max(Date.now(), (begin?.getTime() ?? 0) + 1))
      const from = begin ?? new Date(to.getTime() - USUAL_DAYS * DAY_MS)
      const zone = zoneOf(timeZone)
      if (!zone) throw notValid('timeZone', 'is the name of a time zone, such as Europe/Vienna')
      return { ...(await statsOf(db, seller.id, { from, to, interval, zone })), timeZone }
    },
  )
}

function getAttentionRoute(server: Server, { db, browsers, processors }: MoneyRouteParts): void {
  server.get(
    '/api/attention',
    {
      schema: {
        operationId: 'getAttention',
        summary: 'Everything that needs your attention',
        tags: TAG,
        security: needs('orders:read'),
        response: { 200: Attention, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const payable = (currency: string) => processorFor(processors, currency) !== undefined
      const matters = await attentionOf(db, seller.id, payable)
      return {
        items: matters.map(({ what, orderId, productId, name, email, at }) => ({
          what,
          ...(orderId !== null && { orderId }),
          ...(productId !== null && { productId }),
          ...(name !== null && { name }),
          ...(email !== null && { email }),
          at: at.toISOString(),
        })),
      }
    },
  )
}

const CSV_COLUMNS: Columns<TransferRow> = {
  transfer_id: ({ id }) => id,
  created_at: ({ createdAt }) => createdAt.toISOString(),
  kind: ({ kind }) => kind,
  order_id: ({ orderId }) => orderId,
  currency: ({ currency }) => currency,
  amount_minor: ({ amountMinor }) => amountMinor,
  amount: ({ amountMinor, currency }) => new Decimal(amountMinor, currency),
}
