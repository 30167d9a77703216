import type pg from 'pg'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_MINUTE, EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { logoUrl } from '../sellers/brand.ts'
import { imageUrl } from '../products/images/urls.ts'
import type { Browsers } from '../sellers/guard.ts'
import { forgetIdempotencyKeys } from './create.ts'
import { discountRoutes } from './discounts/routes.ts'
import { downloadSigner } from './downloads.ts'
import { sendMails } from './mails.ts'
import { tellRecalled } from './recalled-files.ts'
import { downloadRoutes } from './routes.ts'
import { runSaleMails } from './sale-mails.ts'
import { orderPasses } from './order-passes.ts'
import type { OrderUrls } from './urls.ts'

interface OrdersParts {
  db: Db
  /** For work that takes longer than a statement of the service may. */
  database: pg.PoolConfig
  jobs: Jobs
  storage: Storage
  mailer: Mailer
  browsers: Browsers
  config: { secrets: readonly string[] }
  urls: Pick<OrderUrls, 'receiptUrl' | 'invoiceUrl' | 'payUrl'>
  baseUrl: string
  appUrl: string
}

/** Registers the routes of discounts and downloads, and the jobs that mail about orders. */
export async function registerOrders(
  server: Server,
  { db, database, jobs, storage, mailer, browsers, config, urls, baseUrl, appUrl }: OrdersParts,
): Promise<void> {
  discountRoutes(server, { db, browsers })
  downloadRoutes(server, { db, storage, signer: downloadSigner(config.secrets) })

  const passes = orderPasses(config.secrets)
  const pictureUrl = (imageId: string) => imageUrl(baseUrl, imageId, 'preview')
  await sendMails(jobs, {
    db,
    mailer,
    appUrl,
    receiptUrl: urls.receiptUrl,
    payAgainUrl: (productId, orderId, locale) =>
      urls.payUrl(productId, orderId, passes.tokenFor('pay', orderId), locale),
    invoiceUrl: urls.invoiceUrl,
    pictureUrl,
    logoUrl: (id) => logoUrl(baseUrl, id),
  })
  await runSaleMails(jobs, { db, mailer, appUrl })
  await jobs.every(EVERY_MINUTE, 'tell_recalled', () => tellRecalled(db, database, jobs), 'tell_withdrawn')
  await jobs.every(EVERY_TEN_MINUTES, 'forget_keys', () => forgetIdempotencyKeys(db))
}
