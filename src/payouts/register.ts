import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Log } from '../kit/log.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Browsers } from '../sellers/guard.ts'

export interface PayoutsParts {
  db: Db
  jobs: Jobs
  mailer: Mailer
  browsers: Browsers
  config: {
    secrets: readonly string[]
    operators: readonly string[]
    payouts: { holdDays: number; schedule: 'weekly' | 'monthly'; minimumMinor: Readonly<Record<string, number>> }
  }
  baseUrl: string
  appUrl: string
  log: Log
}

/** Registers the routes by which sellers see their payouts, and the jobs that propose runs. */
export async function registerPayouts(_server: Server, _parts: PayoutsParts): Promise<void> {}
