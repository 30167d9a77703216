import assert from 'node:assert/strict'
import { ChargeFound, ChargeOrder } from '../../buyers/schema.ts'
import { Library, LibraryItem } from '../../buyers/library-routes.ts'
import { ProductView } from '../../checkout/product-schema.ts'
import { Checkout, Created, OrderStatus } from '../../checkout/schema.ts'
import { Problem } from '../../kit/schema.ts'
import { Discount, DiscountChange, NewDiscount } from '../../orders/discounts/schema.ts'
import {
  FoundSeller,
  Attention as OperatorAttention,
  OperatorOrder,
  FoundOrder as OperatorOrderFound,
  Statistics as OperatorStatistics,
} from '../../operator/schema.ts'
import { Run, RunDetail, RunFile, RunLine, RunSum } from '../../operator/payout-schema.ts'
import { Download } from '../../orders/links.ts'
import { Order } from '../../orders/seller-view.ts'
import { NewRefund, Refund } from '../../payments/refunds/routes.ts'
import { Invoice, InvoiceProfile } from '../../invoices/schema.ts'
import { ListedInvoice } from '../../orders/invoice-links.ts'
import { PayoutAccount } from '../../payouts/accounts/routes.ts'
import { NewPayoutDetails, PayoutDetails } from '../../payouts/details-schema.ts'
import { Brand } from '../../products/brand/schema.ts'
import { ImageUrls, NewProductBody, Product, ProductChange, ProductFile, WithdrawnFile } from '../../products/schema.ts'
import { ApiKey } from '../../sellers/keys/schema.ts'
import { CurrentSession, Identities, Seller, SellerChange, Sessions } from '../../sellers/schema.ts'
import { Site } from '../../sellers/site-routes.ts'
import { Attention, Balance, OrderDetail, Stats, Transfer } from '../../shop/schema.ts'
import { TaxProfile } from '../../taxes/schema.ts'
import { Envelope } from '../../webhooks/envelope.ts'
import {
  EndpointChange,
  NewEndpoint,
  NewWebhookEndpoint,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEndpoint,
} from '../../webhooks/schema.ts'
import type { Description } from './description.ts'

/** The names of the API's types in generated clients. The routes use the same schemas. */
export const NAMES = {
  ApiKey,
  Attention,
  Balance,
  Brand,
  Charges: ChargeFound,
  Charge: ChargeOrder,
  CreatedOrder: Created,
  CurrentSession,
  Discount,
  DiscountChange,
  Download,
  Event: Envelope,
  File: ProductFile,
  Identities,
  Images: ImageUrls,
  Library,
  LibraryItem,
  NewDiscount,
  NewOrder: Checkout,
  NewPayoutDetails,
  Invoice,
  InvoiceProfile,
  ListedInvoice,
  NewProduct: NewProductBody,
  NewRefund,
  NewWebhookEndpoint: NewEndpoint,
  OperatorAttention,
  OperatorOrder,
  OperatorOrderFound,
  OperatorRun: Run,
  OperatorRunDetail: RunDetail,
  OperatorRunFile: RunFile,
  OperatorRunLine: RunLine,
  OperatorRunSum: RunSum,
  OperatorSeller: FoundSeller,
  OperatorStatistics,
  Order,
  OrderDetail,
  OrderStatus,
  PayoutAccount,
  PayoutDetails,
  Problem,
  Product,
  ProductChange,
  PublicProduct: ProductView,
  Refund,
  Seller,
  SellerChange,
  Sessions,
  Site,
  Stats,
  TaxProfile,
  Transfer,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEndpoint,
  WebhookEndpointChange: EndpointChange,
  WebhookEndpointCreated: NewWebhookEndpoint,
  WithdrawnFile,
}

/**
 * Moves each of these schemas into the components, and refers to it where a route uses it. Otherwise a generated client has a type of
 * its own for each response of each route.
 */
export function withNamedSchemas(description: Description): Description {
  const names = new Map(Object.entries(NAMES).map(([name, schema]) => [identityOf(schema), name]))
  assert.equal(names.size, Object.keys(NAMES).length, 'two names of the API mean the same schema')
  const schemas: Record<string, unknown> = {}
  const named = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(named)
    if (typeof value !== 'object' || value === null) return value
    const name = 'properties' in value ? names.get(identityOf(value)) : undefined
    const inner = () => Object.fromEntries(Object.entries(value).map(([key, member]) => [key, named(member)]))
    if (name === undefined) return inner()
    schemas[name] ??= inner()
    return { $ref: `#/components/schemas/${name}` }
  }
  const paths = named(description.paths) as Description['paths']
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    ...description,
    paths,
    components: { ...description.components, schemas: { ...description.components.schemas, ...sorted } },
  }
}

/**
 * A text that is equal for equal schemas. The library removes the examples from the schema of a whole body, and writes a constant as an
 * enum with one value.
 */
const identityOf = (schema: object): string =>
  JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'examples' && Array.isArray(value)) return undefined
    if (typeof value !== 'object' || value === null || !('const' in value)) return value
    const { const: only, ...rest } = value
    return { ...rest, enum: [only] }
  })
