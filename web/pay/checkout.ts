import { ApiError, type Download, type ProductView } from '../ui/api.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { newStore, type Store } from '../ui/store.ts'
import { trackAttempts } from './attempts.ts'
import { buyer, type Purchase } from './buyer.ts'
import { follow } from './follow.ts'
import { makeOrders } from './order-making.ts'
import { onOtherTab, readKept } from './saved-checkout.ts'
import { payInForms } from './paying.ts'
import type { Fault } from './payment-form.ts'
import { isSettled, NO_NOTICE, NO_ORDER, viewOf, type Offer, type State } from './state.ts'

export interface Checkout extends Pick<Store<State>, 'get' | 'subscribe'> {
  /** Makes the order, or finds the one already made for the same address and wish, and pays it by the form. */
  buy: (purchase: Purchase) => Promise<boolean>
  /** Something is missing in the form, and nothing was sent. */
  refuse: (fault: Fault) => void
  /** Fields that were loading at the press have changed the price. Nothing was sent, and the page says so. */
  showPrice: () => void
  /** Shows the price that the order would have; undefined while the typed price cannot be read. */
  offer: (offer: Offer | undefined) => void
  /** Shows another of the product's prices. */
  choose: (currency: string) => void
  /** Shows the tax of the country that the buyer has chosen. */
  showTax: (tax: ProductView['tax']) => void
  check: () => Promise<void>
  /** Fresh links of a paid order. */
  renew: () => Promise<Download[]>
  /** The buyer types another address, price or code: the page stops trying to make the order that failed before. */
  letGo: () => void
  /** Leaves a finished order behind, because the buyer asked for a new one. */
  startOver: () => void
  /** A code that another device may pay is on the screen: keep polling. */
  watch: (on: boolean) => void
}

/**
 * One buyer's way through one product. The service alone knows whether an order is paid. The checkout remembers which
 * order it is, asks the service, and offers to pay only after the answer that nothing is paid or under way.
 */
export function openCheckout(product: ProductView, returned?: string): Checkout {
  const { id: productId } = product
  const saved = readKept(productId)
  const store = newStore<State>({ kept: saved, typed: typedBefore('typed'), ...(saved?.left && { notice: 'left' }) })
  const { get, set, subscribe } = store
  const attempts = trackAttempts(store, productId)
  const following = follow(store, {
    answered(answer, elsewhere) {
      // The service's answer counts more than the outcome that the form would still report.
      if (!answer.canPay) paying.end()
      attempts.accept(answer, elsewhere)
    },
    unknown: () => startOver(),
    asked: resume,
  })
  const paying = payInForms(store, { productId, keepAttempt: attempts.keep, adopt, following })
  const { create, isMade, letGo, startOver } = makeOrders(store, product, following, adopt)

  function resume(failed: boolean): void {
    const { kept, order } = get()
    // After a reload the page asks for the client secret again, with the same key, and only for an order that may be
    // paid.
    if (!failed && order && viewOf(get()) === 'checking') void create(kept!.email)
    else following.plan()
  }

  /** Another tab has changed the order. This tab follows, unless it shows a finished order. */
  function adopt(): void {
    if (isSettled(get().order?.status)) return
    const kept = readKept(productId)
    const isSame = kept?.orderId !== undefined && kept.orderId === get().kept?.orderId
    if (!isSame) paying.end()
    set({ kept, ...(!isSame && { ...NO_ORDER, trouble: undefined }) })
    // Without an order id yet, the other tab is making the order right now.
    if (kept?.orderId) void following.check()
  }

  /** A page that comes back (from the back button, another app, no network) trusts nothing that it shows. */
  function comeBack(): void {
    if (get().busy && get().busy !== 'in_form') return
    if (JSON.stringify(readKept(productId)) !== JSON.stringify(get().kept)) adopt()
    // A finished order too: it may have been refunded since, and its links last for an hour.
    void following.check()
    const { kept, trouble, failedAt } = get()
    // With the same key: if the first request did arrive, this one finds its order.
    if (kept && !kept.orderId && failedAt === 'create' && trouble instanceof ApiError && trouble.unknown)
      void create(kept.email)
  }

  onOtherTab(productId, adopt)
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return
    paying.comeBack()
    comeBack()
  })
  addEventListener('online', comeBack)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && comeBack())
  // The result in the return address proves nothing, so the page asks the service.
  if (saved && returned && saved.orderId === returned)
    attempts.keep({ sentAt: Date.now(), ...saved.attempt, answer: 'left', back: true }, {})
  // The page asks about a kept order before it shows anything that can be paid.
  if (saved?.orderId) void following.check()
  else if (saved) void create(saved.email)
  return {
    get,
    subscribe,
    buy: buyer(store, product, { create, isMade, pay: paying.pay }),
    refuse: ({ kind, message }) => set({ notice: kind, detail: message }),
    showPrice: () => set({ repriced: 'fields' }),
    offer: (offer) => set({ offer }),
    // The old offer and messages were about the other price.
    choose: (currency) => set({ currency, offer: undefined, repriced: undefined, ...NO_NOTICE }),
    showTax: (tax) => set({ tax }),
    check: () => following.check(),
    renew: () => following.check().then(() => get().order?.downloads ?? []),
    letGo,
    startOver,
    watch(watching) {
      set({ watching })
      following.plan()
    },
  }
}
