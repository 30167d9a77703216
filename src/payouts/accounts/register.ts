import type { Db } from '../../kit/database.ts'
import type { Server } from '../../kit/http.ts'
import { EVERY_MINUTE, EVERY_TEN_MINUTES, type Jobs } from '../../kit/jobs.ts'
import type { Limit } from '../../kit/limits.ts'
import type { Mailer } from '../../kit/mail.ts'
import { runAccountMails } from './mails.ts'
import { readAll, writeRule } from './accounts.ts'
import { readDueAccounts } from './due.ts'
import { mirrorSettlements } from './settlements.ts'
import { payerOf } from './payers.ts'
import { type AccountRouteParts, accountRoutes } from './routes.ts'

interface Parts extends Omit<AccountRouteParts, 'isNeeded' | 'payer' | 'limit'> {
  /** For writes at the start, however long they take. */
  startDb: Db
  jobs: Jobs
  mailer: Mailer
  config: { operators: readonly string[]; payouts: { by: string }; limits: { payout_account?: Limit } }
}

/** News about an account waits for hours when the processor is down: the job that reads due accounts brings them too. */
const TRIES = { retries: 10, retryDelaySeconds: 5, retryDelayMaxSeconds: 3600, expireSeconds: 60, atOnce: 2 }

/** Registers the connected accounts. The operators' own products sell on the service's account. */
export async function registerAccounts(server: Server, { config, mailer, startDb, ...more }: Parts): Promise<void> {
  const payer = payerOf(config.payouts.by)
  const isNeeded = payer !== undefined
  const parts = { ...more, payer: payer ?? 'stripe' }
  const { jobs } = parts
  await writeRule(startDb, { isNeeded, payer: parts.payer, own: config.operators })
  accountRoutes(server, { ...parts, isNeeded, limit: config.limits.payout_account })
  await runAccountMails(jobs, { db: parts.db, mailer, appUrl: parts.appUrl })
  await jobs.on<{ name: string }>('read_account', TRIES, ({ name }) => readAll(parts, name))
  await jobs.every(EVERY_MINUTE, 'read_accounts', () => readDueAccounts(parts))
  await jobs.every(EVERY_TEN_MINUTES, 'read_settlements', () => mirrorSettlements(parts.db, parts.processors))
}
