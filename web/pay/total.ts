import type { ProductView } from '../ui/api.ts'
import { isSettled, type State } from './state.ts'
import { withTax, withoutTax } from './tax-line.tsx'

/** The buyer's total, in minor units. The slip, the button and the payment form all take it from here. */
export interface Total {
  /** Before the discount, and before tax that is added. */
  listMinor: number
  offMinor: number
  amountMinor: number
  /** The price to which tax is added. Undefined: its tax is within it, or there is none, or nothing is said about it. */
  netMinor: number | undefined
  tax: { rate?: number; country?: string } | undefined
  currency: string
  /** Nothing is to be paid. */
  isFree: boolean
  /** The buyer still has to name the price. */
  isOpen: boolean
}

/**
 * Once there is an order for the buyer's present choices: its price. Before that, and after the buyer has chosen something else: the
 * price that the page calculates. Then nothing is taken unless the order has the same price.
 */
export function totalOf(
  product: Pick<ProductView, 'amount' | 'currency' | 'payWhatYouWant' | 'tax'>,
  { order, offer, kept, tax: chosen, typed }: Pick<State, 'order' | 'offer' | 'kept' | 'tax' | 'typed'>,
): Total {
  const priced = chosen ?? product.tax
  const isSame =
    !typed ||
    ((!offer || isSameOffer(offer.wish, kept?.wish)) &&
      (!chosen || (chosen.buyerCountry === kept?.wish?.country && chosen.buyerTaxId?.id === kept?.wish?.taxId)))
  const isOrders = order && (isSettled(order.status) || isSame)
  const offMinor = isOrders ? (order.discountAmount ?? 0) : (offer?.offMinor ?? 0)
  const listMinor = isOrders ? withoutTax(order, priced) + offMinor : (offer?.listMinor ?? product.amount)
  const isOpen = product.payWhatYouWant && !isOrders && !offer
  return {
    listMinor,
    offMinor,
    amountMinor: isOrders ? order.amount : withTax(listMinor - offMinor, priced, product.currency),
    // an order without tax gets none later
    netMinor: priced?.prices === 'exclusive' && !(isOrders && !order.tax) ? listMinor - offMinor : undefined,
    tax: isOrders ? order.tax : priced,
    currency: isOrders ? order.currency : product.currency,
    isFree: listMinor === offMinor && !isOpen,
    isOpen,
  }
}

type Chosen = { chosenAmount?: number; discountCode?: string } | undefined

const isSameOffer = (one: Chosen, other: Chosen): boolean =>
  one?.chosenAmount === other?.chosenAmount && one?.discountCode === other?.discountCode

/** Where the buyer still has to name the price, none was shown. */
export const isSameTotal = (one: Total, other: Total): boolean =>
  one.amountMinor === other.amountMinor && one.currency === other.currency && one.isOpen === other.isOpen
