import type { FastifyRequest } from 'fastify'
import type { Db } from '../kit/database.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { isId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Limit, limited, networkOf } from '../kit/limits.ts'
import { refusing } from '../kit/schema.ts'
import type { AccountRule } from '../orders/connected-account.ts'
import type { CreateOrder } from '../orders/create.ts'
import type { OrderPasses } from '../orders/order-passes.ts'
import type { FindOrder, OrderView } from '../orders/find.ts'
import { waitsForPayment } from '../orders/states.ts'
import { wantedOrder } from './wanted-order.ts'
import type { StatusTokens } from '../orders/status-tokens.ts'
import type { Payments } from '../payments/register.ts'
import type { Processor } from '../processors/processor.ts'
import { refuseNotForSale } from '../products/off-sale.ts'
import type { FreeMailLimits } from '../orders/free-mails.ts'
import { localeOf } from '../kit/locales.ts'
import type { CheckBuyerTaxId } from '../taxes/buyer-tax-ids.ts'
import type { CountryOf } from '../kit/country.ts'
import { refuseUnknownCountry } from '../taxes/profile-routes.ts'
import { limitCodeGuesses } from './guesses.ts'
import { type MatchingAddress, addressMatcher } from './matching-address.ts'
import { botRefuser, taxIdGuessRefuser, unknownOrderRefuser } from './refusers.ts'
import { refuseUnpayable } from './product-prices.ts'
import { productView, taxCountryOf } from './products.ts'
import { invoiceDetailsRoute } from './invoice-details-route.ts'
import { receiptRoute } from './receipt-route.ts'
import { ProductParams, ProductQuery, ProductView } from './product-schema.ts'
import { Checkout, CheckoutHeaders, Created, OrderStatus, StatusParams, StatusQuery } from './schema.ts'
import { payOrderRoute, readyToPay } from './pay-order.ts'
import { type Links, statusOf } from './status.ts'

type MaybeOrder = OrderView | undefined
const isWaiting = (order: MaybeOrder): boolean => order !== undefined && waitsForPayment(order.state)

/** The decline of an open payment changes neither of the two: the buyer may be paying again. */
const isSame = (before: MaybeOrder, now: MaybeOrder): boolean =>
  before?.state === now?.state && before?.bankAtWork === now?.bankAtWork

export interface CheckoutParts {
  db: Db
  jobs: Jobs
  processors: ReadonlyMap<string, Processor>
  payments: Pick<Payments, 'start' | 'sync' | 'readSettled'>
  createOrder: CreateOrder
  findOrder: FindOrder
  links: Links
  statusTokens: StatusTokens
  passes: OrderPasses
  /** Finds the buyer's country, which decides the tax and the price to begin with. */
  countryOf: CountryOf
  checkTaxId: CheckBuyerTaxId
  /** The address of the API. */
  baseUrl: string
  rule: AccountRule
  limits: CheckoutLimits
  asksVies: boolean
}

interface CheckoutRouteParts extends CheckoutParts {
  matchingAddress: MatchingAddress
  refuseUnknown: (request: FastifyRequest) => Promise<never>
  /** Refuses when very many buyers order one product at once. */
  refuseBots: (request: FastifyRequest) => Promise<void>
}

export type CheckoutLimits = FreeMailLimits &
  Partial<Record<'checkout' | 'checkout_product' | 'status' | 'wrong_email' | 'receipt' | 'discount', Limit>>

/** The buyers' API: products for sale, orders, and their status. It needs no session. */
export function checkoutRoutes(server: Server, checkoutParts: CheckoutParts): void {
  const { limits } = checkoutParts
  const parts = {
    ...checkoutParts,
    matchingAddress: addressMatcher(checkoutParts),
    refuseUnknown: unknownOrderRefuser(server, limits.status),
    refuseBots: botRefuser(server, limits.checkout_product),
  }
  getProductRoute(server, parts)
  createOrderRoute(server, parts)
  payOrderRoute(server, parts)
  getOrderStatusRoute(server, parts)
  receiptRoute(server, parts)
  invoiceDetailsRoute(server, parts)
}

