import type { Db } from '../kit/database.ts'
import type { Deadlines } from '../kit/deadlines.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import type { Limit } from '../kit/limits.ts'
import type { Log } from '../kit/log.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Reach } from '../kit/public-address.ts'
import { textSeal } from '../kit/sealed-text.ts'
import type { Browsers } from '../sellers/guard.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { startDispatcher } from './dispatcher.ts'
import { sealAgain } from './endpoints.ts'
import { eventRoutes } from './event-routes.ts'
import { sendEndpointMails, watchEndpoints } from './health.ts'
import { sendEndpointNotices } from './notices.ts'
import { sweepWebhooks } from './retention.ts'
import { endpointRoutes } from './routes.ts'
import { newSender } from './send.ts'

interface WebhooksParts {
  db: Db
  /** For writes at the start, however long they take. */
  startDb: Db
  jobs: Jobs
  mailer: Mailer
  browsers: Browsers
  config: {
    secrets: readonly string[]
    webhookReach: Reach
    limits: { endpoint_address?: Limit }
    deadlines: Pick<Deadlines, 'deliveryTryMs'>
  }
  baseUrl: string
  appUrl: string
  log: Log
}

/** Registers the routes of endpoints and events, and starts to send due deliveries. */
export async function registerWebhooks(server: Server, parts: WebhooksParts) {
  const { db, startDb, jobs, mailer, browsers, config, baseUrl, appUrl, log } = parts
  const seal = textSeal(config.secrets, 'webhook secrets')
  await sealAgain(startDb, seal)
  const reach = config.webhookReach
  const urls = { baseUrl, appUrl }
  const shared = { db, jobs, browsers, seal, reach, urls, addressLimit: config.limits.endpoint_address }
  endpointRoutes(server, shared)
  deliveryRoutes(server, shared)
  eventRoutes(server, shared)
  await sendEndpointNotices(jobs, { mailer, appUrl })
  await sendEndpointMails(jobs, { db, mailer, appUrl })
  await jobs.every(EVERY_TEN_MINUTES, 'watch_endpoints', () => watchEndpoints(db, jobs))
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_webhooks', () => sweepWebhooks(db))
  const sender = newSender({ reach, tryMs: config.deadlines.deliveryTryMs })
  const dispatcher = startDispatcher({ db, send: sender.send, seal, urls, log })
  return {
    /** Begins no further try, and gives those under way `waitMs`. */
    async stop(waitMs: number) {
      await dispatcher.stop(waitMs)
      sender.close()
    },
  }
}
