import { Type } from 'typebox'
import { imagesOf } from '../products/images/urls.ts'
import type { CodeLimits } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { localeOf } from '../kit/locales.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { Amount, Code, Currency, NextCursor, PageQuery, Time, limitOf, refusing } from '../kit/schema.ts'
import type { Signer } from '../kit/signing.ts'
import { ListedInvoice, invoiceLinks, type InvoiceUrl } from '../orders/invoice-links.ts'
import { Download, type DownloadUrl, freshLinks } from '../orders/links.ts'
import { WithdrawnFiles, recalledFilesOf } from '../products/schema.ts'
import { STATES } from '../orders/states.ts'
import { BrandFields, logoUrl } from '../sellers/brand.ts'
import { type BuyerBrowser, buyerBrowser } from './browser.ts'
import { type Bought, listBought } from './library.ts'
import { type LibraryPass, libraryPass } from './library-pass.ts'
import { type SendMailboxCode, withProvenMailbox } from './mailbox-codes.ts'
import { ChargeCodeSent, Email } from './schema.ts'

const PATH = '/api/library'
const TAG = ['Library']
const refusals = refusing()

export const LibraryItem = Type.Object({
  orderId: Type.String(),
  orderUrl: Type.String({ description: 'The page of the order.' }),
  status: Type.Enum([...STATES]),
  product: Type.Object({ id: Type.String(), name: Type.String(), imageUrl: Type.Optional(Type.String()) }),
  seller: Type.Object({
    name: Type.String(),
    supportEmail: Type.String({ description: 'Where buyers reach the seller.' }),
    logoUrl: BrandFields.logoUrl,
  }),
  amount: Amount,
  currency: Currency,
  createdAt: Time,
  paidAt: Time,
  downloads: Type.Array(Download, { description: 'Empty when the money went back, or while a dispute is open.' }),
  withdrawnFiles: WithdrawnFiles,
  invoices: Type.Optional(Type.Array(ListedInvoice)),
})
export type LibraryItem = Type.Static<typeof LibraryItem>
export const Library = Type.Object({
  email: Type.String(),
  items: Type.Array(LibraryItem, { description: 'Newest first.' }),
  nextCursor: NextCursor,
})
export type Library = Type.Static<typeof Library>

interface LibraryUrls {
  baseUrl: string
  orderUrl: (orderId: string) => string
  downloadUrl: DownloadUrl
  invoiceUrl: InvoiceUrl
}

export interface LibraryParts extends LibraryUrls {
  db: Db
  secrets: readonly string[]
  limits: CodeLimits
  sendCode: SendMailboxCode
  signer: Signer
}

interface LibraryRouteParts extends LibraryParts {
  browser: BuyerBrowser
  pass: LibraryPass
}

/** The library: a buyer who proves a mailbox by a code sees all orders of that mailbox, of all sellers. */
export function libraryRoutes(server: Server, libraryParts: LibraryParts): void {
  const { baseUrl, signer } = libraryParts
  const browser = buyerBrowser(baseUrl, 'library')
  const parts = { ...libraryParts, browser, pass: libraryPass(baseUrl, signer) }
  requestLibraryCodeRoute(server, parts)
  openLibraryRoute(server, parts)
  getLibraryRoute(server, parts)
  closeLibraryRoute(server, parts)
}

