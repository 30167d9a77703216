import type { ProductView, Rail, Wish } from '../ui/api.ts'
import type { Store } from '../ui/store.ts'
import type { PaymentForm } from './payment-form.ts'
import { terms } from './site.ts'
import { asShown, pricedIn } from './priced-in.ts'
import { viewOf, type State } from './state.ts'
import { totalOf } from './total.ts'

export interface Purchase {
  email: string
  wish?: Wish | undefined
  /** The form on the screen. Undefined: nothing is to be paid, or the form needs the order first. */
  form?: PaymentForm | undefined
  /** Where the page knows it. */
  rail?: Rail | undefined
  /** Whether the press still counts. The buyer may have changed something while the order was made. */
  isCurrent: () => boolean
}

interface Steps {
  create: (email: string, wish: Wish) => Promise<void>
  isMade: (email: string, wish: Wish) => unknown
  pay: (form: PaymentForm, rail?: Rail) => Promise<void>
}

/**
 * A press on the button: makes the order, or finds the one already made, and pays it at the price that the buyer has seen. Returns
 * whether money is taken or may be on its way.
 */
export function buyer({ get, set }: Store<State>, product: ProductView, { create, isMade, pay }: Steps) {
  return async ({ email, wish, form, rail, isCurrent }: Purchase): Promise<boolean> => {
    const shown = asShown(get())
    const seen = totalOf(pricedIn(product, shown), shown)
    set({ repriced: undefined })
    // The terms of the address are newer than those of the kept order.
    const wanted = { ...(wish ?? get().kept?.wish), ...terms }
    if (!isMade(email, wanted)) await create(email, wanted)
    const { order, created } = get()
    if (viewOf(get()) !== 'payment' || !isCurrent()) return false
    // The button shows the order's own price now. Nothing is sent before the buyer has seen it.
    if (order!.amount !== seen.amountMinor || order!.currency !== seen.currency) {
      set({ repriced: 'seller' })
      return false
    }
    // The payment is at another account than the form on the screen: the page opens a new form.
    if (!form?.fits(created!)) return false
    set({ typed: undefined })
    await pay(form, rail)
    return viewOf(get()) !== 'payment'
  }
}
