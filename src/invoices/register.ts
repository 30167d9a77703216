import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import type { Browsers } from '../sellers/guard.ts'
import { profileRoutes } from './profile-routes.ts'

interface InvoicesParts {
  db: Db
  browsers: Browsers
}

/** Registers the routes and jobs of invoices. */
export function registerInvoices(server: Server, { db, browsers }: InvoicesParts): void {
  profileRoutes(server, { db, browsers })
}
