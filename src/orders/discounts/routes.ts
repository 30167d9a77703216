import { Type } from 'typebox'
import type { Db } from '../../kit/database.ts'
import { type Server, neverCached } from '../../kit/http.ts'
import { idPattern } from '../../kit/ids.ts'
import { CURRENCIES } from '../../kit/currencies.ts'
import { afterOf, pageOf } from '../../kit/keyset.ts'
import { MomentAsked, momentOf, wrongField } from '../../kit/moment.ts'
import { Amount, NextCursor, PageQuery, Time, limitOf, refusing } from '../../kit/schema.ts'
import { type Browsers, needs } from '../../sellers/guard.ts'
import { refuseOtherProduct } from '../../sellers/keys/narrow.ts'
import { type DiscountRow, changeDiscount, createDiscount, listDiscounts, removeDiscount } from './discounts.ts'

const TAG = ['Discounts']
const refusals = refusing()

const Params = Type.Object({ discountId: Type.String({ pattern: idPattern('dsc') }) })
const ProductId = Type.String({
  pattern: idPattern('prod'),
  description: 'The code applies to this product only. Without it, to all your products.',
})
const Uses = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description: 'The most orders that can use the code. An order that expires unpaid gives its use back.',
})

export const NewDiscount = Type.Object(
  {
    code: Type.String({
      pattern: '^\\s*[A-Za-z0-9-]{3,40}\\s*$',
      maxLength: 60,
      description: 'The code as buyers type it: letters, digits and hyphens. Case does not matter.',
    }),
    productId: Type.Optional(ProductId),
    percentOff: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'The discount is rounded down to the minor unit.' }),
    ),
    amountOff: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 999_999_999_999, description: 'Integer minor units of `currency`.' }),
    ),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description: 'Required with `amountOff`. The code applies only to prices in this currency.',
      }),
    ),
    limit: Type.Optional(Uses),
    startsAt: Type.Optional(MomentAsked),
    expiresAt: Type.Optional(MomentAsked),
  },
  { examples: [{ code: 'SUMMER', percentOff: 20, limit: 100, expiresAt: '2027-09-01T00:00:00Z' }] },
)
export const DiscountChange = Type.Object(
  {
    active: Type.Optional(Type.Boolean()),
    limit: Type.Optional(Type.Union([Uses, Type.Null()])),
    expiresAt: Type.Optional(Type.Union([MomentAsked, Type.Null()])),
  },
  { examples: [{ active: false }, { limit: null }] },
)
export const Discount = Type.Object({
  id: Type.String(),
  code: Type.String({ description: 'The code as the seller typed it.' }),
  productId: Type.Optional(Type.String({ description: 'Absent when the code applies to all products.' })),
  percentOff: Type.Optional(Type.Integer()),
  amountOff: Type.Optional(Amount),
  currency: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer()),
  uses: Type.Integer({ description: 'Orders that use the code and have not expired, paid or not.' }),
  startsAt: Type.Optional(Time),
  expiresAt: Type.Optional(Time),
  active: Type.Boolean(),
  createdAt: Time,
})
export type Discount = Type.Static<typeof Discount>

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
          'Needs either `percentOff`, or `amountOff` and `currency`. A code that you have already gets 409 `discount_code_taken`.',
        tags: TAG,
        security: needs('discounts:write'),
        body: NewDiscount,
        response: { 201: Discount, ...refusing('product_not_found', 'discount_code_taken') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      refuseOtherProduct(productIds, request.body.productId)
      const { code, productId, percentOff, amountOff, currency, limit, startsAt, expiresAt } = request.body
      if ((percentOff === undefined) === (amountOff === undefined))
        throw wrongField('percentOff', 'Give either percentOff or amountOff, and not both.')
      if ((amountOff === undefined) !== (currency === undefined) || (currency && !CURRENCIES.has(currency)))
        throw wrongField('currency', 'amountOff needs a currency by ISO 4217, and percentOff must have none.')
      const discount = await createDiscount(db, {
        sellerId: seller.id,
        code: code.trim(),
        productId,
        percentOff,
        amountOffMinor: amountOff,
        currency,
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

const viewOf = (row: DiscountRow): Discount => ({
  id: row.id,
  code: row.code,
  ...(row.productId !== null && { productId: row.productId }),
  ...(row.percentOff !== null && { percentOff: row.percentOff }),
  ...(row.amountOffMinor !== null && { amountOff: row.amountOffMinor }),
  ...(row.currency !== null && { currency: row.currency }),
  ...(row.mostUses !== null && { limit: row.mostUses }),
  uses: row.uses,
  ...(row.startsAt && { startsAt: row.startsAt.toISOString() }),
  ...(row.expiresAt && { expiresAt: row.expiresAt.toISOString() }),
  active: row.active,
  createdAt: row.createdAt.toISOString(),
})
