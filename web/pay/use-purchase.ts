import { useRef, useState } from 'preact/hooks'
import type { Rail, Wish } from '../ui/api.ts'
import { useConsents } from './consent-part.tsx'
import { useContact } from './contact-part.tsx'
import { needsOrder, processorOf } from './form-part.tsx'
import type { StepProps } from './step-props.ts'
import { useTax } from './tax-line.tsx'
import { totalOf } from './total.ts'
import { useForm } from './use-form.ts'
import { useOfferPart } from './use-offer-part.ts'
import { usePress } from './use-press.ts'

/** All that the buyer fills in, and what a press on the button does with it. */
export function usePurchase({ product, checkout, state }: StepProps) {
  const { kept } = state
  const [rail, setRail] = useState<Rail>(state.rail ?? product.rails[0] ?? 'card')
  const press = usePress(checkout.letGo)
  const contact = useContact(state, press.takeBack)
  const consents = useConsents(product, kept?.orderId ? kept.wish?.consents : [])
  const tax = useTax(product, checkout.showTax, kept?.wish?.country)
  const form = useForm()
  const offer = useOfferPart(product)
  const readerRef = useRef<(() => Promise<Wish | undefined>) | undefined>(undefined)

  /** What the buyer wants, once the page lacks nothing. Undefined: it says what it lacks. */
  async function read(isCurrent: () => boolean): Promise<{ wish: Wish | undefined } | undefined> {
    // An order of a link has its address and its price.
    if (kept?.link) return { wish: undefined }
    if (!contact.check() || !consents.check()) return undefined
    const place = totalOf(product, state).isFree ? {} : tax.read()
    if (!place) return undefined
    if (await contact.hold(isCurrent)) return undefined
    const asked = readerRef.current && (await readerRef.current())
    return asked || !readerRef.current ? { wish: { ...consents.add(asked), ...place } } : undefined
  }
  async function pay(isCurrent: () => boolean): Promise<void> {
    const asked = await read(isCurrent)
    if (!asked || !isCurrent()) return
    const isWithout = totalOf(product, state).isFree || needsOrder({ product, state })
    const shown = isWithout ? undefined : await form.whenReady()
    if ((!shown && !isWithout) || !isCurrent()) return
    const fault = await shown?.check()
    if (!isCurrent()) return
    if (fault) return checkout.refuse(fault)
    const isSandbox = processorOf({ product, state }) === 'sandbox'
    await checkout.buy({
      email: contact.email,
      wish: asked.wish,
      form: shown,
      rail: isSandbox ? rail : undefined,
      isCurrent,
    })
  }
  return {
    rail,
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
      if (!offer.waits && !state.busy) void press.run(pay)
    },
  }
}
