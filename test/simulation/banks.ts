import type { Random } from './random.ts'
import type { Run } from './run.ts'
import { type BankCapture, type BankPayment, STRIPE_FACTOR, stripeBanks } from './bank-records.ts'

// The actions of banks, and of the person at the processor's dashboard. Each returns a text about its effect, or nothing.

/** A payment that waits for a bank: it says yes or no, also days later, also after a no. */
export function decide(run: Run, random: Random): string | undefined {
  const { stripe, razorpay } = run.world
  const ids = new Set(run.orders.flatMap(({ payments }) => [...payments]))
  const waiting = [
    ...stripeBanks(stripe).flatMap((bank) =>
      bank.paymentIntents
        .filter(({ id, status }) => ids.has(id) && (status === 'processing' || status === 'requires_action'))
        .map(({ id, status }) => ({ bank, id: String(id), status: String(status) })),
    ),
    ...[...razorpay.payments.values()]
      .filter(({ order_id: id, status }) => ids.has(id) && ['created', 'failed', 'authorized'].includes(status))
      .map(({ id, status }) => ({ bank: undefined, id: String(id), status: String(status) })),
  ]
  const one = random.pickAny(waiting)
  if (!one) return undefined
  const yes = random.chance(0.6)
  if (one.bank) {
    if (one.status === 'processing') one.bank.finish(one.id, yes ? 'succeed' : 'fail')
    else one.bank.confirm(one.id, { outcome: yes ? 'succeed' : 'decline' })
  } else if (one.status === 'authorized') {
    if (yes) razorpay.capture(one.id)
    else razorpay.autoRefund(one.id)
  } else if (yes) razorpay.authorize(one.id, { capture: random.chance(0.7) })
  else if (one.status === 'created') razorpay.fail(one.id)
  else return undefined
  return `the bank decides about ${one.bank ? 'stripe' : 'razorpay'}'s ${one.status}: ${yes ? 'yes' : 'no'}`
}

/** Another amount than the price arrives, or a paid amount is captured a second time. */
export function takeWrongly(run: Run, random: Random): string | undefined {
  const payment = random.pickAny(told(run))
  if (!payment) return undefined
  const again = payment.captures.length > 0
  const amountMinor = again && random.chance(0.6) ? payment.amountMinor : payment.amountMinor + random.pick([100, 500])
  capture(run, payment, amountMinor)
  return `the bank takes ${amountMinor} ${payment.currency}${again ? ', again' : ''}`
}

/** Makes money arrive, however little sense it makes: no API of the processors can do that. */
function capture(run: Run, { bank, id, currency }: BankPayment, amountMinor: number): void {
  if (!bank) {
    run.world.razorpay.pay(id, { amount: amountMinor, evenIfPaid: true })
    return
  }
  const intent = bank.find(bank.paymentIntents, 'payment_intent', id)
  const { status, latest_charge: latest } = intent
  Object.assign(intent, { status: 'requires_payment_method' })
  bank.confirm(id, { outcome: 'processing' })
  const charge = bank.find(bank.charges, 'charge', intent['latest_charge'])
  charge['amount'] = amountMinor * (STRIPE_FACTOR[currency] ?? 1)
  bank.finish(id, 'succeed')
  // refunds and disputes by the payment's id are of its first charge
  if (status === 'succeeded') intent['latest_charge'] = latest
}

export function refundInDashboard(run: Run, random: Random): string | undefined {
  const { razorpay } = run.world
  const found = random.pickAny(captures(run))
  if (!found) return undefined
  const { payment, capture } = found
  const rest = capture.amountMinor - back(payment, capture)
  const amountMinor = partOf(rest, payment, random)
  const { bank } = payment
  if (amountMinor <= 0 || (bank && claimed(payment, capture) > 0)) return undefined
  // Razorpay's dashboard shows it as the refund that Razorpay makes for a lost dispute, which is no money beside the loss
  const isLoss = ({ captureId, ...one }: BankPayment['disputes'][number]) =>
    captureId === capture.id && [one.amountMinor, one.lostMinor].includes(amountMinor)
  if (!bank && payment.disputes.some(isLoss)) return undefined
  const pending = random.chance(0.3)
  if (!bank) {
    razorpay.refundInDashboard(capture.id, { amount: amountMinor, status: pending ? 'pending' : 'processed' })
  } else {
    const { refundsBegin, refusesRefunds } = bank
    Object.assign(bank, { refundsBegin: pending ? 'pending' : 'succeeded', refusesRefunds: false })
    bank.createRefund({ charge: capture.id, amount: amountMinor * (STRIPE_FACTOR[payment.currency] ?? 1) })
    Object.assign(bank, { refundsBegin, refusesRefunds })
  }
  return `refunds ${amountMinor} of ${capture.amountMinor} ${payment.currency} in the dashboard${pending ? ', pending' : ''}`
}

/**
 * The whole amount, or a part. Rupees can go back from one rupee on, and the rest must be at least as much; of three decimals
 * Stripe takes two.
 */
