import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { type Limit, limited, networkOf } from '../kit/limits.ts'
import { refusing } from '../kit/schema.ts'
import { addInvoiceDetails } from '../invoices/details.ts'
import { InvoiceDetails } from '../invoices/schema.ts'
import type { FindOrder } from '../orders/find.ts'
import { ListedInvoice, invoiceLinks, type InvoiceUrl } from '../orders/invoice-links.ts'
import type { MatchingAddress } from './matching-address.ts'
import { StatusParams } from './schema.ts'

interface InvoiceDetailsParts {
  db: Db
  findOrder: FindOrder
  limits: { receipt?: Limit }
  refuseUnknown: (request: FastifyRequest) => Promise<never>
  matchingAddress: MatchingAddress
  links: { invoiceUrl: InvoiceUrl }
  asksVies: boolean
}

/** A buyer who has paid adds a company, an address and a tax id, and gets a corrected invoice. */
export function invoiceDetailsRoute(server: Server, parts: InvoiceDetailsParts): void {
  const { db, findOrder, limits, refuseUnknown, matchingAddress, links, asksVies } = parts
  server.put(
    '/api/checkout/:orderId/invoice-details',
    {
      config: {
        anyOrigin: true,
        ...limited(
          limits.receipt,
          (request) => `invoice ${(request.params as { orderId: string }).orderId} ${networkOf(request.ip)}`,
        ),
      },
      schema: {
        operationId: 'putInvoiceDetails',
        summary: 'Add a company, address and tax id to the invoice',
        description:
          'For 30 days after the payment, with the address of the order, and not after a refund or a lost dispute. An invoice is never changed: a corrected invoice is issued, with its own number, which refers to the first and takes its place. The same details again change nothing. A wrong address gets the answer of an unknown order.',
        tags: ['Checkout'],
        params: StatusParams,
        body: InvoiceDetails,
        response: {
          200: Type.Object({ invoices: Type.Array(ListedInvoice) }),
          ...refusing(
            'order_not_found',
            'invoice_not_found',
            'invoice_details_over',
            'too_many_corrections',
            'country_unknown',
            'tax_id_invalid',
            'rate_limited',
          ),
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { orderId } = request.params
      const { email, token, ...details } = request.body
      const order = await findOrder(orderId)
      if (!order || (await matchingAddress(order, { email, token })) === undefined) return refuseUnknown(request)
      await addInvoiceDetails(db, orderId, details, { asksVies })
      const now = await findOrder(orderId)
      return { invoices: invoiceLinks(now?.invoices ?? null, links.invoiceUrl).invoices ?? [] }
    },
  )
}
