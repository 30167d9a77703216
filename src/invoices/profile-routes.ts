import type { Db } from '../kit/database.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { type Browsers, NEEDS_SESSION } from '../sellers/guard.ts'
import { findProfile, putProfile } from './profile.ts'
import { InvoiceProfile, OwnProfile } from './schema.ts'

const TAG = ['Invoices']

/** The signed-in seller switches invoices on or off, and sets the details on them. */
export function profileRoutes(server: Server, { db, browsers }: { db: Db; browsers: Browsers }): void {
  server.get(
    '/api/invoice-profile',
    {
      schema: {
        operationId: 'getInvoiceProfile',
        summary: 'Your details on your invoices',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: OwnProfile, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      neverCached(reply)
      return findProfile(db, seller.id)
    },
  )
  server.put(
    '/api/invoice-profile',
    {
      schema: {
        operationId: 'putInvoiceProfile',
        summary: 'Switch invoices on or off, and say what stands on them',
        description:
          'While they are on, every sale with a price gets an invoice with a gapless number of yours, and every refund and lost dispute of it a credit note. Documents that were issued never change. You are the seller and file your own taxes: this service is not the merchant of record.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: InvoiceProfile,
        response: { 200: OwnProfile, ...refusing('country_unknown', 'tax_id_invalid') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      neverCached(reply)
      return putProfile(db, seller.id, request.body)
    },
  )
}
