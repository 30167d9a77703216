import { Type } from 'typebox'
import type { Db } from '../../kit/database.ts'
import { type Server, neverCached } from '../../kit/http.ts'
import { idPattern } from '../../kit/ids.ts'
import { afterOf, pageOf } from '../../kit/keyset.ts'
import { momentOf } from '../../kit/moment.ts'
import { NextCursor, PageQuery, limitOf, refusing } from '../../kit/schema.ts'
import { type Browsers, needs } from '../../sellers/guard.ts'
import { refuseOtherProduct } from '../../sellers/keys/narrow.ts'
import {
  type AmountOff as AmountOffRow,
  type DiscountRow,
  changeDiscount,
  createDiscount,
  listDiscounts,
  removeDiscount,
} from './discounts.ts'
import { Discount, DiscountChange, NewDiscount, ProductId, amountsOf } from './schema.ts'

const TAG = ['Discounts']
const refusals = refusing()

const Params = Type.Object({ discountId: Type.String({ pattern: idPattern('dsc') }) })

export interface DiscountRouteParts {
  db: Db
  browsers: Browsers
}

/** Sellers make discount codes and see how often buyers used them. */
export function discountRoutes(server: Server, parts: DiscountRouteParts): void {
  createDiscountRoute(server, parts)
  listDiscountsRoute(server, parts)
  changeDiscountRoute(server, parts)
  deleteDiscountRoute(server, parts)
}

function createDiscountRoute(server: Server, { db, browsers }: DiscountRouteParts): void {
  server.post(
    '/api/discounts',
    {
      schema: {
        operationId: 'createDiscount',
        summary: 'Create a discount code',
        description:
          'Needs one of `percentOff`, `amounts`, or `amountOff` with `currency`. A code that you have already gets 409 `discount_code_taken`.',
        tags: TAG,
        security: needs('discounts:write'),
        body: NewDiscount,
        response: { 201: Discount, ...refusing('product_not_found', 'discount_code_taken', 'too_many_discounts') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      refuseOtherProduct(productIds, request.body.productId)
      const { code, productId, percentOff, limit, startsAt, expiresAt } = request.body
      const discount = await createDiscount(db, {
        sellerId: seller.id,
        code: code.trim(),
        productId,
        percentOff,
        amounts: amountsOf(request.body),
        mostUses: limit,
        startsAt: momentOf('startsAt', startsAt) ?? undefined,
        expiresAt: momentOf('expiresAt', expiresAt) ?? undefined,
      })
      reply.code(201).header('location', `/api/discounts/${discount.id}`)
      return viewOf(discount)
    },
  )
}

function listDiscountsRoute(server: Server, { db, browsers }: DiscountRouteParts): void {
  server.get(
    '/api/discounts',
    {
      schema: {
        operationId: 'listDiscounts',
        summary: 'Your discount codes',
        description:
          'Newest first. With `productId`: the codes that apply to that product, including codes for all products.',
        tags: TAG,
        security: needs('discounts:read'),
        querystring: Type.Object({
          productId: Type.Optional(ProductId),
          ...PageQuery,
        }),
        response: {
          200: Type.Object({ items: Type.Array(Discount), nextCursor: NextCursor }),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      const { productId, cursor } = request.query
      const after = afterOf(cursor, idPattern('dsc'))
      const limit = limitOf(request.query.limit)
      const rows = await listDiscounts(db, seller.id, { productId, productIds, after, limit: limit + 1 })
      return pageOf(rows, limit, viewOf)
    },
  )
}

function changeDiscountRoute(server: Server, { db, browsers }: DiscountRouteParts): void {
  server.patch(
    '/api/discounts/:discountId',
    {
      schema: {
        operationId: 'changeDiscount',
        summary: 'Change a discount code',
        description: 'Fields that are absent stay as they are. Null removes the limit or the end.',
        tags: TAG,
        security: needs('discounts:write'),
        params: Params,
        body: DiscountChange,
        response: { 200: Discount, ...refusing('discount_not_found') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      const { active, limit, expiresAt } = request.body
      const change = { active, mostUses: limit, expiresAt: momentOf('expiresAt', expiresAt) }
      return viewOf(
        await changeDiscount(db, { id: request.params.discountId, sellerId: seller.id, productIds }, change),
      )
    },
  )
}

function deleteDiscountRoute(server: Server, { db, browsers }: DiscountRouteParts): void {
  server.delete(
    '/api/discounts/:discountId',
    {
      schema: {
        operationId: 'deleteDiscount',
        summary: 'Delete a discount code',
        description:
          'No further order can use it. Orders that have it keep their price. The code can be created again.',
        tags: TAG,
        security: needs('discounts:write'),
        params: Params,
        response: { 204: Type.Null(), ...refusing('discount_not_found') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      await removeDiscount(db, { id: request.params.discountId, sellerId: seller.id, productIds })
      return reply.code(204).send(null)
    },
  )
}

const fixed = (currency: string, amountMinor: number, further: AmountOffRow[]) => ({
  amountOff: amountMinor,
  currency,
  amounts: [{ currency, amountMinor }, ...further].map((one) => ({ currency: one.currency, amount: one.amountMinor })),
})

const viewOf = (row: DiscountRow): Discount => ({
  id: row.id,
  code: row.code,
  ...(row.productId !== null && { productId: row.productId }),
  ...(row.percentOff !== null && { percentOff: row.percentOff }),
  ...(row.amountOffMinor !== null && row.currency !== null && fixed(row.currency, row.amountOffMinor, row.further)),
  ...(row.mostUses !== null && { limit: row.mostUses }),
  uses: row.uses,
  ...(row.startsAt && { startsAt: row.startsAt.toISOString() }),
  ...(row.expiresAt && { expiresAt: row.expiresAt.toISOString() }),
  active: row.active,
  createdAt: row.createdAt.toISOString(),
})
