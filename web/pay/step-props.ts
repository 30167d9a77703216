import type { ProductView } from '../ui/api.ts'
import type { Checkout } from './checkout.ts'
import type { State } from './state.ts'

/** The props of each step of the payment page. */
export interface StepProps {
  product: ProductView
  checkout: Checkout
  state: State
}
