import type { ProductView } from '../ui/api.ts'
import { isSettled, type State } from './state.ts'

/**
 * The product with the price that the page shows. Where the product does not have that price (any more): the first
 * price, which the service chooses by the address and the buyer's country.
 */
export function pricedIn(product: ProductView, { currency, order, kept }: Pick<State, 'currency' | 'order' | 'kept'>) {
  const inAddress = new URLSearchParams(location.search).get('currency')
  const wanted = currency ?? order?.currency ?? inAddress ?? kept?.wish?.currency
  const price = product.prices.find((one) => one.currency === wanted) ?? product.prices[0]!
  return { ...product, ...price, amount: price.minimum ?? price.amount }
}

/** Without an order that waits for money in another currency than the buyer has chosen since. */
export const asShown = (state: State): State =>
  state.currency && state.order && state.order.currency !== state.currency && !isSettled(state.order.status)
    ? { ...state, order: undefined, created: undefined }
    : state
