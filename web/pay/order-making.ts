import {
  createOrder,
  getStatus,
  payOrder,
  ApiError,
  type Created,
  type OrderStatus,
  type ProductView,
  type Wish,
} from '../ui/api.ts'
import { reload } from '../ui/language-choice.tsx'
import { rememberOrder } from '../ui/my-orders.ts'
import { newKey } from '../ui/new-key.ts'
import type { Store } from '../ui/store.ts'
import type { Following } from './follow.ts'
import { keep, readKept, type Kept } from './saved-checkout.ts'
import { ownSite } from './site.ts'
import { isClosing, NO_ORDER, type State } from './state.ts'

/** The answer about an order of a link has the first two, and any other one the token. */
type Answer = Created & { emailHint?: string; productId?: string; statusToken?: string }

/** Makes the order of a product, once for the same address and wish, and forgets it. `adopt`: takes over another tab's checkout. */
export function makeOrders(
  { get, set }: Store<State>,
  { id: productId }: ProductView,
  following: Following,
  adopt: () => void,
) {
  /** Without a wish it repeats the kept order as it is: only a buyer's press makes another one. */
  async function create(email: string, wish: Wish = get().kept?.wish ?? {}, secondTry = false): Promise<void> {
    if (get().busy) return
    const before = readKept(productId)
    // Another tab may have gone further than this one shows.
    if (before?.attempt && !get().kept?.attempt) return adopt()
    const repeated = before && isFor(before, email, wish)
    const kept = repeated
      ? before
      : { email: email.trim(), key: newKey(), ...(Object.keys(wish).length > 0 && { wish }) }
    keep(productId, kept)
    set({ kept, busy: 'creating', trouble: undefined, ...(!repeated && NO_ORDER) })
    try {
      const created = await (kept.link
        ? payOrder(kept.orderId!, kept.link)
        : createOrder({ productId, email: kept.email, ...wish }, kept.key))
      const found = repeated ? await howItStands(kept, created) : freshOrder(created)
      set({ busy: undefined })
      if (readKept(productId)?.key !== kept.key) return adopt()
      show(kept, created, found)
    } catch (trouble) {
      set({ busy: undefined, trouble, failedAt: 'create' })
      // The buyer or another tab has started something else meanwhile, so this failure no longer matters.
      if (readKept(productId)?.key !== kept.key) return adopt()
      const code = trouble instanceof ApiError ? trouble.code : ''
      if (code === 'order_not_found') return startOver()
      // A refused address or currency is not worth keeping, nor an order that lacks something or whose country is in doubt. A key that belongs to another request cannot be
      // used again.
      if (/validation_|_reused|not_offered|_required|_unconfirmed/.test(code)) keep(productId, undefined)
      if (/_reused/.test(code) && !secondTry) await create(kept.email, wish, true)
      // The seller has begun to ask for a consent or the country. The page comes again with the field, and makes no order by itself.
      if (/_required/.test(code)) reload()
      // The order may be closed because it was paid.
      if (isClosing(trouble)) void following.check()
    }
  }

  /** Whether the order for this address and wish is on the screen already and can be paid. */
  function isMade(email: string, wish: Wish): unknown {
    const { kept, order, created } = get()
    return kept?.orderId && order && created?.clientSecret && isFor(kept, email, wish)
  }

  /** `known`: how the order stands, if the page knows it. */
  function show(kept: Kept, created: Created, known: OrderStatus | undefined): void {
    const { orderId, status, clientSecret, emailHint, productId: sold = productId, statusToken } = created as Answer
    const { attempt: _, left: __, ...rest } = kept
    const isSame = kept.orderId === orderId
    // A forged link can name another product. The buyer must not pay the order under that name.
    if (sold !== productId) return (ownSite ?? location).replace(`?product=${sold}&order=${orderId}#p=${kept.link}`)
    const next = { ...(isSame ? kept : { ...rest, orderId }), ...(emailHint && { email: emailHint }) }
    if (!emailHint) rememberOrder(orderId, kept.email, statusToken)
    keep(productId, next)
    // Without a client secret the order was just found paid, or cannot be paid here.
    const order = clientSecret ? (known ?? (isSame ? get().order : undefined)) : freshOrder(created)
    set({ kept: next, created, order })
    // The status knows whether the order is paid by now, brings the files of a free order, and says where the order leads.
    if (order?.status !== status || !clientSecret || ownSite) void following.check()
  }

  /**
   * Forgets an order that could not be made, so that neither this page nor a reload makes it. An order that exists
   * stays.
   */
  function letGo(): void {
    const { kept } = get()
    set({ trouble: undefined, repriced: undefined, typed: 'yes' })
    if (!kept || kept.orderId) return
    const stored = readKept(productId)
    // Another tab may have made the order under the same key, or begun one of its own.
    if (stored?.key === kept.key && !stored.orderId) keep(productId, undefined)
    set({ kept: undefined })
  }

  function startOver(): void {
    following.stop()
    keep(productId, undefined)
    const { kept } = get()
    // The link is damaged. The order's page helps only its buyer on.
    if (kept?.link) return (ownSite ?? location).replace(`/order/?order=${kept.orderId}`)
    set({ ...NO_ORDER, kept: undefined, trouble: undefined })
  }

  return { create, isMade, letGo, startOver }
}

/**
 * A repeated request gets the answer of the first one. Only the status knows whether the order can still be paid. Without its answer the
 * order counts as not made, so that the form and the typed text keep their place. The next try has the same key.
 */
async function howItStands(kept: Kept, created: Created): Promise<OrderStatus | undefined> {
  const { orderId, clientSecret, statusToken } = created as Answer
  if (kept.orderId === orderId || !clientSecret) return undefined
  return getStatus(orderId, kept.email, undefined, statusToken)
}

/** Whether the kept order is the one for this address and wish. An order of a link has its own. */
const isFor = ({ link, email, wish }: Kept, typed: string, wanted: Wish): boolean =>
  !!link || (plain(email) === plain(typed) && JSON.stringify(wish ?? {}) === JSON.stringify(wanted))
const plain = (email: string): string => email.trim().toLowerCase()

const freshOrder = (created: Created): OrderStatus => ({
  ...created,
  paid: created.status === 'paid',
  canPay: created.status !== 'paid',
  downloads: [],
  nextPollMs: null,
})
