import { getStatus, ApiError, type OrderStatus } from '../ui/api.ts'
import { lateLooks } from '../ui/late-looks.ts'
import { emailOf, forgetOrder, rememberOrder } from '../ui/my-orders.ts'
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
  /** How often the buyer has forgotten an order here. A request that began before that must not bring it back. */
  let forgotten = 0

  async function load(orderId: string, email: string): Promise<void> {
    clearTimeout(timer)
    const before = forgotten
    const again = (ms: number) => {
      timer = setTimeout(() => void load(orderId, email), ms)
    }
    try {
      const { status = 'pending' } = get().order ?? {}
      const how = status === 'pending' || status === 'processing' ? 'sync' : undefined
      const order = await getStatus(orderId, email, how)
      if (forgotten !== before) return
      // The service sends the details only when the address is the order's.
      if (!order.timeline) throw new ApiError({ code: 'order_not_found', status: 404 })
      rememberOrder(orderId, email, order.statusToken)
      set({ order, email, fault: undefined })
      const look = order.paid && order.amount > 0 ? nextLook() : undefined
      if (look) again(look)
      else if (order.nextPollMs !== null) again(Math.max(order.nextPollMs, POLL_MS.least))
    } catch (trouble) {
      if (forgotten !== before) return
      const unmatched = trouble instanceof ApiError && trouble.code === 'order_not_found'
      // One text for an unknown number and for a wrong address: the page must not reveal which of the two it was.
      set({ fault: unmatched ? wordsOf('order').noMatch : sentence(trouble) })
      if (unmatched) set({ order: undefined })
      else if (get().order) again(POLL_MS.failed)
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
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void refresh()
  })
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
      clearTimeout(timer)
      forgotten += 1
      last = undefined
      forgetOrder(get().order?.orderId ?? '')
      history.replaceState(history.state, '', location.pathname + location.search)
      set({ order: undefined, email: undefined, fault: undefined })
    },
  }
}
