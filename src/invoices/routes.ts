import { Type } from 'typebox'
import { CSV_ROWS, type Columns, Decimal, listOf, sendCsv, wantsCsv } from '../kit/csv.ts'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, allPages, pageOf } from '../kit/keyset.ts'
import { type Limit, limited } from '../kit/limits.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import type { Signer } from '../kit/signing.ts'
import type { InvoiceUrl } from '../orders/invoice-links.ts'
import { type Browsers, needs } from '../sellers/guard.ts'
import { taxIdOf } from './document.ts'
import { drawn } from './drawn.ts'
import { type ListedRow, findInvoice, listInvoices } from './find.ts'
import { type Invoice, InvoiceParams, InvoiceToken, Invoices, InvoicesQuery } from './schema.ts'

const TAG = ['Invoices']

export interface InvoiceRouteParts {
  db: Db
  browsers: Browsers
  signer: Signer
  invoiceUrl: InvoiceUrl
  /** Of documents that are opened, for each network. */
  limit: Limit | undefined
}

/** A seller's documents, and each document for everybody who has its link. */
export function invoiceRoutes(server: Server, parts: InvoiceRouteParts): void {
  listInvoicesRoute(server, parts)
  getInvoiceRoute(server, parts)
}

function listInvoicesRoute(server: Server, { db, browsers, invoiceUrl }: InvoiceRouteParts): void {
  server.get(
    '/api/invoices',
    {
      schema: {
        operationId: 'listInvoices',
        summary: 'Your invoices and credit notes',
        description: 'Newest first. With `Accept: text/csv` the response is a file with all of them.',
        tags: TAG,
        security: needs('orders:read', 'exports:read'),
        querystring: InvoicesQuery,
        response: { 200: listOf(Invoices, 'A page of documents.'), ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { cursor, limit, format: _, ...filter } = request.query
      const after = afterOf(cursor, idPattern('inv'))
      if (wantsCsv(request)) {
        const read = (from: typeof after, rows: number) =>
          listInvoices(db, seller.id, filter, { after: from, limit: rows })
        return sendCsv(request, reply, 'invoices', CSV_COLUMNS, allPages(read, { after, limit: CSV_ROWS }))
      }
      neverCached(reply)
      const most = limitOf(limit)
      const rows = await listInvoices(db, seller.id, filter, { after, limit: most + 1 })
      return pageOf(rows, most, (row) => invoiceView(row, invoiceUrl))
    },
  )
}

function getInvoiceRoute(server: Server, { db, signer, limit }: InvoiceRouteParts): void {
  const draw = drawn()
  server.get(
    '/api/invoices/:invoiceId/document.pdf',
    {
      config: limited(limit),
      schema: {
        operationId: 'getInvoiceDocument',
        summary: 'A document as PDF',
        description:
          'The link of a list, a status or a mail. The PDF is in the language of the order, is drawn from what was stored when it was issued, and has the same content as EN 16931 XML attached (`factur-x.xml`).',
        tags: TAG,
        produces: ['application/pdf'],
        params: InvoiceParams,
        querystring: InvoiceToken,
        response: {
          200: Type.Any({ description: 'The bytes.' }),
          ...refusing('invoice_not_found', 'invoices_busy', 'rate_limited'),
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { invoiceId } = request.params
      if (!signer.verify(invoiceId, request.query.token))
        throw new Refusal(
          'invoice_not_found',
          'There is no such invoice. Please open the link again where you found it.',
        )
      const invoice = await findInvoice(db, invoiceId)
      const pdf = await draw(invoice)
      reply.type('application/pdf')
      reply.header('content-disposition', `inline; filename="${invoice.number}.pdf"`)
      return reply.send(pdf)
    },
  )
}

function invoiceView(row: ListedRow, invoiceUrl: InvoiceUrl): Invoice {
  const { id, orderId, number, kind, reason, amountMinor, currency, taxMinor, issuedAt, refersTo, data, taxIdState } =
    row
  const { email, details } = data.buyer
  const taxId = taxIdOf(data.buyer) && { taxId: taxIdOf(data.buyer)!.id, taxIdState: taxIdState ?? 'unchecked' }
  return {
    invoiceId: id,
    orderId,
    number,
    kind,
    reason,
    amount: amountMinor,
    currency,
    taxAmount: taxMinor,
    issuedAt: issuedAt.toISOString(),
    refersTo: refersTo?.number ?? null,
    buyer: { email, ...(details && { name: details.name, country: details.country }), ...taxId },
    url: invoiceUrl(id),
  }
}

const CSV_COLUMNS: Columns<ListedRow> = {
  number: ({ number }) => number,
  kind: ({ kind }) => kind,
  reason: ({ reason }) => reason,
  issued_at: ({ issuedAt }) => issuedAt.toISOString(),
  refers_to: ({ refersTo }) => refersTo?.number ?? '',
  order_id: ({ orderId }) => orderId,
  currency: ({ currency }) => currency,
  amount: ({ amountMinor, currency }) => new Decimal(amountMinor, currency),
  tax: ({ taxMinor, currency }) => (taxMinor === null ? '' : new Decimal(taxMinor, currency)),
  tax_rate: ({ data }) => data.tax?.rate ?? '',
  tax_country: ({ data }) => data.tax?.country ?? '',
  tax_treatment: ({ data }) => data.tax?.treatment ?? '',
  product: ({ data }) => data.line.name,
  buyer_email: ({ data }) => data.buyer.email,
  buyer_name: ({ data }) => data.buyer.details?.name ?? '',
  buyer_country: ({ data }) => data.buyer.details?.country ?? '',
  buyer_tax_id: ({ data }) => taxIdOf(data.buyer)?.id ?? '',
  buyer_tax_id_state: ({ taxIdState }) => taxIdState ?? '',
}