function getProductRoute(server: Server, parts: CheckoutRouteParts): void {
  const { db, limits } = parts
  const refuseTaxIdGuesses = taxIdGuessRefuser(server, limits.checkout)
  server.get(
    '/api/products/:productId/public',
    {
      config: { anyOrigin: true },
      schema: {
        operationId: 'getProduct',
        summary: 'A product that is for sale',
        tags: ['Checkout'],
        params: ProductParams,
        querystring: ProductQuery,
        response: {
          200: ProductView,
          ...refusing(
            'product_not_found',
            'shop_not_open',
            'discount_not_valid',
            'currency_not_offered',
            'country_required',
            'tax_id_invalid',
            'tax_id_not_registered',
            'tax_id_check_unavailable',
            'rate_limited',
          ),
        },
      },
    },
    async (request, reply) => {
      const { discountCode: code, currency, country, taxId } = request.query
      refuseUnknownCountry(country)
      const { productId } = request.params
      if (!isId('prod', productId)) return refuseNotForSale(db, productId)
      // the answer about a tax id is about a person
      if (taxId !== undefined) neverCached(reply)
      const seen = parts.countryOf(request)
      const buyerTaxId =
        taxId === undefined ? undefined : await refuseTaxIdGuesses(request).then(() => parts.checkTaxId({ productId, country: taxCountryOf({ country, seen }), taxId })) // oxfmt-ignore
      return limitCodeGuesses(db, limits.discount, { request, code }, () =>
        productView(parts, productId, {
          discountCode: code,
          currency,
          locale: localeOf(request.headers['accept-language']),
          country,
          seen,
          buyerTaxId,
        }),
      )
    },
  )
}

function createOrderRoute(server: Server, parts: CheckoutRouteParts): void {
  const { db, createOrder, limits, refuseBots } = parts
  server.post(
    '/api/checkout',
    {
      config: { anyOrigin: true, ...limited(limits.checkout) },
      schema: {
        operationId: 'createOrder',
        summary: 'Create an order',
        description:
          'The server sets the price and ignores other fields of the body. `currency` chooses among the prices of the product. A free order has the status `paid` at once, and needs no payment.',
        tags: ['Checkout'],
        headers: CheckoutHeaders,
        body: Checkout,
        response: {
          201: Created,
          ...refusing(
            'product_not_found',
            'shop_not_open',
            'currency_not_offered',
            'discount_not_valid',
            'amount_too_small',
            'consent_required',
            'country_required',
            'country_unconfirmed',
            'tax_rate_missing',
            'tax_id_invalid',
            'tax_id_not_registered',
            'tax_id_check_unavailable',
            'success_url_not_allowed',
            'cancel_url_not_allowed',
            'idempotency_key_reused',
            'payment_closed',
            'amount_not_payable',
            'cannot_take_payment',
            'rate_limited',
            'processor_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      await refuseBots(request)
      const { productId, currency, discountCode } = request.body
      const wanted = wantedOrder(request, parts.countryOf)
      await refuseUnpayable(db, parts.processors, { productId, currency })
      const order = await limitCodeGuesses(db, limits.discount, { request, code: discountCode }, () =>
        createOrder(wanted),
      )
      const made = await readyToPay(parts, order)
      neverCached(reply)
      reply.code(201).header('location', parts.links.statusUrl(order.id))
      return {
        ...made,
        statusToken: parts.statusTokens.tokenFor(order.id, wanted.email),
        payUrl: parts.links.payUrl(productId, order.id, parts.passes.tokenFor('pay', order.id)),
      }
    },
  )
}

function getOrderStatusRoute(server: Server, parts: CheckoutRouteParts): void {
  const { payments, findOrder, limits, refuseUnknown, matchingAddress } = parts
  server.get(
    '/api/checkout/:orderId/status',
    {
      config: {
        anyOrigin: true,
        ...limited(
          limits.status,
          (request) => `${(request.params as { orderId: string }).orderId} ${networkOf(request.ip)}`,
        ),
      },
      schema: {
        operationId: 'getOrderStatus',
        summary: 'The status of an order',
        description:
          'The response is complete only with the order’s address; once the order is paid, it then has the download links. With a wrong address it is the same as without an address.',
        tags: ['Checkout'],
        params: StatusParams,
        querystring: StatusQuery,
        response: { 200: OrderStatus, ...refusing('order_not_found', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const { orderId } = request.params
      const wantsSync = request.query.sync === '1'
      const synced = wantsSync && (await payments.sync(orderId))
      const find = () => findOrder(orderId)
      const wantsWait = request.query.wait === '1' && !wantsSync
      const order = await (wantsWait
        ? payments.readSettled(orderId, { read: find, isOpen: isWaiting, isSame })
        : find())
      if (!order) return refuseUnknown(request)
      const address = await matchingAddress(order, request.query)
      const statusToken = address === undefined ? undefined : parts.statusTokens.tokenFor(orderId, address)
      const pass = parts.passes.passOf(orderId, request.query.token)
      return statusOf(order, { links: parts.links, synced: wantsSync ? synced : undefined, statusToken, pass })
    },
  )
}
