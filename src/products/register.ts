import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_MINUTE, EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Storage } from '../kit/storage/storage.ts'
import type { Browsers } from '../sellers/guard.ts'
import { brandRoutes } from './brand/routes.ts'
import { sweepImages } from './images/images.ts'
import { imageRoutes } from './images/routes.ts'
import { sendProductMails, enqueueOffSaleMails } from './off-sale.ts'
import { productRoutes } from './routes.ts'
import type { UploadLimits } from './uploads/limits.ts'
import { uploadRoutes } from './uploads/routes.ts'
import { sweepUploads } from './uploads/uploads.ts'

const NIGHTLY = '23 4 * * *'

interface ProductsParts {
  db: Db
  jobs: Jobs
  storage: Storage
  mailer: Mailer
  browsers: Browsers
  config: { uploads: UploadLimits; statementPrefix: string }
  baseUrl: string
  appUrl: string
}

/** Registers the routes and jobs of products, their files and their pictures. */
export async function registerProducts(
  server: Server,
  { db, jobs, storage, mailer, browsers, config: { uploads, statementPrefix }, baseUrl, appUrl }: ProductsParts,
): Promise<void> {
  uploadRoutes(server, { db, storage, browsers, limits: uploads })
  productRoutes(server, { db, browsers, baseUrl, appUrl, statementPrefix })
  brandRoutes(server, { db, browsers, baseUrl, appUrl })
  await imageRoutes(server, { db, storage, browsers, baseUrl, appUrl, limits: uploads })

  await sendProductMails(jobs, { db, mailer, appUrl })
  await jobs.every(EVERY_MINUTE, 'tell_off_sale', () => enqueueOffSaleMails(db, jobs))
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_uploads', () => sweepUploads(db, storage))
  await jobs.every(NIGHTLY, 'sweep_images', () => sweepImages(db, storage))
}
