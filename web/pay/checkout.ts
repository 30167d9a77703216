import {
  createOrder,
  ApiError,
  type Created,
  type Download,
  type OrderStatus,
  type ProductView,
  type Rail,
  type Wish,
} from '../ui/api.ts'
import { rememberOrder } from '../ui/my-orders.ts'
import { newStore, type Store } from '../ui/store.ts'
import { follow } from './follow.ts'
import { prepareForm } from './forms.ts'
import { keep, newKey, onOtherTab, readKept, type Attempt, type Kept } from './saved-checkout.ts'
import { payInForms } from './paying.ts'
import type { PaymentForm } from './payment-form.ts'
import { isSettled, NO_NOTICE, NO_ORDER, viewOf, type Notice, type Offer, type State } from './state.ts'

export interface Checkout extends Pick<Store<State>, 'get' | 'subscribe'> {
  /** Makes the order, or finds the one already made for the same address and wish. */
  create: (email: string, wish?: Wish) => Promise<void>
  /** Shows what the order would cost; undefined while the typed price cannot be read. */
  offer: (offer: Offer | undefined) => void
  /** Pays by a form on the screen. `rail` where the page knows it. */
  pay: (form: PaymentForm, rail?: Rail) => Promise<void>
  check: () => Promise<void>
  /** Fresh links of a paid order. */
  renew: () => Promise<Download[]>
  /** Lets the buyer correct the address. An order for another address is a new one. */
  editEmail: () => void
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
export function openCheckout({ id: productId, payments }: ProductView, returned?: string): Checkout {
  const before = readKept(productId)
  const store = newStore<State>({ kept: before, ...(before?.left && { notice: 'left' }) })
  const { get, set } = store
  const following = follow(store, { answered: accept, unknown: startOver, asked: resume })
  const paying = payInForms(store, { productId, keepAttempt, adopt, following })

  async function create(email: string, wish = get().kept?.wish, secondTry = false): Promise<void> {
    if (get().busy) return
    const before = readKept(productId)
    // Another tab may have gone further than this one shows.
    if (before?.attempt && !get().kept?.attempt) return adopt()
    const known = before && alike(before.email, email) && same(before.wish, wish)
    const kept = known ? before : { email: email.trim(), key: newKey(), ...(wish && { wish }) }
    keep(productId, kept)
    prepareForm(payments.processor)
    set({ kept, busy: 'creating', trouble: undefined, ...(!known && NO_ORDER) })
    try {
      const created = await createOrder({ productId, email: kept.email, ...wish }, kept.key)
      set({ busy: undefined, editing: false })
      if (readKept(productId)?.key !== kept.key) return adopt()
      open(kept, created, !known)
    } catch (trouble) {
      set({ busy: undefined, trouble, failedAt: 'create' })
      // The buyer or another tab has started something else meanwhile, so this failure no longer matters.
      if (readKept(productId)?.key !== kept.key) return adopt()
      const code = trouble instanceof ApiError ? trouble.code : ''
      // A refused address is not worth keeping. A key that belongs to another request cannot be used again.
      if (code === 'validation_failed' || code === 'idempotency_key_reused') keep(productId, undefined)
      if (code === 'idempotency_key_reused' && !secondTry) await create(kept.email, wish, true)
      // The order may be closed because it was paid.
      if (code === 'payment_closed') void following.check()
    }
  }

  function open(kept: Kept, created: Created, isNew: boolean): void {
    const { orderId, status, clientSecret } = created
    const { attempt: _, left: __, ...rest } = kept
    rememberOrder(orderId, kept.email, created.statusToken)
    const isSame = kept.orderId === orderId
    const next = isSame ? kept : { ...rest, orderId }
    keep(productId, next)
    // Without a client secret the order was just found paid, or cannot be paid here.
    const order = isNew || !clientSecret ? freshOrder(created) : isSame ? get().order : undefined
    set({ kept: next, created, order })
    // A repeated request gets the answer of the first one, so only the status knows whether the order is paid by now.
    // The status also brings the files of a free order.
    if (order?.status !== status || !clientSecret) void following.check()
  }

  /** Writes the result of an attempt and its consequences in one step, so that no render in between offers to pay. */
  function keepAttempt(attempt: Attempt | undefined, change: Partial<State>, left = get().kept!.left): void {
    const { attempt: _, left: __, ...rest } = get().kept!
    // A new try ends what an earlier one left for the buyer to do. The earlier one may still be paid, so the sync goes
    // on.
    const kept = {
      ...rest,
      ...(attempt && { attempt }),
      ...(left && !isSettled(get().order?.status) && { left: attempt ? {} : left }),
    }
    // Another tab may have begun a new order meanwhile. The result of this one must not overwrite it.
    if (readKept(productId)?.orderId === kept.orderId) keep(productId, kept)
    set({ ...change, kept })
  }

  function accept(answer: OrderStatus, elsewhere: boolean): void {
    const { order: known, kept, created, notice, failedAt, busy } = get()
    // A slow, older answer must not undo a newer one.
    if (isSettled(known?.status) && !isSettled(answer.status)) return
    // The service's answer counts more than the outcome that the form would still report.
    if (!answer.canPay) paying.end()
    const order = { ...answer, statementDescriptor: answer.statementDescriptor ?? created?.statementDescriptor }
    set({ order, ...(failedAt === 'check' && { trouble: undefined }) })
    if (isSettled(order.status)) {
      keepAttempt(undefined, { ...NO_NOTICE, trouble: undefined, editing: false })
    } else if (order.canPay && busy !== 'in_form' && !elsewhere) {
      const declined = order.timeline?.at(-1)?.what === 'payment_declined'
      // The service asked the processor after the attempt, and the processor holds no money: the buyer may try again.
      if (kept?.attempt && kept.attempt.answer !== 'captured' && order.synced) {
        const notice = reasonOf(kept.attempt, declined)
        keepAttempt(undefined, { notice, trouble: undefined }, notice === 'left' ? (kept.attempt.how ?? {}) : kept.left)
      } else if (!kept?.attempt && !notice && declined) set({ notice: 'declined' })
    }
  }

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
    const same = kept?.orderId !== undefined && kept.orderId === get().kept?.orderId
    if (!same) paying.end()
    set({ kept, ...(!same && { ...NO_ORDER, trouble: undefined, editing: false }) })
    // Without an order id yet, the other tab is making the order right now.
    if (kept?.orderId) void following.check()
  }

