import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_MINUTE, type Jobs } from '../kit/jobs.ts'
import type { Limit } from '../kit/limits.ts'
import { invoiceSigner } from '../orders/invoice-links.ts'
import type { OrderUrls } from '../orders/urls.ts'
import type { Browsers } from '../sellers/guard.ts'
import { registerAsker } from '../tax-ids/vies.ts'
import { profileRoutes } from './profile-routes.ts'
import { invoiceRoutes } from './routes.ts'
import { askDueTaxIds } from './tax-id-checks.ts'

interface InvoicesParts {
  db: Db
  jobs: Jobs
  browsers: Browsers
  config: { secrets: readonly string[]; viesUrl: string | undefined; limits: { invoice?: Limit } }
  urls: Pick<OrderUrls, 'invoiceUrl'>
}

/** Registers the routes and jobs of invoices. */
export async function registerInvoices(
  server: Server,
  { db, jobs, browsers, config, urls }: InvoicesParts,
): Promise<void> {
  profileRoutes(server, { db, browsers })
  invoiceRoutes(server, {
    db,
    browsers,
    signer: invoiceSigner(config.secrets),
    invoiceUrl: urls.invoiceUrl,
    limit: config.limits.invoice,
  })
  const ask = registerAsker(config.viesUrl, { log: server.log })
  if (config.viesUrl) await jobs.every(EVERY_MINUTE, 'check_tax_ids', () => askDueTaxIds(db, ask))
  else await jobs.never('check_tax_ids')
}
