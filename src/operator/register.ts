import type { Db } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Mailer } from '../kit/mail.ts'
import { runWaitingMails } from './waiting.ts'

interface OperatorParts {
  db: Db
  jobs: Jobs
  mailer: Mailer
  config: { operators: readonly string[] }
  appUrl: string
}

/** Registers what the operators of the service see and do. */
export async function registerOperator({ db, jobs, mailer, config, appUrl }: OperatorParts): Promise<void> {
  await runWaitingMails(jobs, { db, mailer, operators: config.operators, appUrl })
}
