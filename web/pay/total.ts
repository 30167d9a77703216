import type { ProductView } from '../ui/api.ts'
import { isSettled, type State } from './state.ts'

/** What the buyer pays, in minor units. The slip, the button and the payment form all take it from here. */
export interface Total {
  /** Before the discount. */
  listMinor: number
  offMinor: number
  amountMinor: number
  currency: string
  /** Nothing is to be paid. */
  isFree: boolean
  /** The buyer still has to name the price. */
  isOpen: boolean
}

/**
 * The order's own price, once there is an order for what the buyer has chosen. Before, and after the buyer has chosen something
 * else, what the page calculates: then nothing is taken unless the order has the same price.
 */
export function totalOf(
  product: Pick<ProductView, 'amount' | 'currency' | 'payWhatYouWant'>,
  { order, offer, kept }: Pick<State, 'order' | 'offer' | 'kept'>,
): Total {
  const isOrders = order && (isSettled(order.status) || !offer || isSameOffer(offer.wish, kept?.wish))
  const offMinor = isOrders ? (order.discountAmount ?? 0) : (offer?.offMinor ?? 0)
  const listMinor = isOrders ? order.amount + offMinor : (offer?.listMinor ?? product.amount)
  const isOpen = product.payWhatYouWant && !isOrders && !offer
  return {
    listMinor,
    offMinor,
    amountMinor: listMinor - offMinor,
    currency: isOrders ? order.currency : product.currency,
    isFree: listMinor === offMinor && !isOpen,
    isOpen,
  }
}

type Chosen = { chosenAmount?: number; discountCode?: string } | undefined

const isSameOffer = (one: Chosen, other: Chosen): boolean =>
  one?.chosenAmount === other?.chosenAmount && one?.discountCode === other?.discountCode
