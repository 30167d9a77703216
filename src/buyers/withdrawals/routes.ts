import type { Db } from '../../kit/database.ts'
import { canonicalEmail } from '../../kit/email.ts'
import { type Server, neverCached } from '../../kit/http.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { networkOf } from '../../kit/limits.ts'
import { localeOf } from '../../kit/locales.ts'
import { refusing } from '../../kit/schema.ts'
import { NewWithdrawal, Withdrawal } from './schema.ts'
import { type WithdrawalLimits, withdraw } from './statements.ts'

/** The withdrawal function for buyers: a guest states it, and gets an acknowledgement. */
export function withdrawalRoutes(server: Server, parts: { db: Db; jobs: Jobs; limits: WithdrawalLimits }): void {
  server.post(
    '/api/withdrawals',
    {
      schema: {
        operationId: 'withdraw',
        summary: 'Withdraw from a contract',
        description:
          'Takes a buyer’s statement of withdrawal, and mails an acknowledgement with its content and time. It needs no sign-in and no reason. The response is the same whether there is such an order or not. A repeat with the same `key` is the same statement.',
        tags: ['Withdrawals'],
        body: NewWithdrawal,
        response: { 201: Withdrawal, ...refusing('rate_limited', 'idempotency_key_reused') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { email, ...statement } = request.body
      const made = await withdraw(parts, {
        ...statement,
        email: canonicalEmail(email),
        network: networkOf(request.ip),
        locale: localeOf(request.headers['accept-language']),
      })
      return reply.code(201).send(made)
    },
  )
}
