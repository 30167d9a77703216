import { useEffect, useRef, useState } from 'preact/hooks'
import type { ProductView } from '../ui/api.ts'
import { SellerLinks, wear } from '../ui/brand.tsx'
import { Notice } from '../ui/notice.tsx'
import { useStore } from '../ui/store.ts'
import { sentence } from '../ui/words.ts'
import { openCheckout } from './checkout.ts'
import { type Later, useLater } from './later.ts'
import { OrderLink } from './order-link.tsx'
import { PaymentStep } from './payment-step.tsx'
import { asShown, pricedIn } from './priced-in.ts'
import { isForm, viewOf, type View } from './state.ts'
import { ownSite } from './site.ts'
import type { StepProps } from './step-props.ts'
import { Summary } from './summary.tsx'
import { totalOf } from './total.ts'
import { LanguageChoice } from '../ui/language-choice.tsx'
import { saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

/** Two columns: the product, and the step the buyer is at. */
export function CheckoutPage({ product: given, returned }: { product: ProductView; returned?: string | undefined }) {
  // The product of a page never changes, apart from its price.
  const [checkout] = useState(() => {
    wear(given.seller)
    return openCheckout(given, returned)
  })
  const all = useStore(checkout)
  const state = asShown(all)
  const product = pricedIn(given, state)
  const view = viewOf(all)
  // One screen, before and after the order is made: the payment form must keep its place.
  const step = isForm(view) ? 'payment' : view
  const after = useLater(loadAfter, useBegun() || all.kept !== undefined)
  const Step = isForm(view) ? PaymentStep : view === 'checking' ? undefined : after.loaded?.[view]
  const panel = useMovingFocus(Step || view === 'checking' ? step : `${step}, to come`)
  useEffect(() => {
    document.title = [
      view === 'delivered' && (all.order!.amount > 0 ? shared.paid : words.yours),
      given.name,
      given.seller.name,
    ]
      .filter(Boolean)
      .join(' · ')
    ownSite?.shown(view, all, given.seller.name)
  }, [view, given, all])
  return (
    <div class="checkout" data-view={step}>
      <Summary product={product} order={state.order} total={totalOf(product, state)} />
      <main class="step" ref={panel}>
        {Step ? (
          <Step product={product} checkout={checkout} state={state} key={step} />
        ) : (
          <OneMoment view={view} checkout={checkout} state={state} later={after} />
        )}
      </main>
      <footer class="imprint small">
        <SellerLinks seller={product.seller} />
        <p>{saying(shared.checkoutBy, { till: <a href="/">Till</a> })}</p>
        <a href="/order/">{shared.findOrder}</a>
        <a href="/withdraw/">{shared.withdraw}</a>
        <LanguageChoice />
      </footer>
      <output class="unseen">{SAID[view]}</output>
    </div>
  )
}

const loadAfter = () => import('./after-payment.ts')

/** Announced to buyers who do not see the page change. */
const SAID: Record<View, string> = {
  contact: '',
  checking: words.lookingUp,
  payment: '',
  in_form: words.saidConfirming,
  waiting: words.saidConfirming,
  delivered: words.saidDelivered,
  ended: words.saidEnded,
}

interface OneMomentProps extends Omit<StepProps, 'product'> {
  view: View
  later: Later<unknown>
}

/** While the page asks about the order, or loads the step that the order is at. The order's page knows the answer too. */
function OneMoment({ view, checkout, state: { trouble, kept }, later }: OneMomentProps) {
  const isAsking = view === 'checking'
  const silent = isAsking ? trouble !== undefined && sentence(trouble) : later.failed && words.partMissing
  return (
    <div class="stack">
      <h2 tabIndex={-1}>{SAID[view]}</h2>
      {silent ? (
        <Notice tone="alarm" title={silent} role="alert">
          <button type="button" class="link" onClick={() => (isAsking ? void checkout.check() : later.again())}>
            {shared.tryAgain}
          </button>
        </Notice>
      ) : (
        <p class="busy-line soft">
          <span class="spinner" aria-hidden="true" /> {words.lookingUpText}
        </p>
      )}
      {!isAsking && <OrderLink kept={kept} />}
    </div>
  )
}

/** Whether the buyer has begun to fill in the form. A buyer who only looks loads nothing more. */
function useBegun(): boolean {
  const [begun, setBegun] = useState(false)
  useEffect(() => {
    const begin = () => setBegun(true)
    for (const what of ['focusin', 'input', 'pointerdown']) addEventListener(what, begin, { once: true })
  }, [])
  return begun
}

/** Moves the focus to the heading when the step changes, because the pressed button is gone. Not on arrival. */
function useMovingFocus(view: string) {
  const panel = useRef<HTMLElement>(null)
  const shownRef = useRef(view)
  useEffect(() => {
    const from = shownRef.current
    shownRef.current = view
    if (from === view || (from === 'checking' && document.activeElement === document.body)) return
    const find = (what: string) => panel.current?.querySelector<HTMLElement>(what)
    const target = find('[role=alert][tabindex]') ?? find('h2[tabindex]')
    target?.focus({ preventScroll: true })
    scrollTo({ top: 0 })
  }, [view])
  return panel
}
