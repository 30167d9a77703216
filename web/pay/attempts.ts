import type { OrderStatus } from '../ui/api.ts'
import type { Store } from '../ui/store.ts'
import { keep, readKept, type Attempt } from './saved-checkout.ts'
import { isSettled, NO_NOTICE, type Notice, type State } from './state.ts'

/** Tracks the attempts to pay the kept order. */
export function trackAttempts({ get, set }: Store<State>, productId: string) {
  /** Writes the result of an attempt and its consequences in one step, so that no render in between offers to pay. */
  function keepAttempt(attempt: Attempt | undefined, change: Partial<State>, left = get().kept!.left): void {
    const { attempt: _, left: __, ...rest } = get().kept!
    // A new try ends the steps that an earlier one left to the buyer. The earlier one may still be paid, so the sync goes
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

  /** Takes an answer of the service. `elsewhere`: the buyer is paying in another tab at the moment. */
  function accept(order: OrderStatus, elsewhere: boolean): void {
    const { order: shown, kept, notice, failedAt, busy } = get()
    // A slow, older answer must not undo a newer one.
    if (isSettled(shown?.status) && !isSettled(order.status)) return
    set({ order, ...(failedAt === 'check' && { trouble: undefined }) })
    if (isSettled(order.status)) {
      keepAttempt(undefined, { ...NO_NOTICE, trouble: undefined })
    } else if (order.canPay && busy !== 'in_form' && !elsewhere) {
      const declined = order.timeline?.at(-1)?.what === 'payment_declined'
      // The service asked the processor after the attempt, and the processor holds no money: the buyer may try again.
      if (kept?.attempt && kept.attempt.answer !== 'captured' && order.synced) {
        const notice = reasonOf(kept.attempt, declined)
        keepAttempt(undefined, { notice, trouble: undefined }, notice === 'left' ? (kept.attempt.how ?? {}) : kept.left)
      } else if (!kept?.attempt && !notice && declined) set({ notice: 'declined' })
    }
  }

  return { keep: keepAttempt, accept }
}

/**
 * The last decline can be that of another try in the processor's form, unless the bank has sent the buyer back. The
 * sandbox's confirmation is a single request: without an answer it did not arrive.
 */
function reasonOf({ rail, answer, back }: Attempt, declined: boolean): Notice {
  if (declined && (rail || back)) return 'declined'
  return answer === 'left' || !rail ? 'left' : 'not_taken'
}
