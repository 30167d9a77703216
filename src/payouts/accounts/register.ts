import type { Db } from '../../kit/database.ts'
import type { Server } from '../../kit/http.ts'
import { EVERY_MINUTE, type Jobs } from '../../kit/jobs.ts'
import type { Mailer } from '../../kit/mail.ts'
import { runAccountMails } from './mails.ts'
import { readAll, readDueAccounts, writeRule } from './accounts.ts'
import { type AccountRouteParts, accountRoutes } from './routes.ts'

interface Parts extends Omit<AccountRouteParts, 'isNeeded'> {
  /** For what is written at the start, however long it takes. */
  startDb: Db
  jobs: Jobs
  mailer: Mailer
  config: { operators: readonly string[]; payouts: { by: string } }
}

/** News about an account waits for hours when the processor is down: the job that reads due accounts brings them too. */
const TRIES = { retries: 10, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 2 }

/** Registers sellers' own accounts at the processor. The operators' own products sell on the service's account. */
export async function registerAccounts(server: Server, { config, mailer, startDb, ...parts }: Parts): Promise<void> {
  const { jobs } = parts
  const isNeeded = config.payouts.by === 'stripe-connect'
  await writeRule(startDb, { isNeeded, own: config.operators })
  accountRoutes(server, { ...parts, isNeeded })
  await runAccountMails(jobs, { db: parts.db, mailer, appUrl: parts.appUrl })
  await jobs.on<{ name: string }>('read_account', TRIES, ({ name }) => readAll(parts, name))
  await jobs.every(EVERY_MINUTE, 'read_accounts', () => readDueAccounts(parts))
}
