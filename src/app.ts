import swagger from '@fastify/swagger'
import type pg from 'pg'
import { fileURLToPath } from 'node:url'
import { emailChangeRoutes } from './buyers/email-change-routes.ts'
import { sendEmailChangeMails } from './buyers/email-change-mails.ts'
import { sweepEmailChanges } from './buyers/email-changes.ts'
import { libraryRoutes } from './buyers/library-routes.ts'
import { mailboxCodeSender, sweepMailboxCodes } from './buyers/mailbox-codes.ts'
import { sendMailboxMails } from './buyers/mails.ts'
import { chargeRoutes } from './buyers/routes.ts'
import { productView, productViews } from './checkout/products.ts'
import { checkoutRoutes } from './checkout/routes.ts'
import type { Config } from './config.ts'
import { type Connection, connect, migrate } from './kit/database.ts'
import { healthRoutes } from './kit/health.ts'
import { newServer } from './kit/http.ts'
import { startJobs } from './kit/jobs.ts'
import { registerLimits, sweepLimits } from './kit/limits.ts'
import type { Log } from './kit/log.ts'
import { outboxMailer, smtpMailer } from './kit/mail.ts'
import { newSigner } from './kit/signing.ts'
import { openStorage } from './kit/storage/open.ts'
import { forgetIdempotencyKeys, orderMaker } from './orders/create.ts'
import { discountRoutes } from './orders/discounts/routes.ts'
import { downloadToken } from './orders/downloads.ts'
import { orderFinder } from './orders/find.ts'
import { sendMails } from './orders/mails.ts'
import { tellWithdrawn } from './orders/withdrawn-files.ts'
import { downloadRoutes } from './orders/routes.ts'
import { apiDescription, docsRoutes } from './pages/docs.ts'
import { outboxRoutes } from './pages/outbox.ts'
import { pageRoutes } from './pages/routes.ts'
import { reconcileDue } from './payments/asking/ask.ts'
import { attemptKeeper } from './payments/attempts/attempts.ts'
import { closePayments } from './payments/attempts/close.ts'
import { catchUp } from './payments/asking/catch-up.ts'
import { askLater } from './payments/asking/later.ts'
import { openProcessors } from './payments/open.ts'
import { proofMeasures, proveNightly } from './payments/prove/nightly.ts'
import { refundReturns, resumeRefunds } from './payments/refunds/refund.ts'
import { refundRoutes } from './payments/refunds/routes.ts'
import { webhookRoutes } from './payments/routes.ts'
import { sandboxRoutes } from './payments/sandbox/routes.ts'
import { runSandbox, sandboxProcessor } from './payments/sandbox/sandbox.ts'
import { settler } from './payments/settle/settle.ts'
import { ensureDemo } from './products/demo.ts'
import { uploadRoutes } from './products/uploads/routes.ts'
import { sweepUploads } from './products/uploads/uploads.ts'
import { imageRoutes } from './products/images/routes.ts'
import { imageUrl } from './products/images/urls.ts'
import { sweepImages } from './products/images/images.ts'
import { productRoutes } from './products/routes.ts'
import { accountRoutes } from './sellers/account-routes.ts'
import { codeSender } from './sellers/codes.ts'
import { sellerCookies, sessionCookieName } from './sellers/cookies.ts'
import { browsers } from './sellers/guard.ts'
import { identityRoutes } from './sellers/identity-routes.ts'
import { sendSellerMails } from './sellers/mails.ts'
import { providerRoutes } from './sellers/provider-routes.ts'
import { signInRoutes } from './sellers/routes.ts'
import { sessionFinder, sweepSessions } from './sellers/sessions.ts'
import { moneyRoutes } from './shop/money-routes.ts'
import { orderRoutes } from './shop/order-routes.ts'

