import type { Db } from '../../kit/database.ts'
import type { Server } from '../../kit/http.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../../kit/jobs.ts'
import type { Mailer } from '../../kit/mail.ts'
import { sendAcknowledgements } from './mails.ts'
import { findForgotten, findWithdrawn } from './orders.ts'
import { withdrawalRoutes } from './routes.ts'
import type { WithdrawalLimits } from './statements.ts'

interface Parts {
  db: Db
  jobs: Jobs
  mailer: Mailer
  limits: WithdrawalLimits
  appUrl: string
}

const TRIES = { retries: 50, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 1 }

/** Registers the withdrawal function: its route, the acknowledgements, and the job that finds the orders. */
export async function registerWithdrawals(server: Server, { db, jobs, mailer, limits, appUrl }: Parts): Promise<void> {
  withdrawalRoutes(server, { db, jobs, limits })
  await sendAcknowledgements(jobs, { db, mailer, appUrl })
  await jobs.on<{ id: string }>('find_withdrawn', TRIES, ({ id }) => findWithdrawn(db, jobs, id))
  await jobs.every(EVERY_TEN_MINUTES, 'find_forgotten_withdrawals', () => findForgotten(db, jobs))
}
