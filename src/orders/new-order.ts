import type { Integration } from './integration.ts'
import type { GivenConsent } from './consents/consents.ts'
import type { State } from './states.ts'
import type { Locale } from '../kit/locales.ts'

export interface NewOrder {
  productId: string
  /** The buyer's address, already trimmed and lower-cased. */
  email: string
  /** The price that the buyer chose. Ignored if the product's price is fixed. */
  chosenMinor?: number | undefined
  /** As the buyer typed it. */
  discountCode?: string | undefined
  /** The client's key for this request. The same key never makes two orders. */
  idempotencyKey?: string | undefined
  /** What the buyer has agreed to. */
  consents?: readonly GivenConsent[] | undefined
  /** What the seller's own site or program adds, from `integrationOf`. */
  integration?: Integration | undefined
  /** The buyer's language, for the mails. A repeat of the request may have another one. */
  locale?: Locale | undefined
  /** The buyer's network, in the form in which limits count networks. */
  network?: string | undefined
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
  /** The seller's own account at which the order is paid, as a processor's name. Null: the service's own. */
  connectedAccount: string | null
}

export interface OrderRow extends NewOrder {
  id: string
  keyHash: Buffer | null
  /** The hash as earlier versions stored it, when keys did not yet belong to a product and an address. */
  plainKeyHash: Buffer | null
  requestHash: Buffer | null
}

/** What few orders have: the additions of sites and programs, and a language other than English. One column of nulls costs nothing to send. */
export const moreColumn = (rows: readonly OrderRow[]): (string | null)[] =>
  rows.map(({ integration, locale }) =>
    integration || (locale && locale !== 'en')
      ? JSON.stringify({ ...integration, ...(locale !== 'en' && { locale }) })
      : null,
  )
