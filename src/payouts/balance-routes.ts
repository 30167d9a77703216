import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { type Browsers, needs } from '../sellers/guard.ts'
import { balanceDaysOf } from './history.ts'
import { BalanceHistory, HistoryQuery, NextPayouts } from './list-schema.ts'
import { type NextRules, hasRun, nextPayoutsOf, nextRunOn } from './next.ts'

const USUAL_DAYS = 30

export interface BalanceParts {
  db: Db
  browsers: Browsers
  payouts: NextRules & { by: NextPayouts['by'] }
}

/** The next payouts from a seller's balance, and its history. */
export function balanceRoutes(server: Server, parts: BalanceParts): void {
  getNextPayoutsRoute(server, parts)
  getBalanceHistoryRoute(server, parts)
}

function getNextPayoutsRoute(server: Server, { db, browsers, payouts }: BalanceParts): void {
  server.get(
    '/api/payouts/next',
    {
      schema: {
        operationId: 'getNextPayouts',
        summary: 'Your next payouts',
        description:
          'When the next payouts are proposed, how much they would be as things stand, and why nothing would be paid. The operator approves them.',
        tags: ['Payouts'],
        security: needs('balance:read'),
        response: { 200: NextPayouts, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { by, schedule, holdDays } = payouts
      const now = new Date()
      const runOn = nextRunOn(schedule, now, await hasRun(db, schedule, now))
      const next = await nextPayoutsOf(db, seller.id, payouts, runOn)
      const items = next.map(({ currency, expectedMinor, minimumMinor, blocked, payableFrom }) => ({
        currency,
        expected: expectedMinor,
        minimum: minimumMinor,
        blocked,
        ...(payableFrom && { payableFrom: payableFrom.toISOString() }),
      }))
      return { by, schedule, holdDays, runOn, items }
    },
  )
}

function getBalanceHistoryRoute(server: Server, { db, browsers }: BalanceParts): void {
  server.get(
    '/api/balance/history',
    {
      schema: {
        operationId: 'getBalanceHistory',
        summary: 'Your balance, day by day',
        description: 'The balance in each currency at the end of each of the last days, in UTC.',
        tags: ['Money'],
        security: needs('balance:read'),
        querystring: HistoryQuery,
        response: { 200: BalanceHistory, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const history = await balanceDaysOf(db, seller.id, Number(request.query.days ?? USUAL_DAYS))
      const items = history.map(({ currency, days }) => ({
        currency,
        days: days.map(({ on, balanceMinor }) => ({ on, balance: balanceMinor })),
      }))
      return { items }
    },
  )
}
