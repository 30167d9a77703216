import { getStatus, type ApiError, type OrderStatus } from '../ui/api.ts'
import { lateLooks } from '../ui/late-looks.ts'
import type { Store } from '../ui/store.ts'
import { isHeld } from './form-lock.ts'
import { isClosing, viewOf, type State } from './state.ts'

/** A routine notification takes a second or two. After this time the page asks the service to sync (`sync=1`). */
const SYNC_AFTER_MS = 4_000
const POLL_MS = { least: 700, usual: 2_000, unpaid: 4_000, most: 30_000 }

interface Listener {
  /** `elsewhere`: the buyer is paying in another tab at the moment. */
  answered: (answer: OrderStatus, elsewhere: boolean) => void
  /** The service knows no such order. */
  unknown: () => void
  /** After each request, answered or not. */
  asked: (failed: boolean) => void
}

export interface Following {
  /** Asks now how the order stands, one request at a time. With `wait` the service may wait for the payment first. */
  check: (more?: 'wait') => Promise<void>
  /** Plans the next request: by the present state, or after `ms`. */
  plan: (ms?: number) => void
  stop: () => void
}

/** Polls the status of the kept order, as often as the service says and as the present view needs. */
export function follow({ get, set }: Store<State>, listener: Listener): Following {
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: Promise<void> | undefined
  let askedFor: string | undefined
  let failures = 0
  /** How long the service may have waited before it answered. */
  let waitedMs = 0
  const nextLook = lateLooks()

  async function ask(more: 'sync' | 'wait' | undefined): Promise<void> {
    const { kept, order } = get()
    if (!kept?.orderId) return
    const { orderId, email, attempt, link } = kept
    const askedAt = performance.now()
    const isCurrent = () => get().kept?.orderId === orderId
    try {
      const answer = await getStatus(orderId, link ? '' : email, more, link)
      failures = 0
      waitedMs = more === 'wait' ? performance.now() - askedAt : 0
      const elsewhere = get().busy !== 'in_form' && (await isHeld(orderId))
      if (!isCurrent()) return
      // An answer to a request from before the press on the button says nothing about the press.
      if (get().kept?.attempt !== attempt) answer.synced = false
      listener.answered(answer, elsewhere)
    } catch (trouble) {
      failures += 1
      if (!isCurrent()) return
      if ((trouble as Partial<ApiError>).code === 'order_not_found') listener.unknown()
      // A single lost answer while waiting is not worth a message to the buyer.
      else if (failures > 1 || !order || !navigator.onLine) set({ trouble, failedAt: 'check' })
    }
  }

  function waitMs(): number | undefined {
    const { kept, order, trouble, notice, watching, busy } = get()
    if (!kept?.orderId || (busy && busy !== 'in_form')) return undefined
    if (failures > 0) {
      const wanted = ((trouble as Partial<ApiError> | undefined)?.retryAfterSeconds ?? 0) * 1000
      return Math.min(Math.max(wanted, 1000 * 2 ** failures), POLL_MS.most)
    }
    const view = viewOf(get())
    if (view === 'waiting') return Math.max((order?.nextPollMs ?? POLL_MS.usual) - waitedMs, POLL_MS.least)
    // A declined payment can still succeed at the bank, and another device can pay a code on the screen. While the
    // buyer is in a form, the service can learn of the payment before this page does.
    if (view === 'in_form' || (view === 'payment' && (notice || watching || kept.left)))
      return Math.max(order?.nextPollMs ?? 0, POLL_MS.unpaid)
    const look = view === 'delivered' && order!.amount > 0 ? nextLook() : undefined
    if (look) return look
    // A pending refund, or a closed order that may be paid all the same.
    const wanted = view === 'ended' || view === 'delivered' ? order?.nextPollMs : undefined
    return wanted ? Math.max(wanted, POLL_MS.unpaid) : undefined
  }

  const stop = () => clearTimeout(timer)
  const plan = (ms?: number) => {
    stop()
    const wait = ms ?? waitMs()
    if (wait !== undefined) timer = setTimeout(() => void check(), wait)
  }
  /** Whether a request syncs or waits. The buyer sees nothing before the first answer after a load, so the first request does not wait. */
  const usual = () => (needsSync(get()) ? 'sync' : viewOf(get()) === 'waiting' && get().order ? 'wait' : undefined)
  function check(more?: 'wait'): Promise<void> {
    stop()
    const id = get().kept?.orderId
    // A request from before the payment may know nothing of it, and one about another order knows nothing of this one.
    if (asking && (more || askedFor !== id)) return asking.then(() => check(more))
    askedFor = id
    asking ??= ask(more ?? usual()).finally(() => {
      asking = undefined
      listener.asked(failures > 0)
    })
    return asking
  }
  return { check, plan, stop }
}

/** Whether the service must sync with the processor before it answers. */
function needsSync({ kept, order, notice, busy, watching, trouble }: State): boolean {
  const attempt = kept?.attempt
  if (busy === 'in_form') return false
  if (attempt) return attempt.answer === 'left' || isOld(attempt.sentAt)
  // A decline can be that of an earlier try, and a form may fail to load because its payment was already made.
  return order?.status === 'processing' || notice === 'declined' || !!(kept?.left || watching) || isClosing(trouble)
}

/** A clock that was set back must not prevent the sync. */
function isOld(sentAt: number): boolean {
  const age = Date.now() - sentAt
  return age >= SYNC_AFTER_MS || age < 0
}