const SCHEMA = fileURLToPath(new URL('../schema', import.meta.url))
const DIST = fileURLToPath(new URL('../dist', import.meta.url))
const OPEN_PATHS = /^\/api\/(checkout(?!\/[^/?]*\/email(\?|$))|sandbox)(\/|\?|$)|^\/api\/products\/[^/]+\/public(\?|$)/

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
export async function buildApp({ config, log, main: { db }, reserved, database, ownUrl, baseUrl, appUrl }: AppParts) {
  const start = connect(database, { connections: 1, onError: () => {}, patient: true })
  const migrated = await migrate(start.db, SCHEMA)
  if (migrated.length > 0) log.info({ migrated }, 'the schema is up to date')
  let closing = false

  const server = await newServer({
    log,
    trustProxy: config.trustProxy,
    appUrl,
    openPaths: OPEN_PATHS,
    sessionCookie: sessionCookieName(baseUrl),
  })
  await registerLimits(server)
  await server.register(swagger, apiDescription(baseUrl, sessionCookieName(baseUrl)))
  const jobs = await startJobs(database, log)
  const storage = await openStorage(config)
  healthRoutes(server, {
    db: reserved.db,
    isClosing: () => closing,
    metricsAreLocal: config.isPublic,
    measures: proofMeasures(reserved.db),
  })

  const settle = settler(reserved.db, jobs, { bankTtlHours: config.orderTtlHours.bank })
  const { statementPrefix } = config
  const processors = await openProcessors(
    {
      processors: config.processors,
      stripe: config.stripe && { ...config.stripe, statementPrefix },
      razorpay: config.razorpay,
      sandbox: () => sandboxProcessor(db, jobs, config.secrets),
    },
    log,
  )
  const asking = { db, processors, settle, log }
  const attempts = attemptKeeper(db)

  const demoIds = config.demo ? await ensureDemo(start.db, storage, '/demo-cover.png') : []
  await start.close()

  const cookies = sellerCookies({ baseUrl, cookieDomain: config.cookieDomain })
  const selling = {
    db,
    jobs,
    cookies,
    browsers: browsers(cookies, sessionFinder(db), newSigner(config.secrets, 'known browser')),
    sendCode: codeSender(db, jobs, config.secrets, config.limits),
    secrets: config.secrets,
    signup: config.signup,
    limits: config.limits,
  }
  signInRoutes(server, selling)
  accountRoutes(server, selling)
  const providing = {
    ...selling,
    appUrl,
    provider:
      config.idp &&
      (await import('./sellers/provider.ts')).identityProvider(config.idp, `${baseUrl}/api/auth/idp/callback`, log),
    attemptSigner: newSigner(config.secrets, 'provider attempt'),
  }
  providerRoutes(server, providing)
  identityRoutes(server, providing)

  uploadRoutes(server, { db, storage, browsers: selling.browsers, limits: config.uploads })
  const own = { db, browsers: selling.browsers, baseUrl, appUrl }
  productRoutes(server, own)
  await imageRoutes(server, { ...own, storage, quotaBytes: config.uploads.quotaBytes })

  const downloadSigner = newSigner(config.secrets, 'download')
  discountRoutes(server, selling)
  refundRoutes(server, selling)
  downloadRoutes(server, { db, storage, signer: downloadSigner })
  const orderUrl = (orderId: string) => `${appUrl}/order/?order=${orderId}`
  orderRoutes(server, { ...selling, orderUrl })
  emailChangeRoutes(server, selling)
  moneyRoutes(server, { ...selling, processors })
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
  await webhookRoutes(server, { db: reserved.db, processors, settle, log })
  checkoutRoutes(server, {
    ...asking,
    attempts,
    jobs,
    createOrder: orderMaker(db, jobs, {
      statementPrefix,
      ttlHours: config.orderTtlHours.instant,
      paymentsLive: processors.size > 0,
      freeMail: config.limits.free_mail,
    }),
    findOrder: orderFinder(db),
    limits: config.limits,
    baseUrl,
    links: {
      statusUrl: (orderId) => `${baseUrl}/api/checkout/${orderId}/status`,
      downloadUrl,
    },
  })
  if (processors.has('sandbox')) {
    sandboxRoutes(server, { db, jobs, secrets: config.secrets, limit: config.limits.sandbox })
    await runSandbox(db, jobs, config.secrets, () => `${ownUrl()}/api/webhooks/sandbox`)
  }
  if (!config.smtpUrl && !config.isPublic) outboxRoutes(server, db)
  docsRoutes(server, OPEN_PATHS)
  await pageRoutes(server, {
    dist: DIST,
    baseUrl,
    appUrl,
    outbox: !config.smtpUrl && !config.isPublic,
    idpLabel: config.idp?.label,
    signup: config.signup,
    demoProducts: () => productViews(db, processors, baseUrl, demoIds),
    findProduct: (productId) => productView(db, processors, baseUrl, productId),
  })

  const mailer = config.smtpUrl ? smtpMailer(config.smtpUrl, config.mailFrom) : outboxMailer(db)
  const pictureUrl = (imageId: string) => imageUrl(baseUrl, imageId, 'preview')
  await sendMails(jobs, { db, mailer, orderUrl, pictureUrl })
  await sendSellerMails(jobs, { db, mailer, secrets: config.secrets, signup: config.signup, appUrl })
  await sendMailboxMails(jobs, { db, mailer, secrets: config.secrets, appUrl })
  await sendEmailChangeMails(jobs, { db, mailer, secrets: config.secrets, orderUrl })
  await refundReturns(jobs, asking)
  await jobs.every('47 3 * * *', 'resume_refunds', () => resumeRefunds(db, jobs))
  await closePayments(jobs, asking)
  await jobs.every('* * * * *', 'reconcile', async () => void (await reconcileDue({ ...asking, attempts })))
  await askLater(jobs, asking)
  await jobs.every('* * * * *', 'catch_up', () => catchUp({ ...asking, jobs }))
  await jobs.every('* * * * *', 'tell_withdrawn', () => tellWithdrawn(db, jobs))
  await proveNightly(jobs, { db, database, processors, log })
  await jobs.every('*/10 * * * *', 'forget_keys', () => forgetIdempotencyKeys(db))
  await jobs.every('23 4 * * *', 'sweep_images', () => sweepImages(db, storage))
  await jobs.every('*/10 * * * *', 'sweep_limits', () => sweepLimits(db))
  await jobs.every('*/10 * * * *', 'sweep_sessions', () => sweepSessions(db))
  await jobs.every('*/10 * * * *', 'sweep_uploads', () => sweepUploads(db, storage))
  await jobs.every('*/10 * * * *', 'sweep_mailbox_codes', () => sweepMailboxCodes(db))
  await jobs.every('*/10 * * * *', 'sweep_email_changes', () => sweepEmailChanges(db))

  return {
    server,
    demoIds,
    reconcile: () => reconcileDue({ ...asking, attempts }),
    catchUp: () => catchUp({ ...asking, jobs }),
    tellWithdrawn: () => tellWithdrawn(db, jobs),
    /** Takes nothing new, finishes what runs, and hands the jobs over. */
    async close() {
      closing = true
      await jobs.rest()
      await server.close()
      await jobs.stop()
    },
  }
}
