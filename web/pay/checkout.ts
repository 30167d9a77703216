import { confirmInSandbox, createOrder, getStatus, Trouble, type Created, type Download, type OrderStatus, type Rail } from '../ui/api.ts'
import { rememberOrder } from '../ui/my-orders.ts'
import { keep, newKey, onOtherTab, recall, type Kept } from './kept.ts'
import { isSettled, viewOf, type State } from './state.ts'

/** A routine notification takes a second or two; after this the processor is asked (`sync=1`). */
const SYNC_AFTER_MS = 4_000
const POLL_MS = { least: 700, usual: 2_000, unpaid: 4_000, most: 30_000 }

export interface Checkout {
  state: () => State
  subscribe: (changed: () => void) => () => void
  create: (email: string) => Promise<void>
  pay: (rail: Rail, scenario: string) => Promise<void>
  check: () => Promise<void>
  renew: () => Promise<Download[]>
  /** Lets the buyer correct the address; another address is another order. */
  editEmail: () => void
  /** Leaves a finished order behind, because the buyer asked for a new one. */
  startOver: () => void
  /** A code is on the screen that another device may pay: keep asking. */
  watch: (on: boolean) => void
}

/**
 * One buyer's way through one product. The service knows whether an order is paid; this only remembers which order it is,
 * asks, and offers to pay when the answer was that nothing is paid or under way.
 */
