import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { afterId } from '../kit/keyset.ts'
import { refusing } from '../kit/schema.ts'
import { type Browsers, NEEDS_SESSION } from '../sellers/guard.ts'
import { archiveProduct, changeProduct, etagOf, makeProduct, removeFile, versionsOf } from './change.ts'
import { type ProductRow, findProduct, listProducts, productOf } from './find.ts'
import {
  IfMatch,
  NewProductBody,
  OwnFileParams,
  OwnProductParams,
  Product,
  ProductChange,
  ProductList,
  ProductQuery,
} from './schema.ts'

export interface ProductParts {
  db: Db
  browsers: Browsers
  baseUrl: string
  appUrl: string
}

export const TAG = ['Products']
export const refusals = refusing()
export const NOTHING = { 204: Type.Null({ description: 'Done.' }), ...refusals }

/** A product as it is answered, with what `If-Match` wants to know. */
export function answer(reply: FastifyReply, row: ProductRow, urls: { baseUrl: string; appUrl: string }): Product {
  reply.header('etag', etagOf(row))
  return productOf(row, urls)
}

/** A seller's own products. Somebody else's are not found. */
export function productRoutes(server: Server, parts: ProductParts): void {
  const { db, browsers } = parts

  server.post(
    '/api/products',
    {
      schema: {
        operationId: 'createProduct',
        summary: 'Make a product',
        description: 'A draft until its status is active. Files and a picture are added to what is made.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: NewProductBody,
        response: { 201: Product, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const product = await makeProduct(db, seller.id, request.body)
      reply.code(201).header('location', `${parts.baseUrl}/api/products/${product.id}`)
      return answer(reply, product, parts)
    },
  )

  server.get(
    '/api/products',
    {
      schema: {
        operationId: 'listProducts',
        summary: 'One’s own products, the newest first',
        tags: TAG,
        security: NEEDS_SESSION,
        querystring: ProductQuery,
        response: { 200: ProductList, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const { status, q } = request.query
      const { items, nextCursor } = await listProducts(db, {
        sellerId: seller.id,
        ...afterId('prod', request.query),
        status,
        q: q?.trim(),
      })
      return { items: items.map((product) => productOf(product, parts)), nextCursor }
    },
  )

  server.get(
    '/api/products/:productId',
    {
      schema: {
        operationId: 'getOwnProduct',
        summary: 'One of one’s own products',
        description: 'Its `ETag` goes into the `If-Match` of a change.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: OwnProductParams,
        response: { 200: Product, ...refusing('product_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      return answer(reply, await findProduct(db, seller.id, request.params.productId), parts)
    },
  )

  server.patch(
    '/api/products/:productId',
    {
      schema: {
        operationId: 'changeProduct',
        summary: 'Change a product',
        description:
          'What is not sent stays. Orders that are made already keep their price, currency and name. An archived product is for sale again once its status is active.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: OwnProductParams,
        headers: IfMatch,
        body: ProductChange,
        response: { 200: Product, ...refusing('product_not_found', 'changed_meanwhile') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const { productId } = request.params
      const versions = versionsOf(request.headers['if-match'])
      return answer(reply, await changeProduct(db, { sellerId: seller.id, productId, versions }, request.body), parts)
    },
  )

  server.delete(
    '/api/products/:productId',
    {
      schema: {
        operationId: 'archiveProduct',
        summary: 'Archive a product',
        description: 'It is no longer for sale. Who bought it keeps the files.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: OwnProductParams,
        response: { ...NOTHING, ...refusing('product_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      await archiveProduct(db, seller.id, request.params.productId)
      return reply.code(204).send(null)
    },
  )

  server.delete(
    '/api/products/:productId/files/:fileId',
    {
      schema: {
        operationId: 'removeFile',
        summary: 'Take a file off a product',
        description: 'Who buys from now on does not get it. Who has bought it keeps it.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: OwnFileParams,
        response: { ...NOTHING, ...refusing('product_not_found', 'file_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      await removeFile(db, seller.id, request.params.productId, request.params.fileId)
      return reply.code(204).send(null)
    },
  )
}
