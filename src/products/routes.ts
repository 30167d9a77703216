import type { FastifyReply } from 'fastify'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { DONE, limitOf, refusing } from '../kit/schema.ts'
import { type Browsers, needs } from '../sellers/guard.ts'
import { archiveProduct, changeProduct, etagOf, makeProduct, versionsOf } from './change.ts'
import { changeFile, removeFile } from './files.ts'
import { viewOf } from './uploads/uploads.ts'
import { type ProductRow, findProduct, listProducts, productOf } from './find.ts'
import {
  FileChange,
  IfMatch,
  NewProductBody,
  NewProductHeaders,
  OwnFileParams,
  OwnProductParams,
  Product,
  ProductChange,
  ProductFile,
  ProductList,
  ProductQuery,
} from './schema.ts'

export interface ProductParts {
  db: Db
  browsers: Browsers
  baseUrl: string
  appUrl: string
}

/** `statementPrefix` is the beginning of every statement descriptor. */
type WritingParts = ProductParts & { statementPrefix: string }

export const TAG = ['Products']
const refusals = refusing()
export const NOTHING = { ...DONE, ...refusals }

/** The product for an answer, with the `ETag` that a later `If-Match` names. */
export function answer(reply: FastifyReply, row: ProductRow, urls: { baseUrl: string; appUrl: string }): Product {
  reply.header('etag', etagOf(row))
  return productOf(row, urls)
}

/** Sellers manage their own products. Products of other sellers are not found. */
export function productRoutes(server: Server, parts: WritingParts): void {
  createProductRoute(server, parts)
  listProductsRoute(server, parts)
  getOwnProductRoute(server, parts)
  changeProductRoute(server, parts)
  archiveProductRoute(server, parts)
  changeFileRoute(server, parts)
  removeFileRoute(server, parts)
}

function createProductRoute(server: Server, parts: WritingParts): void {
  const { db, browsers, statementPrefix } = parts
  server.post(
    '/api/products',
    {
      schema: {
        operationId: 'createProduct',
        summary: 'Create a product',
        description:
          'The product begins as a draft: add its files and a picture, then set its status to active. A product without files is not for sale.',
        tags: TAG,
        security: needs('products:write'),
        headers: NewProductHeaders,
        body: NewProductBody,
        response: { 201: Product, ...refusing('product_has_no_files', 'too_many_products', 'idempotency_key_reused') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const made = { sellerId: seller.id, statementPrefix, idempotencyKey: request.headers['idempotency-key'] }
      const product = await makeProduct(db, made, request.body)
      reply.code(201).header('location', `${parts.baseUrl}/api/products/${product.id}`)
      return answer(reply, product, parts)
    },
  )
}

function listProductsRoute(server: Server, parts: ProductParts): void {
  const { db, browsers } = parts
  server.get(
    '/api/products',
    {
      schema: {
        operationId: 'listProducts',
        summary: 'Your products, newest first',
        tags: TAG,
        security: needs('products:read'),
        querystring: ProductQuery,
        response: { 200: ProductList, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      const { cursor, limit, status, q } = request.query
      const after = afterOf(cursor, idPattern('prod'))
      const most = limitOf(limit)
      const rows = await listProducts(db, {
        sellerId: seller.id,
        productIds,
        after,
        limit: most + 1,
        status,
        q: q?.trim(),
      })
      return pageOf(rows, most, (row) => productOf(row, parts))
    },
  )
}

function getOwnProductRoute(server: Server, parts: ProductParts): void {
  const { db, browsers } = parts
  server.get(
    '/api/products/:productId',
    {
      schema: {
        operationId: 'getOwnProduct',
        summary: 'One of your products',
        description: 'Send its `ETag` as the `If-Match` of a change.',
        tags: TAG,
        security: needs('products:read'),
        params: OwnProductParams,
        response: { 200: Product, ...refusing('product_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return answer(reply, await findProduct(db, seller.id, request.params.productId), parts)
    },
  )
}

function changeProductRoute(server: Server, parts: WritingParts): void {
  const { db, browsers, statementPrefix } = parts
  server.patch(
    '/api/products/:productId',
    {
      schema: {
        operationId: 'changeProduct',
        summary: 'Change a product',
        description:
          'Fields that are absent stay as they are. Existing orders keep their price, currency and name. An archived product is for sale again once its status is active. A product without files cannot become active.',
        tags: TAG,
        security: needs('products:write'),
        params: OwnProductParams,
        headers: IfMatch,
        body: ProductChange,
        response: { 200: Product, ...refusing('product_not_found', 'changed_meanwhile', 'product_has_no_files') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { productId } = request.params
      const versions = versionsOf(request.headers['if-match'])
      const change = { sellerId: seller.id, productId, versions, statementPrefix }
      return answer(reply, await changeProduct(db, change, request.body), parts)
    },
  )
}

function archiveProductRoute(server: Server, { db, browsers }: ProductParts): void {
  server.delete(
    '/api/products/:productId',
    {
      schema: {
        operationId: 'archiveProduct',
        summary: 'Archive a product',
        description: 'The product is no longer for sale. Its buyers keep the files.',
        tags: TAG,
        security: needs('products:write'),
        params: OwnProductParams,
        response: { ...NOTHING, ...refusing('product_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      await archiveProduct(db, seller.id, request.params.productId)
      return reply.code(204).send(null)
    },
  )
}

function changeFileRoute(server: Server, { db, browsers }: ProductParts): void {
  server.patch(
    '/api/products/:productId/files/:fileId',
    {
      schema: {
        operationId: 'changeFile',
        summary: 'Rename a file, or change its place',
        description: 'The bytes stay the same. To change them, add a file that `replaces` this one.',
        tags: TAG,
        security: needs('files:write'),
        params: OwnFileParams,
        body: FileChange,
        response: { 200: ProductFile, ...refusing('product_not_found', 'file_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return viewOf(await changeFile(db, { sellerId: seller.id, ...request.params }, request.body))
    },
  )
}

function removeFileRoute(server: Server, { db, browsers }: ProductParts): void {
  server.delete(
    '/api/products/:productId/files/:fileId',
    {
      schema: {
        operationId: 'removeFile',
        summary: 'Remove a file from a product',
        description:
          'New buyers do not get it. Everybody who has bought the product so far keeps it, also those who bought before it was added. Only the operator can recall a file. When the last file of an active product goes, the product becomes a draft, and its seller gets a mail.',
        tags: TAG,
        security: needs('files:write'),
        params: OwnFileParams,
        response: { ...NOTHING, ...refusing('product_not_found', 'file_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      await removeFile(db, { sellerId: seller.id, ...request.params })
      return reply.code(204).send(null)
    },
  )
}
