import { useRef, useState } from 'preact/hooks'
import type { ProductView, Rail, Wish } from '../ui/api.ts'
import { isAsMade, type State } from './state.ts'
import { useConsents } from './consent-part.tsx'
import { useContact } from './contact-part.tsx'
import { needsOrder, processorOf } from './form-part.tsx'
import type { StepProps } from './step-props.ts'
import { useTax } from './tax-line.tsx'
import { isSameTotal, type Total, totalOf } from './total.ts'
import { useForm } from './use-form.ts'
import { useOfferPart } from './use-offer-part.ts'
import { usePress } from './use-press.ts'
import { useWallets } from './use-wallets.ts'

/** All that the buyer fills in, and the action of the button. */
export function usePurchase({ product, checkout, state }: StepProps) {
  const { kept } = state
  const [picked, setRail] = useState<Rail>(() => firstRail(product, state))
  // Another currency can have other rails.
  const rail = product.rails.includes(picked) ? picked : (product.rails[0] ?? picked)
  const press = usePress(checkout.letGo)
  const contact = useContact(state, press.takeBack)
  const consents = useConsents(product, kept?.orderId ? kept.wish?.consents : [], press.takeBack)
  const tax = useTax(product, state, { onTax: checkout.showTax, onType: press.takeBack })
  const form = useForm()
  const offer = useOfferPart(product, kept)
  const readerRef = useRef<(() => Promise<Wish | undefined>) | undefined>(undefined)

  const isLinked = kept?.link !== undefined
  const hasOwnWish = isLinked || isAsMade(state)
  /** The buyer's wish, once the page lacks nothing. Undefined: it says what it lacks. An order that is paid as it was made has its own. */
  async function read(): Promise<{ wish: Wish | undefined } | undefined> {
    if (!isLinked && !consents.check()) return undefined
    if (hasOwnWish) return { wish: undefined }
    const place = totalOf(product, state).isFree ? {} : tax.read()
    if (!place) return undefined
    const asked = readerRef.current && (await readerRef.current())
    // Where there are several prices, the order is in the currency that the page shows.
    const priced = product.prices[1] && { currency: product.currency }
    return asked || !readerRef.current ? { wish: { ...consents.add(asked), ...place, ...priced } } : undefined
  }
  /** `seen`: the total that the page showed at the press. */
  async function pay(isCurrent: () => boolean, seen: Total): Promise<void> {
    if (!isLinked && (!contact.check() || !consents.check() || (await contact.hold(isCurrent)))) return
    const asked = await read()
    if (!asked || !isCurrent()) return
    const isWithout = totalOf(product, state).isFree || needsOrder({ product, state })
    const shown = isWithout ? undefined : await form.whenReady()
    if ((!shown && !isWithout) || !isCurrent()) return
    const fault = await shown?.check()
    if (!isCurrent()) return
    if (fault) return checkout.refuse(fault)
    if (!isSameTotal(latestRef.current.total, seen)) return checkout.showPrice()
    const known = processorOf({ product, state }) === 'sandbox' ? rail : undefined
    await checkout.buy({ email: contact.email, wish: asked.wish, form: shown, rail: known, isCurrent })
  }
  const total = totalOf(product, state)
  const latestRef = useRef({ pay, total })
  // A press can come before an effect runs.
  latestRef.current = { pay, total }
  /** A buyer can press before all fields have arrived: the press waits for them. An order has no need of them. */
  async function payWithAllFields(isCurrent: () => boolean): Promise<void> {
    const files = hasOwnWish ? [] : [offer.load(), !total.isFree && tax.load()].filter(Boolean)
    if (files[0]) {
      await Promise.allSettled(files)
      // The fields are drawn before the next task.
      await new Promise((resolve) => setTimeout(resolve))
    }
    if (isCurrent()) await latestRef.current.pay(isCurrent, total)
  }
  const wallets = useWallets({ product, checkout, state, contact, consents, tax, press, readerRef, read })
  return {
    rail,
    ...wallets,
    setRail,
    press,
    contact,
    consents,
    tax,
    form,
    offer,
    readerRef,
    submit(event: Event) {
      event.preventDefault()
      if (!state.busy) void press.run(payWithAllFields)
    },
  }
}

/** That of the last try. A wallet of the device is no choice in the form: it has a button of its own. */
const firstRail = ({ rails }: ProductView, { rail }: State): Rail =>
  rail && rail !== 'apple_pay' && rail !== 'google_pay' ? rail : (rails[0] ?? 'card')
