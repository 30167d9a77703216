import swagger from '@fastify/swagger'
import type pg from 'pg'
import { fileURLToPath } from 'node:url'
import { openMailers, registerMails } from './app/mails.ts'
import { measuresOf } from './app/measures.ts'
import { registerSweeps } from './app/sweeps.ts'
import { emailChangeRoutes } from './buyers/email-change-routes.ts'
import { libraryRoutes } from './buyers/library-routes.ts'
import { mailboxCodeSender } from './buyers/mailbox-codes.ts'
import { chargeRoutes } from './buyers/routes.ts'
import { ensureDemo } from './checkout/demo.ts'
import { productView, productViews } from './checkout/products.ts'
import { checkoutRoutes } from './checkout/routes.ts'
import type { Config } from './config.ts'
import { type Connection, connect } from './kit/database.ts'
import { healthRoutes } from './kit/health.ts'
import { CONNECTIONS_OF_A_NETWORK, closeWithin, newServer } from './kit/http.ts'
import { openInstallation } from './kit/installation.ts'
import { startJobs } from './kit/jobs.ts'
import { registerLimits } from './kit/limits.ts'
import type { Log } from './kit/log.ts'
import { migrate } from './kit/migrate.ts'
import { newSigner } from './kit/signing.ts'
import { orderMaker } from './orders/create.ts'
import { discountRoutes } from './orders/discounts/routes.ts'
import { downloadToken } from './orders/downloads.ts'
import { orderFinder } from './orders/find.ts'
import { enqueueSaleMails } from './orders/sale-mails.ts'
import { statusTokens } from './orders/status-tokens.ts'
import { enqueueRecallMails } from './orders/recalled-files.ts'
import { downloadRoutes } from './orders/routes.ts'
import { apiDescription, docsRoutes } from './pages/docs.ts'
import { openOutbox, outboxRoutes } from './pages/outbox.ts'
import { pageRoutes } from './pages/routes.ts'
import { syncDue } from './payments/sync/sync.ts'
import { attemptKeeper } from './payments/attempts/attempts.ts'
import { closePayments } from './payments/attempts/close.ts'
import { backfill } from './payments/sync/backfill.ts'
import { registerSyncLater } from './payments/sync/later.ts'
import { openProcessors } from './processors/open.ts'
import { registerReconciliation } from './payments/reconciliation/nightly.ts'
import { registerRefundJobs, resumeRefunds } from './payments/refunds/refund.ts'
import { refundRoutes } from './payments/refunds/routes.ts'
import { webhookRoutes } from './payments/routes.ts'
import { sandboxRoutes } from './processors/sandbox/routes.ts'
import { runSandbox, sandboxProcessor } from './processors/sandbox/sandbox.ts'
import { settler } from './payments/settle/settle.ts'
import { enqueueOffSaleMails } from './products/off-sale.ts'
import { uploadRoutes } from './products/uploads/routes.ts'
import { imageRoutes } from './products/images/routes.ts'
import { productRoutes } from './products/routes.ts'
import { accountRoutes } from './sellers/account-routes.ts'
import { codeSender } from './sellers/codes.ts'
import { sellerCookies, sessionCookieName } from './sellers/cookies.ts'
import { browsers } from './sellers/guard.ts'
import { identityRoutes } from './sellers/identity-routes.ts'
import { providerRoutes } from './sellers/provider-routes.ts'
import { signInRoutes } from './sellers/routes.ts'
import { moneyRoutes } from './shop/money-routes.ts'
import { orderRoutes } from './shop/order-routes.ts'

const SCHEMA = fileURLToPath(new URL('../schema', import.meta.url))
const DIST = fileURLToPath(new URL('../dist', import.meta.url))

