import { getStatus, ApiError, type OrderStatus } from '../ui/api.ts'
import { lateLooks } from '../ui/late-looks.ts'
import { emailOf, forgetOrder, isForgotten, rememberOrder, whenForgotten } from '../ui/my-orders.ts'
import { newStore, type Store } from '../ui/store.ts'
import { sentence } from '../ui/words.ts'
import { wordsOf } from '../ui/language.ts'

const POLL_MS = { least: 1_000, failed: 5_000 }

export interface OrderState {
  /** Present only once the number and the address have matched. */
  order?: OrderStatus | undefined
  email?: string | undefined
  busy: boolean
  fault?: string | undefined
  /** How often the buyer has asked by hand. */
  tries: number
}

export interface OpenOrder extends Pick<Store<OrderState>, 'get' | 'subscribe'> {
  open: (orderId: string, email: string) => Promise<void>
  renew: () => Promise<OrderStatus['downloads']>
  forget: () => void
}

/** One order on its own page: opened by number and address, then polled until nothing changes any more. */
export function openOrder(asked: string): OpenOrder {
  const remembered = asked ? emailOf(asked) : undefined
  const { get, set, subscribe } = newStore<OrderState>({ email: remembered, busy: remembered !== undefined, tries: 0 })
  let timer: ReturnType<typeof setTimeout> | undefined
  const nextLook = lateLooks()
  /** The request that got no answer. */
  let last: { orderId: string; email: string } | undefined
  /** How often this page has let go of a forgotten order. A request that began before that must not bring it back. */
  let forgotten = 0

  function letGo(): void {
    clearTimeout(timer)
    forgotten += 1
    last = undefined
    history.replaceState(history.state, '', location.pathname + location.search)
    set({ order: undefined, email: undefined, fault: undefined })
  }

  async function load(orderId: string, email: string): Promise<void> {
    clearTimeout(timer)
    const before = forgotten
    const wasKnown = get().order?.orderId === orderId || emailOf(orderId) !== undefined
    const isOver = () => {
      if (forgotten === before && wasKnown && isForgotten(orderId)) letGo()
      return forgotten !== before
    }
    const again = (ms: number) => void (timer = setTimeout(() => void load(orderId, email), ms))
    try {
      const order = await ask(orderId, email, get().order?.status)
      if (isOver()) return
      rememberOrder(orderId, email, order.statusToken)
      set({ order, email, fault: undefined })
      const pause = pauseAfter(order, nextLook)
      if (pause) again(pause)
    } catch (trouble) {
      if (isOver()) return
      const unmatched = trouble instanceof ApiError && trouble.code === 'order_not_found'
      // One text for an unknown number and for a wrong address: the page must not reveal which of the two it was.
      set({ fault: unmatched ? wordsOf('order').noMatch : sentence(trouble), ...(unmatched && { order: undefined }) })
      if (get().order) again(POLL_MS.failed)
      last = unmatched ? undefined : { orderId, email }
    }
  }

  async function open(orderId: string, email: string): Promise<void> {
    if (get().busy) return
    set({ busy: true, tries: get().tries + 1 })
    await load(orderId, email)
    set({ busy: false })
  }

  async function refresh(): Promise<void> {
    const { order, email } = get()
    if (order && email) await load(order.orderId, email)
  }

  addEventListener('online', () => {
    const { order, fault, busy } = get()
    if (order) void refresh()
    else if (fault && last && !busy) void open(last.orderId, last.email)
  })
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && refresh())
  // Another tab can forget the order of this page, also while the browser keeps this page for the back button.
  whenForgotten(() => get().order?.orderId, letGo)
  if (remembered) void load(asked, remembered).finally(() => set({ busy: false }))

  return {
    get,
    subscribe,
    open,
    async renew() {
      await refresh()
      return get().order?.downloads ?? []
    },
    forget() {
      forgetOrder(get().order?.orderId ?? '')
      letGo()
    },
  }
}

/** The order, when the address is its own: the service sends the details only then. */
async function ask(orderId: string, email: string, status: OrderStatus['status'] = 'pending'): Promise<OrderStatus> {
  const how = status === 'pending' || status === 'processing' ? 'sync' : undefined
  const order = await getStatus(orderId, email, how)
  if (!order.timeline) throw new ApiError({ code: 'order_not_found', status: 404 })
  return order
}

/** How long the page waits before it asks again. Undefined: nothing changes any more. */
function pauseAfter({ paid, amount, nextPollMs }: OrderStatus, nextLook: () => number | undefined): number | undefined {
  const look = paid && amount > 0 ? nextLook() : undefined
  return look ?? (nextPollMs === null ? undefined : Math.max(nextPollMs, POLL_MS.least))
}