function requestLibraryCodeRoute(server: Server, { sendCode, browser }: LibraryRouteParts): void {
  server.post(
    `${PATH}/code`,
    {
      schema: {
        operationId: 'requestLibraryCode',
        summary: 'Send a code to a buyer’s mailbox',
        description:
          'The code has six digits. It works once, for ten minutes and five tries, and only in the browser that requested it. The response is the same whether the address has orders or not.',
        tags: TAG,
        body: Type.Object({ email: Email }),
        response: { 202: ChargeCodeSent, ...refusing('rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { browserHash, keep } = browser.newCodeHolder()
      const { resendAfterSeconds } = await sendCode({
        email: canonicalEmail(request.body.email),
        purpose: 'library',
        browserHash,
        previousBrowserHash: browser.codeHolder(request),
        network: browser.networkOf(request),
        locale: localeOf(request.headers['accept-language']),
      })
      keep(reply)
      return reply.code(202).send({ resendAfter: resendAfterSeconds })
    },
  )
}

function openLibraryRoute(server: Server, parts: LibraryRouteParts): void {
  const { browser, pass } = parts
  server.post(
    `${PATH}/verify`,
    {
      schema: {
        operationId: 'openLibrary',
        summary: 'Open the list of all orders of an address',
        description: 'Uses the code up. A cookie keeps the list open in this browser for an hour.',
        tags: TAG,
        body: Type.Object({ email: Email, code: Code }),
        response: { 200: Library, ...refusing('invalid_code', 'cookie_missing', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const email = canonicalEmail(request.body.email)
      const library = await withProvenMailbox(
        parts,
        {
          email,
          purpose: 'library',
          code: request.body.code,
          browserHash: browser.neededCodeHolder(request),
          network: browser.networkOf(request),
        },
        (tx) => libraryOf(tx, parts, { email, limit: limitOf(undefined) }),
      )
      browser.forgetCode(reply)
      pass.give(reply, email)
      return library
    },
  )
}

function getLibraryRoute(server: Server, parts: LibraryRouteParts): void {
  const { pass } = parts
  server.get(
    PATH,
    {
      schema: {
        operationId: 'getLibrary',
        summary: 'The orders of the address that this browser has proven',
        description: 'Each response has new links. 401 `not_signed_in`: request a code first.',
        tags: TAG,
        querystring: Type.Object(PageQuery),
        response: { 200: Library, ...refusing('not_signed_in') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const email = pass.holder(request)
      if (email === undefined) throw new Refusal('not_signed_in', 'Ask for a code first: the last one is used up.')
      const after = afterOf(request.query.cursor, idPattern('ord'))
      return libraryOf(parts.db, parts, { email, limit: limitOf(request.query.limit), after })
    },
  )
}

function closeLibraryRoute(server: Server, { pass }: LibraryRouteParts): void {
  server.delete(
    PATH,
    {
      schema: {
        operationId: 'closeLibrary',
        summary: 'Close the list in this browser',
        tags: TAG,
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (_request, reply) => {
      neverCached(reply)
      pass.takeBack(reply)
      return reply.code(204).send(null)
    },
  )
}

async function libraryOf(
  db: Db,
  urls: LibraryUrls,
  { email, limit, after }: { email: string; limit: number; after?: string | undefined },
): Promise<Library> {
  const rows = await listBought(db, email, { after, limit: limit + 1 })
  return { email, ...pageOf(rows, limit, (row) => itemOf(row, urls)) }
}

const itemOf = (row: Bought, { baseUrl, orderUrl, downloadUrl, invoiceUrl }: LibraryUrls): LibraryItem => ({
  orderId: row.id,
  orderUrl: orderUrl(row.id),
  status: row.state,
  product: { id: row.productId, name: row.productName, ...pictureOf(row, baseUrl) },
  seller: {
    name: row.sellerName,
    supportEmail: row.supportEmail,
    ...(row.brand.logoId && { logoUrl: logoUrl(baseUrl, row.brand.logoId) }),
  },
  amount: row.amountMinor,
  currency: row.currency,
  createdAt: row.createdAt.toISOString(),
  paidAt: row.paidAt.toISOString(),
  downloads: freshLinks(row, downloadUrl),
  ...invoiceLinks(row.invoices, invoiceUrl),
  ...recalledFilesOf(row.recalled),
})

/** The small size, because a list shows many pictures. */
function pictureOf(row: Bought, baseUrl: string): { imageUrl?: string } {
  const { imageUrl, images } = imagesOf(baseUrl, row)
  return imageUrl === undefined ? {} : { imageUrl: images?.[320] ?? imageUrl }
}
