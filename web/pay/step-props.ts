import type { ProductView } from '../ui/api.ts'
import type { Checkout } from './checkout.ts'
import type { State } from './state.ts'

/** What each step of the payment page gets. */
export interface StepProps {
  product: ProductView
  checkout: Checkout
  state: State
}
