import type { Created, OrderStatus, Rail } from '../ui/api.ts'
import type { Store } from '../ui/store.ts'
import type { Following } from './follow.ts'
import { readKept, type Attempt, type Kept } from './saved-checkout.ts'
import { hold } from './form-lock.ts'
import type { OrderToPay, Outcome, PaymentForm } from './payment-form.ts'
import { returnUrl } from './returned.ts'
import { isSettled, NO_NOTICE, NO_ORDER, viewOf, type State } from './state.ts'

/** Before the first look at a payment that the buyer finishes elsewhere. */
const FIRST_LOOK_MS = 500

interface Surroundings {
  productId: string
  /** Writes the result of an attempt and its consequences, here and for other tabs. */
  keepAttempt: (attempt: Attempt | undefined, change: Partial<State>) => void
  /** Takes over the checkout that another tab has kept, with or without an order. */
  adopt: () => void
  following: Following
}

export interface Paying {
  pay: (form: PaymentForm, rail?: Rail) => Promise<void>
  /** Ignores later reports of the form on the screen. */
  end: () => void
  /** The same, for a page that was left from within the form and is shown again: the service must ask what was paid. */
  comeBack: () => void
}

const orderToPay = (kept: Kept, { amount, currency, orderId }: OrderStatus, created: Created): OrderToPay => ({
  orderId,
  clientSecret: created.clientSecret!,
  publishableKey: created.publishableKey ?? '',
  amount,
  currency,
  // The page shows the address of a linked order only in part.
  email: kept.link ? '' : kept.email,
  returnUrl: returnUrl(orderId, created.returnToken),
})

/** Runs one payment by one form at a time, and applies its outcome to the kept order. */
export function payInForms(
  { get, set }: Store<State>,
  { productId, keepAttempt, adopt, following }: Surroundings,
): Paying {
  /** Counts the presses on the pay button: the answer to an earlier press changes nothing. */
  let turn = 0
  let release = () => {}

  async function pay(form: PaymentForm, rail?: Rail): Promise<void> {
    const { kept, created, order, busy } = get()
    if (busy || viewOf(get()) !== 'payment' || !kept?.orderId || !created?.clientSecret) return
    const before = readKept(productId)
    // Another tab may have gone further than this one shows.
    if (before?.attempt && before.orderId === kept.orderId) return adopt()
    const mine = ++turn
    let attempt: Attempt = { ...(rail && { rail }), sentAt: Date.now() }
    set({ busy: form.stays ? 'in_form' : 'confirming', trouble: undefined, ...NO_NOTICE, ...(rail && { rail }) })
    const outcome = await form
      .submit(orderToPay(kept, order!, created), () => {
        attempt = { ...attempt, sentAt: Date.now() }
        if (form.stays) release = hold(kept.orderId!)
        // Kept before it is sent: if this page dies now, the next one knows that money may be on its way.
        keepAttempt(attempt, {})
        following.plan()
      })
      .catch((): Outcome => ({ kind: 'unknown' }))
    if (mine !== turn) return
    release()
    conclude(attempt, outcome)
  }

  function conclude(attempt: Attempt, outcome: Outcome): void {
    if (isSettled(get().order?.status)) return set({ busy: undefined })
    switch (outcome.kind) {
      case 'captured':
      case 'processing':
        keepAttempt({ ...attempt, answer: outcome.kind }, { busy: undefined })
        // The service answers as soon as it hears of the payment.
        return void following.check('wait')
      case 'left':
        keepAttempt({ ...attempt, answer: 'left', ...(outcome.how && { how: outcome.how }) }, { busy: undefined })
        break
      case 'unknown':
        set({
          busy: undefined,
          ...(outcome.trouble && { trouble: outcome.trouble, failedAt: 'confirm' }),
        })
        break
      case 'refused':
        keepAttempt(undefined, { busy: undefined, trouble: outcome.trouble, failedAt: 'confirm' })
        break
      case 'declined':
      case 'invalid':
        keepAttempt(undefined, { busy: undefined, notice: outcome.kind, detail: outcome.message })
        break
      case 'closed':
        // The status of the order decides whether the page opens another payment for it.
        keepAttempt(undefined, { busy: undefined, ...NO_ORDER })
        return void following.check()
    }
    following.plan(get().kept?.attempt?.answer && FIRST_LOOK_MS)
  }

  function end(): void {
    if (get().busy !== 'in_form') return
    turn += 1
    release()
    set({ busy: undefined })
  }

  function comeBack(): void {
    if (get().busy !== 'in_form') return
    const attempt = get().kept?.attempt
    end()
    if (attempt) keepAttempt({ ...attempt, answer: 'left' }, {})
  }

  return { pay, end, comeBack }
}
