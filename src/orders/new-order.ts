import { type RawBuilder, sql } from 'kysely'
import type { GivenValue } from '../kit/compiled.ts'
import type { Integration } from './integration.ts'
import type { GivenConsent } from './consents/consents.ts'
import type { State } from './states.ts'
import type { Locale } from '../kit/locales.ts'
import type { BuyerTaxId } from '../taxes/buyer-tax-ids.ts'
import type { Treatment } from '../taxes/sale-tax.ts'

export interface NewOrder {
  productId: string
  /** The buyer's address, already trimmed and lower-cased. */
  email: string
  /** The currency that the buyer chose among those of the product's prices. By default the product's own. */
  currency?: string | undefined
  /** The price that the buyer chose. Ignored if the product's price is fixed. */
  chosenMinor?: number | undefined
  /** As the buyer typed it. */
  discountCode?: string | undefined
  /** The client's key for this request. The same key never makes two orders. */
  idempotencyKey?: string | undefined
  /** The buyer has agreed to these. */
  consents?: readonly GivenConsent[] | undefined
  /** The seller's own site or program adds these, from `integrationOf`. */
  integration?: Integration | undefined
  /** The buyer's language, for the mails. A repeat of the request may have another one. */
  locale?: Locale | undefined
  /** The buyer's network, in the form in which limits count networks. */
  network?: string | undefined
  /** Where the buyer is, for the tax. */
  place?: BuyerPlace | undefined
  /** The tax id of a business, as the buyer typed it. */
  taxId?: string | undefined
}

/** The buyer's country, as far as we know it (ISO 3166-1 alpha-2). */
export interface BuyerPlace {
  /** As the buyer says. */
  declared?: string | undefined
  /** As our proxy says. */
  seen?: string | undefined
  /** The buyer was told that the two differ, and stays with the first. */
  isConfirmed?: boolean | undefined
}

export interface CreatedOrder {
  id: string
  amountMinor: number
  /** The discount. The price without a code is this plus `amountMinor`. */
  discountMinor: number
  currency: string
  statementDescriptor: string
  state: State
  /** The order holds a use of a code that has a limit. */
  hasLimitedCode: boolean
  feeMinor: number
  /** The tax within the amount. Absent or null: nothing is said about tax. */
  tax?: OrderTax | null
  /** The seller's connected account at which the order is paid, as a processor's name. Null: the service's own. */
  connectedAccount: string | null
  /** The payment attempt that was begun with the order. */
  attempt?: { id: string; processor: string } | null
}

/** Begins the payments of new orders within the statement that makes them, so that a checkout needs one statement and commit less. */
export interface FirstAttempts {
  /**
   * An insert of payment attempts for rows of `made` (`id`, `currency`, `connectedAccount`). It returns `id`, `order_id` and `processor`.
   * An order without an attempt gets one when its payment starts.
   */
  insert(made: RawBuilder<unknown>, given: GivenValue<AttemptColumn>): RawBuilder<unknown>
  /** The values for `insert` where `made` holds these orders. Each call makes new ids of payments, and reads which processors work now. */
  columnsFor(orderIds: readonly string[]): Record<AttemptColumn, readonly string[]>
  /** Tells of the currency of a new order. */
  noteCurrency(currency: string): void
}

/** The columns that `FirstAttempts.insert` needs, as arrays. */
export type AttemptColumn = 'attemptOrders' | 'attemptIds' | 'routeCurrencies' | 'routeProcessors'

export interface OrderTax {
  minor: number
  /** Percent. */
  rate: number
  country: string
  treatment: Treatment
  /** The tax id with which a business ordered. */
  buyerTaxId?: Pick<BuyerTaxId, 'country' | 'id' | 'verdict' | 'checkedAt'> | null
}

const BUYER_TAX_ID = (o: RawBuilder<unknown>) => sql`(
  select json_build_object('country', b.country, 'id', b.tax_id, 'verdict', b.verdict, 'checkedAt', b.checked_at)
  from buyer_tax_ids b where b.order_id = ${o}.id)`

/** The tax of an order, as JSON. The statement that makes the order names `buyerTaxId`, because it does not see its own rows. */
export const taxOfOrder = (
  o: RawBuilder<unknown>,
  buyerTaxId = BUYER_TAX_ID(o),
) => sql<OrderTax | null>`case when ${o}.tax_treatment is not null then
  json_build_object('minor', ${o}.tax_minor, 'rate', ${o}.tax_rate, 'country', ${o}.tax_country, 'treatment', ${o}.tax_treatment,
    'buyerTaxId', ${buyerTaxId}) end`

export const orderTaxView = ({ minor, buyerTaxId, ...tax }: OrderTax) => ({
  amount: minor,
  ...tax,
  ...(buyerTaxId && { buyerTaxId: { ...buyerTaxId, checkedAt: new Date(buyerTaxId.checkedAt).toISOString() } }),
})

export interface OrderRow extends NewOrder {
  id: string
  keyHash: Buffer | null
  /** The hash as earlier versions stored it, when keys did not yet belong to a product and an address. */
  plainKeyHash: Buffer | null
  requestHash: Buffer | null
  /** `taxId`, checked. */
  buyerTaxId?: BuyerTaxId | undefined
}

/** Few orders have additions of sites and programs, or a language other than English: one column of nulls costs nothing to send. */
export const moreColumn = (rows: readonly OrderRow[]): (string | null)[] =>
  rows.map(({ integration, locale }) =>
    integration || (locale && locale !== 'en')
      ? JSON.stringify({ ...integration, ...(locale !== 'en' && { locale }) })
      : null,
  )