  function startOver(): void {
    following.stop()
    keep(productId, undefined)
    set({ ...NO_ORDER, kept: undefined, trouble: undefined, editing: false })
  }

  /**
   * Forgets an order that could not be made, so that neither this page nor a reload makes it. An order that exists
   * stays.
   */
  function letGo(): void {
    const { kept } = get()
    set({ trouble: undefined })
    if (!kept || kept.orderId) return
    const stored = readKept(productId)
    // Another tab may have made the order under the same key, or begun one of its own.
    if (stored?.key === kept.key && !stored.orderId) keep(productId, undefined)
    set({ kept: undefined })
  }

  /** A page that comes back (from the back button, another app, no network) trusts nothing that it shows. */
  function again(): void {
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
    again()
  })
  addEventListener('online', again)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && again())
  const kept = get().kept
  // The result in the return address proves nothing, so the page asks the service.
  if (kept && returned && kept.orderId === returned)
    keepAttempt({ sentAt: Date.now(), ...kept.attempt, answer: 'left', back: true }, {})
  // The page asks about a kept order before it shows anything that can be paid.
  if (kept?.orderId) void following.check()
  else if (kept) void create(kept.email)

  return {
    get,
    subscribe: store.subscribe,
    create,
    offer: (offer) => set({ offer }),
    pay: paying.pay,
    check: following.check,
    async renew() {
      await following.check()
      return get().order?.downloads ?? []
    },
    editEmail: () => get().busy !== 'in_form' && set({ editing: true, trouble: undefined }),
    letGo,
    startOver,
    watch(watching) {
      set({ watching })
      following.plan()
    },
  }
}

/**
 * The last decline can be that of another try in the processor's form, unless the bank has sent the buyer back. The
 * sandbox's confirmation is a single request: without an answer it did not arrive.
 */
function reasonOf({ rail, answer, back }: Attempt, declined: boolean): Notice {
  if (declined && (rail || back)) return 'declined'
  return answer === 'left' || !rail ? 'left' : 'not_taken'
}

const alike = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase()
const same = (one?: Wish, other?: Wish): boolean => JSON.stringify(one) === JSON.stringify(other)

const freshOrder = (created: Created): OrderStatus => ({
  ...created,
  paid: created.status === 'paid',
  canPay: created.status !== 'paid',
  downloads: [],
  nextPollMs: null,
})