export function openCheckout(productId: string): Checkout {
  const listeners = new Set<() => void>()
  let state: State = { kept: recall(productId) }
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: Promise<void> | undefined
  let failures = 0

  const set = (change: Partial<State>) => {
    state = { ...state, ...change }
    for (const changed of listeners) changed()
  }
  const store = (kept: Kept | undefined) => {
    keep(productId, kept)
    set({ kept })
  }

  /** Takes up the order that is kept: asks what became of it before anything is shown that could be paid. */
  async function takeUp() {
    const { kept } = state
    if (!kept) return
    if (kept.orderId) await check()
    else await create(kept.email)
  }

  async function create(email: string, secondTry = false) {
    if (state.busy) return
    const before = recall(productId)
    // Another tab may have gone further than this one shows.
    if (before?.attempt && !state.kept?.attempt) return adopt()
    const same = before && alike(before.email, email)
    const kept = same ? before : { email: email.trim(), key: newKey() }
    store(kept)
    set({ busy: 'creating', trouble: undefined, ...(!same && { order: undefined, created: undefined, notice: undefined }) })
    try {
      const created = await createOrder(productId, kept.email, kept.key)
      set({ busy: undefined, editing: false })
      if (recall(productId)?.key !== kept.key) return adopt()
      await open(kept, created, Boolean(same))
    } catch (trouble) {
      set({ busy: undefined, trouble, failedAt: 'create' })
      // The key belongs to another request: it is not ours any more.
      if (trouble instanceof Trouble && trouble.code === 'idempotency_key_reused' && !secondTry) {
        store({ email: kept.email, key: newKey() })
        await create(kept.email, true)
      }
    }
  }

  async function open(kept: Kept, created: Created, replayed: boolean) {
    const other = kept.orderId !== undefined && kept.orderId !== created.orderId
    store({ ...(other ? { email: kept.email, key: kept.key } : kept), orderId: created.orderId })
    rememberOrder(created.orderId, kept.email)
    const known = state.order?.orderId === created.orderId
    set({ created, order: known ? state.order : replayed ? undefined : freshOrder(created) })
    // The answer to a repeated request is that of the first one: whether it is paid by now only the status knows.
    if (!state.order) await check()
  }

  async function pay(rail: Rail, scenario: string) {
    const { kept, created, busy } = state
    if (busy || viewOf(state) !== 'payment' || !kept || !created?.clientSecret) return
    // Kept before it is sent: if this page dies now, the next one knows that money may be on its way.
    const attempt = { rail, sentAt: Date.now() }
    store({ ...kept, attempt })
    set({ busy: 'confirming', trouble: undefined, notice: undefined })
    try {
      const { status } = await confirmInSandbox(created.clientSecret, rail, scenario)
      set({ busy: undefined })
      answered({ ...attempt, answer: status })
    } catch (trouble) {
      set({ busy: undefined })
      if (!(trouble instanceof Trouble) || trouble.unknown) set({ trouble, failedAt: 'confirm' })
      else if (trouble.code === 'payment_declined') answered(undefined, { notice: 'declined' })
      else if (trouble.status === 409) answered({ ...attempt, answer: 'captured' })
      else answered(undefined, { trouble, failedAt: 'confirm' })
    }
    failures = 0
    plan()
  }

  /** Ends or amends the attempt, in one change, so that no render in between could offer to pay. */
  function answered(attempt: Kept['attempt'], more: Partial<State> = {}) {
    if (!state.kept) return
    const { attempt: _, ...rest } = state.kept
    const kept = attempt ? { ...rest, attempt } : rest
    // Another tab may have begun a new order meanwhile, which must not be overwritten by what became of this one.
    if (recall(productId)?.orderId === kept.orderId) keep(productId, kept)
    set({ ...more, kept })
  }

  function check(): Promise<void> {
    return (asking ??= ask().finally(() => {
      asking = undefined
      // After a reload the means to pay are asked for again, under the same key, and only for an order that may be paid.
      if (!failures && state.kept && state.order && !state.created && viewOf(state) === 'checking') void create(state.kept.email)
      else plan()
    }))
  }

  async function ask() {
    clearTimeout(timer)
    const { kept, order } = state
    if (!kept?.orderId) return
    const { orderId, email, attempt } = kept
    const sync = attempt ? Date.now() - attempt.sentAt >= SYNC_AFTER_MS : order?.status === 'processing'
    try {
      const answer = await getStatus(orderId, email, sync)
      if (state.kept?.orderId !== orderId) return
      failures = 0
      accept(answer)
    } catch (trouble) {
      failures += 1
      if (state.kept?.orderId !== orderId) return
      // The service has never heard of it (another database, a cleared one): it cannot be paid, so it is not kept.
      if (trouble instanceof Trouble && trouble.code === 'order_not_found') forget()
      // One lost answer while waiting is nothing to tell a buyer about.
      else if (failures > 1 || !order || !navigator.onLine) set({ trouble, failedAt: 'check' })
    }
  }

  function accept(answer: OrderStatus) {
    const { order, kept, created } = state
    // A slow answer from before must not take back what a later one has told.
    if (order && isSettled(order.status) && !isSettled(answer.status)) return
    const attempt = kept?.attempt
    set({
      order: { ...answer, statementDescriptor: answer.statementDescriptor ?? created?.statementDescriptor ?? '' },
      ...(state.failedAt === 'check' && { trouble: undefined }),
    })
    if (isSettled(answer.status)) answered(undefined, { notice: undefined, trouble: undefined, editing: false })
    else if (answer.status === 'pending' && attempt && attempt.answer !== 'captured' && answer.synced) {
      // The processor was asked after the attempt and holds no money: the buyer may try again.
      answered(undefined, { notice: lastIsDecline(answer) ? 'declined' : 'not_taken', trouble: undefined })
    } else if (answer.status === 'pending' && !attempt && !state.notice && lastIsDecline(answer)) set({ notice: 'declined' })
  }

  function plan() {
    clearTimeout(timer)
    const wait = nextCheckMs()
    if (wait !== undefined) timer = setTimeout(check, wait)
  }

  function nextCheckMs(): number | undefined {
    const { order, trouble, notice } = state
    const view = viewOf(state)
    if (!state.kept?.orderId || state.busy) return undefined
    if (failures) {
      const asked = trouble instanceof Trouble ? (trouble.retryAfterSeconds ?? 0) * 1000 : 0
      return Math.min(Math.max(asked, 1000 * 2 ** failures), POLL_MS.most)
    }
    if (view === 'waiting') return Math.max(order?.nextPollMs ?? POLL_MS.usual, POLL_MS.least)
    // A declined payment can still succeed at the bank; a code on the screen is paid on another device.
    if (view === 'payment' && (notice || state.watching)) return Math.max(order?.nextPollMs ?? 0, POLL_MS.unpaid)
    return isSettled(order?.status) && order?.nextPollMs ? Math.max(order.nextPollMs, POLL_MS.unpaid) : undefined
  }

  /** Another tab has changed the order: this one follows, unless it shows a finished one. */
  function adopt() {
    if (isSettled(state.order?.status)) return
    const kept = recall(productId)
    const same = kept?.orderId !== undefined && kept.orderId === state.kept?.orderId
    set({ kept, ...(!same && { order: undefined, created: undefined, notice: undefined, trouble: undefined, editing: false }) })
    // Without a number yet, the other tab is asking for one right now.
    if (kept?.orderId) void check()
  }

  function forget() {
    clearTimeout(timer)
    keep(productId, undefined)
    set({ kept: undefined, order: undefined, created: undefined, notice: undefined, trouble: undefined, editing: false })
  }

  /** A page that comes back (from the back button, another app, no network) trusts nothing that it shows. */
  function again() {
    if (state.busy) return
    if (JSON.stringify(recall(productId)) !== JSON.stringify(state.kept)) adopt()
    // Even a finished order is asked for again: it may have been refunded since, and its links last for an hour.
    if (state.kept?.orderId) void check()
  }

  onOtherTab(productId, adopt)
  addEventListener('pageshow', (event) => event.persisted && again())
  addEventListener('online', again)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && again())
  void takeUp()

  return {
    state: () => state,
    subscribe: (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    create,
    pay,
    check,
    renew: async () => {
      await check()
      return state.order?.downloads ?? []
    },
    editEmail: () => set({ editing: true, trouble: undefined }),
    startOver: forget,
    watch: (watching) => {
      set({ watching })
      plan()
    },
  }
}

const alike = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase()

const freshOrder = ({ orderId, status, amount, currency, statementDescriptor }: Created): OrderStatus => ({
  orderId,
  status,
  paid: false,
  amount,
  currency,
  statementDescriptor,
  downloads: [],
  nextPollMs: null,
})

const lastIsDecline = ({ timeline }: OrderStatus): boolean => timeline?.at(-1)?.what === 'payment_declined'
