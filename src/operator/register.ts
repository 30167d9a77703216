import type pg from 'pg'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Mailer } from '../kit/mail.ts'
import type { OrderUrls } from '../orders/urls.ts'
import type { PayoutRules } from '../payouts/runs.ts'
import { type ExportSettings, exportParts } from '../payouts/writers.ts'
import { type PaymentSettings, sellsOnTrial } from '../processors/settings.ts'
import type { Browsers } from '../sellers/guard.ts'
import { type Operators, operatorsOf } from './guard.ts'
import { lastBackup, lastDrill } from './backup.ts'
import { operatorOrderRoutes } from './order-routes.ts'
import { operatorPayoutRoutes } from './payout-routes.ts'
import { statementRoute } from './statement-route.ts'
import { type OperatorRouteParts, overviewRoutes } from './routes.ts'
import { runRunMails } from './run-mails.ts'
import { operatorSellerRoutes } from './seller-routes.ts'
import { taxRateRoutes } from './tax-rate-routes.ts'
import { runWaitingMails } from './waiting.ts'

/** A check of the machine that takes longer is reported as such. */
const CHECK_MS = 3000

interface OperatorParts {
  db: Db
  /** Runs of payouts read the whole ledger on connections of their own. */
  database: pg.PoolConfig
  jobs: Jobs
  mailer: Mailer
  browsers: Browsers
  config: {
    operators: readonly string[]
    dataDir: string
    storageDir: string
    s3: object | undefined
    backup: object | undefined
    databaseUrl: string | undefined
    secrets: readonly string[]
    payouts: PayoutRules & ExportSettings['payouts']
    isPublic: boolean
  } & PaymentSettings
  urls: Pick<OrderUrls, 'orderUrl'>
  baseUrl: string
  appUrl: string
}

/** Registers the operators' routes and jobs. Returns the guard by which the pages learn whether an operator asks. */
export async function registerOperator(
  server: Server,
  { db, database, jobs, mailer, browsers, config, urls, baseUrl, appUrl }: OperatorParts,
): Promise<Operators> {
  const operators = operatorsOf(browsers, config.operators)
  const folders = [...new Set([config.dataDir, ...(config.s3 ? [] : [config.storageDir])])]
  // BACKUP_URL is refused there: the server of DATABASE_URL has its own tools
  const elsewhere = async () => (config.databaseUrl ? lastDrill(db) : undefined)
  const backup = async () => (config.backup ? lastBackup(db) : elsewhere())
  const machine = { db, folders, addresses: [baseUrl, appUrl], backup, checkMs: CHECK_MS }
  const parts: OperatorRouteParts = {
    db,
    jobs,
    operators,
    machine,
    isOnTrial: sellsOnTrial(config),
    orderUrl: urls.orderUrl,
  }
  const work = { db, database, rules: config.payouts, ...exportParts(config) }
  await server.register(async (guarded: Server) => {
    // before anything of the request is read, so that no refusal tells that the route exists
    guarded.addHook('onRequest', async (request, reply) => {
      await operators.guard(request)
      reply.header('cache-control', 'no-store')
    })
    overviewRoutes(guarded, parts)
    operatorOrderRoutes(guarded, parts)
    operatorSellerRoutes(guarded, parts)
    taxRateRoutes(guarded, parts)
    operatorPayoutRoutes(guarded, { ...parts, work })
    await statementRoute(guarded, { ...parts, work })
  })
  await runWaitingMails(jobs, { db, mailer, operators: config.operators, appUrl })
  await runRunMails(jobs, { db, mailer, operators: config.operators, appUrl })
  return operators
}
