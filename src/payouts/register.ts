import type pg from 'pg'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Limit } from '../kit/limits.ts'
import type { Log } from '../kit/log.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Processor } from '../processors/processor.ts'
import type { Browsers } from '../sellers/guard.ts'
import { registerAccounts } from './accounts/register.ts'
import { balanceRoutes } from './balance-routes.ts'
import { detailsRoutes } from './details-routes.ts'
import { registerSchedule } from './schedule.ts'
import { payoutListRoutes } from './list-routes.ts'
import { payoutSeal } from './details.ts'
import { runPayoutMails } from './mails.ts'
import { sealPayoutsAgain } from './seal-again.ts'

interface PayoutsParts {
  db: Db
  /** For writes at the start, however long they take. */
  startDb: Db
  /** A run reads the whole ledger on a connection of its own. */
  database: pg.PoolConfig
  jobs: Jobs
  mailer: Mailer
  processors: ReadonlyMap<string, Processor>
  browsers: Browsers
  config: {
    secrets: readonly string[]
    operators: readonly string[]
    limits: { payout_account?: Limit }
    payouts: {
      by: 'manual' | 'stripe-connect' | 'razorpay-route'
      holdDays: number
      schedule: 'weekly' | 'monthly'
      minimumMinor: Readonly<Record<string, number>>
    }
  }
  appUrl: string
  log: Log
}

/**
 * Registers sellers' accounts at processors, the routes by which sellers see their payouts and say where they go, and the jobs that
 * propose runs.
 */
export async function registerPayouts(
  server: Server,
  { db, startDb, database, jobs, mailer, processors, browsers, config, appUrl, log }: PayoutsParts,
): Promise<void> {
  await registerAccounts(server, { db, startDb, jobs, mailer, processors, browsers, config, appUrl, log })
  const seal = payoutSeal(config.secrets)
  await sealPayoutsAgain(startDb, seal)
  detailsRoutes(server, { db, jobs, browsers, seal })
  payoutListRoutes(server, { db, browsers, host: new URL(appUrl).host })
  balanceRoutes(server, { db, browsers, payouts: config.payouts })
  await runPayoutMails(jobs, { db, mailer, appUrl })
  await registerSchedule(jobs, database, config.payouts)
}