export interface AppParts {
  config: Config
  log: Log
  /** For what buyers and sellers ask. */
  main: Connection
  /** For what must get through however busy the rest is: payments, and whether the service is ready. */
  reserved: Connection
  /** By what the jobs, and the start itself, connect. */
  database: pg.PoolConfig
  /** The address the service listens on, for itself; known once it listens. */
  ownUrl: () => string
  /** Where buyers reach the API and the pages. */
  baseUrl: string
  appUrl: string
}

/** The table of contents: every slice by name, in order. */
export async function buildApp({ config, log, main, reserved, database, ownUrl, baseUrl, appUrl }: AppParts) {
  const { db } = main
  const start = connect(database, { connections: 1, onError: () => {}, patient: true })
  await migrate(start.db, SCHEMA, log)
  const storage = await openInstallation(start.db, config, log)
  let closing = false
  const sessionCookie = sessionCookieName({ baseUrl, cookieDomain: config.cookieDomain })
  const server = await newServer({
    log,
    trustProxy: config.trustProxy,
    hosts: { addresses: [baseUrl, appUrl], anyAddress: config.demoOnNetwork },
    requests: config.limits.request,
    connections: config.isPublic || config.demoOnNetwork ? CONNECTIONS_OF_A_NETWORK : undefined,
    appUrl,
    sessionCookie,
  })
  await registerLimits(server)
  await server.register(swagger, apiDescription(baseUrl, sessionCookie))
  const jobs = await startJobs(database, log)
  const { mail, code, ...mailers } = openMailers(config, db)
  const connections = { main, reserved }
  const measures = measuresOf({ db: reserved.db, jobs, mailers: { mail, code }, connections, config })
  healthRoutes(server, { db: reserved.db, isClosing: () => closing, config, measures })

  const settle = settler(reserved.db, jobs, { bankTtlHours: config.orderTtlHours.bank })
  const { statementPrefix, deadlines } = config
  const processors = await openProcessors(
    {
      processors: config.processors,
      stripe: config.stripe,
      razorpay: config.razorpay,
      statementPrefix,
      callMs: deadlines.processorCallMs,
      db: reserved.db,
      sandbox: () => sandboxProcessor(db, jobs, config.secrets),
    },
    log,
  )
  const syncing = { db, processors, settle, log, ...deadlines }
  const attempts = attemptKeeper(db)

  const demo = config.demo ? await ensureDemo(start.db, storage, '/demo-cover.png') : []
  const demoIds = demo.map(({ id }) => id)
  await start.close()

  const cookies = sellerCookies({ baseUrl, cookieDomain: config.cookieDomain })
  const selling = {
    db,
    jobs,
    cookies,
    browsers: browsers(db, cookies, newSigner(config.secrets, 'known browser')),
    sendCode: codeSender(db, jobs, config.secrets, config.limits),
    secrets: config.secrets,
    signup: config.signup,
    limits: config.limits,
  }
  signInRoutes(server, selling)
  accountRoutes(server, selling)
  const callback = `${baseUrl}/api/auth/idp/callback`
  const providing = {
    ...selling,
    appUrl,
    provider:
      config.idp && (await import('./sellers/provider.ts')).identityProvider(config.idp, callback, log, deadlines),
    attemptSigner: newSigner(config.secrets, 'provider attempt'),
  }
  providerRoutes(server, providing)
  identityRoutes(server, providing)

  uploadRoutes(server, { db, storage, browsers: selling.browsers, limits: config.uploads })
  const own = { db, browsers: selling.browsers, baseUrl, appUrl, statementPrefix }
  productRoutes(server, own)
  await imageRoutes(server, { ...own, storage, limits: config.uploads })

  const downloadSigner = newSigner(config.secrets, 'download')
  discountRoutes(server, selling)
  refundRoutes(server, selling)
  downloadRoutes(server, { db, storage, signer: downloadSigner })
  const orderUrl = (orderId: string) => `${appUrl}/order/?order=${orderId}`
  orderRoutes(server, { ...selling, orderUrl })
  emailChangeRoutes(server, selling)
  moneyRoutes(server, { ...selling, processors })
  const tokens = statusTokens(newSigner(config.secrets, 'order status'))
  // after the "#", which no server and no proxy is told
  const receiptUrl = (orderId: string, email: string) => `${orderUrl(orderId)}#t=${tokens.tokenFor(orderId, email)}`
  const downloadUrl = (orderId: string, fileId: string, expiresAt: Date) =>
    `${baseUrl}/api/downloads/${downloadToken(downloadSigner, orderId, fileId, expiresAt)}`
  const buying = {
    db,
    secrets: config.secrets,
    limits: config.limits,
    sendCode: mailboxCodeSender(db, jobs, config.secrets, config.limits),
    baseUrl,
    orderUrl,
  }
  chargeRoutes(server, buying)
  libraryRoutes(server, { ...buying, downloadUrl, signer: newSigner(config.secrets, 'library') })
  await webhookRoutes(server, { db: reserved.db, processors, settle, log, askMs: deadlines.webhookAskMs })
  checkoutRoutes(server, {
    ...syncing,
    attempts,
    jobs,
    createOrder: orderMaker(db, jobs, {
      statementPrefix,
      ttlHours: config.orderTtlHours.instant,
      paymentsLive: processors.size > 0,
      freeMail: config.limits,
    }),
    findOrder: orderFinder(db),
    statusTokens: tokens,
    limits: config.limits,
    baseUrl,
    links: { statusUrl: (orderId) => `${baseUrl}/api/checkout/${orderId}/status`, downloadUrl },
  })
  if (processors.has('sandbox')) {
    const onlyFromHere = !config.isPublic && !config.demoOnNetwork
    sandboxRoutes(server, { db, jobs, secrets: config.secrets, limit: config.limits.sandbox, onlyFromHere })
    await runSandbox(db, jobs, config.secrets, () => `${ownUrl()}/api/webhooks/sandbox`)
  }
  const outbox = config.smtpUrl || config.isPublic ? undefined : openOutbox(config, appUrl)
  if (outbox) outboxRoutes(server, db, outbox)
  docsRoutes(server)
  await pageRoutes(server, {
    dist: DIST,
    baseUrl,
    appUrl,
    outbox: outbox !== undefined,
    idpLabel: config.idp?.label,
    signup: config.signup,
    statementPrefix,
    demoProducts: () => productViews(db, processors, baseUrl, demoIds),
    findProduct: (productId) => productView(db, processors, baseUrl, productId),
  })

  await registerMails(jobs, { db, mailer: mail, codeMailer: code, config, baseUrl, appUrl, orderUrl, receiptUrl })
  await registerRefundJobs(jobs, syncing)
  await jobs.every('47 3 * * *', 'resume_refunds', () => resumeRefunds(db, jobs))
  await closePayments(jobs, syncing)
  await jobs.every('* * * * *', 'sync_due', async () => void (await syncDue({ ...syncing, attempts })), 'reconcile')
  await registerSyncLater(jobs, syncing)
  await jobs.every('* * * * *', 'backfill', () => backfill({ ...syncing, jobs }), 'catch_up')
  await registerReconciliation(jobs, { db, database, processors, log })
  await registerSweeps(jobs, db, storage)

  return {
    server,
    demo,
    outboxUrl: outbox?.url,
    reconcile: () => syncDue({ ...syncing, attempts }),
    backfill: () => backfill({ ...syncing, jobs }),
    enqueueRecallMails: () => enqueueRecallMails(db, jobs),
    enqueueSaleMails: () => enqueueSaleMails(db, jobs),
    enqueueOffSaleMails: () => enqueueOffSaleMails(db, jobs),
    startDraining: () => (closing = true),
    /** Takes nothing new, gives what runs `requestsMs` to finish, and hands the jobs over. */
    async close(requestsMs: number) {
      closing = true
      await jobs.rest()
      await closeWithin(server, requestsMs)
      await jobs.stop()
      mailers.close()
    },
  }
}
