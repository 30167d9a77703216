import type { State } from './state.ts'
import { wordsOf } from '../ui/language.ts'

/** Leads to the order's page, which can be bookmarked and printed and needs nothing that this browser keeps. */
export const OrderLink = ({ kept }: Pick<State, 'kept'>) =>
  kept?.orderId ? (
    <p class="order-link small">
      <a href={`/order/?order=${kept.orderId}`}>{wordsOf('pay').viewOrder}</a>
    </p>
  ) : null