function partOf(rest: number, { bank, currency }: BankPayment, random: Random): number {
  const step = currency === 'KWD' ? 10 : 1
  const least = bank ? step : 100
  if (rest < 2 * least || random.chance(0.5)) return rest
  return step * random.whole(least / step, (rest - least) / step)
}

/** A refund that waited arrives or fails; `late`: also one that had arrived. */
export function decideRefund(run: Run, random: Random, late = false): string | undefined {
  const { razorpay } = run.world
  const fails = late || random.chance(0.4)
  const one = random.pickAny(
    run
      .payments()
      .flatMap(({ bank, refunds }) =>
        refunds.filter(({ state }) => state === (late ? 'succeeded' : 'pending')).map(({ id }) => ({ bank, id })),
      ),
  )
  // Razorpay's refunds end as they were processed
  if (!one || (late && !one.bank)) return undefined
  if (!one.bank) razorpay.endRefund(one.id, fails ? 'failed' : 'processed')
  else if (fails) one.bank.failRefund(one.id)
  else one.bank.settleRefund(one.id)
  return `${one.bank ? 'stripe' : 'razorpay'}'s refund ${fails ? `fails${late ? ' after it had arrived' : ''}` : 'arrives'}`
}

export function dispute(run: Run, random: Random): string | undefined {
  const { razorpay } = run.world
  const found = random.pickAny(captures(run).filter(({ payment, capture }) => claimed(payment, capture) === 0))
  if (!found) return undefined
  const { payment, capture } = found
  const amountMinor = partOf(capture.amountMinor, payment, random)
  const asks = random.chance(0.2)
  const { bank } = payment
  if (!bank) razorpay.openDispute(capture.id, { amount: amountMinor, phase: asks ? 'retrieval' : 'chargeback' })
  else {
    const one = bank.openDispute(payment.id, {
      amount: amountMinor * (STRIPE_FACTOR[payment.currency] ?? 1),
      status: asks ? 'warning_needs_response' : 'needs_response',
    })
    const of = bank.find(bank.charges, 'charge', capture.id)
    Object.assign(one, { charge: of['id'] })
    of['disputed'] = true
  }
  return `the buyer's bank ${asks ? 'asks about' : 'disputes'} ${amountMinor} of ${capture.amountMinor} ${payment.currency}`
}

export function decideDispute(run: Run, random: Random): string | undefined {
  const { razorpay } = run.world
  const one = random.pickAny(
    run
      .payments()
      .flatMap(({ bank, disputes }) =>
        disputes.filter(({ state }) => state === 'open').map(({ id }) => ({ bank, id })),
      ),
  )
  if (!one || random.chance(0.2)) {
    const lost = run
      .payments()
      .flatMap(({ bank, disputes }) => disputes.filter(({ state }) => state === 'lost').map(({ id }) => ({ bank, id })))
    const late = lost.filter(({ bank, id }) => bank?.returnLate(id))
    return late.length > 0 ? `what was refunded comes back of ${late.length} lost disputes` : undefined
  }
  const end = random.pick(['won', 'lost', 'under_review'] as const)
  const { bank } = one
  if (!bank) razorpay.moveDispute(one.id, end)
  else if (end === 'under_review') bank.moveDispute(one.id, end)
  else {
    bank.returnsRefunded = random.pick(['never', 'after closed', 'before closed'] as const)
    bank.closeDispute(one.id, end)
    const late = bank.returnsRefunded === 'after closed' && end === 'lost'
    return `stripe's dispute is ${end}, what was refunded comes back ${late ? 'later' : bank.returnsRefunded}`
  }
  return `${bank ? 'stripe' : 'razorpay'}'s dispute is ${end}`
}

/** Somebody closes a payment in the dashboard while its buyer looks at the form. */
export function closeInDashboard(run: Run, random: Random): string | undefined {
  const open = random.pickAny(told(run).filter(({ bank, payable }) => bank && payable))
  if (!open) return undefined
  open.bank!.cancel(open.id)
  return 'a payment is closed in the dashboard'
}

/** Payments that a buyer can have tried to pay. */
function told(run: Run): BankPayment[] {
  const ids = new Set(run.orders.flatMap(({ payments }) => [...payments]))
  return run.payments().filter(({ id }) => ids.has(id))
}

const captures = (run: Run): { payment: BankPayment; capture: BankCapture }[] =>
  run.payments().flatMap((payment) => payment.captures.map((capture) => ({ payment, capture })))
const sum = (items: readonly { amountMinor: number }[]) => items.reduce((all, { amountMinor }) => all + amountMinor, 0)
const back = ({ refunds }: BankPayment, { id }: BankCapture): number =>
  sum(refunds.filter(({ captureId, state }) => captureId === id && state !== 'failed'))
/** A bank claims a payment back once at a time. */
const claimed = ({ disputes }: BankPayment, { id }: BankCapture): number =>
  sum(disputes.filter(({ captureId, state }) => captureId === id && state !== 'won'))
