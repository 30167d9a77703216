import type pg from 'pg'
import { registerAgents } from './agents/register.ts'
import { openMailers } from './app/mailers.ts'
import { measuresOf } from './app/measures.ts'
import { prepare } from './app/prepare.ts'
import { openServer } from './app/server.ts'
import { registerSweeps } from './app/sweeps.ts'
import { registerBackup } from './backup/register.ts'
import { registerBuyers } from './buyers/register.ts'
import { registerCheckout } from './checkout/register.ts'
import type { Config } from './config.ts'
import { type Connection, connect } from './kit/database.ts'
import type { EmbeddedPostgres } from './kit/embedded.ts'
import { healthRoutes } from './kit/health.ts'
import { closeWithin } from './kit/http.ts'
import { startJobs } from './kit/jobs.ts'
import type { Log } from './kit/log.ts'
import { registerInvoices } from './invoices/register.ts'
import { registerOperator } from './operator/register.ts'
import { registerOrders } from './orders/register.ts'
import { orderUrls } from './orders/urls.ts'
import { registerPages } from './pages/register.ts'
import { registerPayments } from './payments/register.ts'
import { storedPayments } from './payments/stored-payments.ts'
import { registerPayouts } from './payouts/register.ts'
import { registerProcessors } from './processors/register.ts'
import { registerProducts } from './products/register.ts'
import { registerSellers } from './sellers/register.ts'
import { registerShop } from './shop/register.ts'
import { registerTaxes } from './taxes/register.ts'
import { registerWebhooks } from './webhooks/register.ts'

export interface AppParts {
  config: Config
  log: Log
  /** For the requests of buyers and sellers. */
  main: Connection
  /** For work that must get through however busy the rest is: payments, and whether the service is ready. */
  reserved: Connection
  /** How the jobs, and the start itself, connect. */
  database: pg.PoolConfig
  /** The database, if this process runs it: only then can it be backed up. */
  embedded?: EmbeddedPostgres | undefined
  /** The address the service listens on, for itself. Known once it listens. */
  ownUrl: () => string
  /** Where buyers reach the API and the pages. */
  baseUrl: string
  appUrl: string
}

/**
 * The table of contents: each slice registers its routes and jobs, in the order in which slices may know each other. A queue is
 * there before a later slice adds jobs to it.
 */
export async function buildApp({ config, log, main, reserved, database, embedded, ownUrl, baseUrl, appUrl }: AppParts) {
  const { db } = main
  const { db: reservedDb } = reserved
  // a start must not fail because a busy machine takes seconds to open a connection
  const { db: startDb, close: endStart } = connect(database, { connections: 1, patient: true })
  const { storage, demo, isBackupLost } = await prepare(startDb, database, config, log)
  const server = await openServer(config, { baseUrl, appUrl }, log)
  const jobs = await startJobs(database, log)
  const { mailers, closeMailers } = await openMailers(config, db)
  const { mail: mailer, code: codeMailer } = mailers
  const connections = { main, reserved }
  const measures = measuresOf({ db: reservedDb, jobs, mailers, connections, config, embedded, isBackupLost })
  let closing = false
  healthRoutes(server, { db: reservedDb, isClosing: () => closing, config, measures })

  const stored = storedPayments(reservedDb)
  const processors = await registerProcessors(server, { db, reservedDb, jobs, config, stored, ownUrl, log })
  const browsers = await registerSellers(server, {
    db,
    jobs,
    processors,
    mailer,
    codeMailer,
    config,
    baseUrl,
    appUrl,
    log,
  })
  await registerProducts(server, { db, jobs, storage, mailer, browsers, config, baseUrl, appUrl })
  await registerTaxes(server, { db, jobs, browsers })
  const urls = orderUrls(config.secrets, baseUrl, appUrl)
  await registerOrders(server, { db, database, jobs, storage, mailer, browsers, config, urls, baseUrl, appUrl })
  await registerBuyers(server, { db, jobs, mailer, codeMailer, config, urls, baseUrl, appUrl })
  await registerInvoices(server, { db, jobs, browsers, config, urls })
  const payments = await registerPayments(server, { db, reservedDb, database, jobs, processors, browsers, config, log })
  await registerPayouts(server, { db, startDb, database, jobs, mailer, processors, browsers, config, appUrl, log })
  registerShop(server, { db, jobs, browsers, processors, config, urls })
  const webhooks = await registerWebhooks(server, { db, startDb, jobs, mailer, browsers, config, baseUrl, appUrl, log })
  registerCheckout(server, { db, jobs, processors, payments, config, urls, baseUrl })
  const hosts = { baseUrl, appUrl }
  const operators = await registerOperator(server, { db, database, jobs, mailer, browsers, config, urls, ...hosts })
  const { outboxUrl } = await registerPages(server, { db, startDb, processors, config, demo, operators, ...hosts })
  await registerAgents(server, { db, jobs, browsers, baseUrl, appUrl })
  await registerSweeps(jobs, db, config.retention)
  const backup = await registerBackup({ db, jobs, storage, embedded, mailer, config, appUrl, log })
  await endStart()

  return {
    server,
    jobs,
    payments,
    demo,
    outboxUrl,
    startDraining: () => (closing = true),
    /** Comes after the end of the database. */
    sendLastOfBackup: () => backup.sendLast(),
    /** Takes nothing new, gives running requests and deliveries `requestsMs` to finish, and hands the jobs over. */
    async close(requestsMs: number) {
      closing = true
      await jobs.rest()
      await Promise.all([closeWithin(server, requestsMs), webhooks.stop(requestsMs)])
      // a backup that runs is ended, so that its job does not hold up the stop
      await backup.stop()
      await jobs.stop()
      closeMailers()
    },
  }
}
