import type { DisputeFact, PaymentSnapshot } from '../processor.ts'
import type { TransferFact } from '../seller-accounts.ts'
import { type Dispute, type Order, type Payment, type Refund, shapes } from './entities.ts'
import { railOf } from './rails.ts'

/** Phases in which the bank only asks questions and claims no money. */
const QUESTIONS: ReadonlySet<string> = new Set(['fraud', 'retrieval'])

export interface Found {
  order: Pick<Order, 'id' | 'notes'>
  payments: readonly Payment[]
  /** The refunds of the captured payments. */
  refunds: readonly Refund[]
  /** Disputes, also of other payments. */
  disputes: readonly Dispute[]
  /** Transfers to linked accounts. */
  transfers?: readonly TransferFact[]
}

/**
 * Turns Razorpay's entities into a snapshot. A failed payment can still be captured, when the bank authorizes late or the buyer tries
 * again in the UPI app. Then it is a normal capture. A second captured payment of one Order is a second capture, and the service
 * refunds it.
 */
export function snapshotOf({ order, payments, refunds, disputes, transfers = [] }: Found): PaymentSnapshot {
  const byTime = [...payments].sort((a, b) => a.created_at - b.created_at)
  const captured = byTime.filter(isCaptured)
  const isOurs = ({ payment_id: paymentId }: Refund | Dispute) => captured.some(({ id }) => id === paymentId)
  const authorized = byTime.find(({ status }) => status === 'authorized')
  const underWay = captured.at(-1) ?? authorized
  const asksBuyer = !underWay && payments.some(({ status }) => status === 'created')
  const forDisputes = refundsForDisputes(captured, refunds, disputes)
  const keysUnderWay = refunds.flatMap((one) => (isSentBack(one) || hasFailed(one) ? [] : (keyOf(one) ?? [])))
  return {
    processorPaymentId: order.id,
    orderId: orderIdOf(order),
    // "created" does not count as processing: the bank has asked the buyer, who may never answer
    state: captured.length > 0 ? 'captured' : authorized ? 'processing' : 'open',
    ...(asksBuyer && { atBank: true }),
    ...(underWay && { rail: railOf(underWay) }),
    // an authorized payment that Razorpay sent back without a capture counts as declined too
    declines: payments.filter((one) => one.status === 'failed' || (one.status === 'refunded' && !isCaptured(one)))
      .length,
    captures: captured.map((payment) => ({
      id: payment.id,
      amountMinor: payment.amount,
      currency: payment.currency,
      rail: railOf(payment),
      capturedAt: timeOf(payment.created_at),
    })),
    refunds: refunds
      .filter((refund) => isOurs(refund) && (isSentBack(refund) || hasFailed(refund)))
      .map((refund) => {
        const key = keyOf(refund)
        const state = hasFailed(refund) && { state: 'failed' as const }
        const disputeId = forDisputes.get(refund.id)
        return {
          id: refund.id,
          captureId: refund.payment_id,
          amountMinor: refund.amount,
          ...(key && { key }),
          ...state,
          ...(disputeId && { disputeId }),
        }
      }),
    ...(keysUnderWay.length > 0 && { refundKeysUnderWay: keysUnderWay }),
    ...(transfers.length > 0 && { transfers: [...transfers] }),
    disputes: disputes
      .filter((dispute) => isOurs(dispute) && isClaim(dispute))
      .map((dispute) => {
        const payment = captured.find(({ id }) => id === dispute.payment_id)
        const state = disputeState(dispute)
        const lostMinor = state === 'lost' ? deductedMinor(dispute, payment, refunds) : undefined
        const amountMinor = disputedMinor(dispute, payment)
        const loss = lostMinor !== undefined && { lostMinor }
        const dueBy = state === 'open' && dispute.respond_by ? dispute.respond_by : undefined
        const deadline = dueBy !== undefined && { respondBy: new Date(dueBy * 1000).toISOString() }
        return { id: dispute.id, captureId: dispute.payment_id, amountMinor, state, ...loss, ...deadline }
      }),
  }
}

/** Our order's id, which we wrote into the notes. An Order of another service has other notes. */
export const orderIdOf = ({ notes }: Pick<Order, 'notes'>): string | undefined =>
  shapes.notes.Check(notes) ? notes.order_id : undefined

/**
 * Whether the money was ever ours. Razorpay sends back money that was authorized and never captured, and calls it "refunded" too, with
 * `captured: false` (https://razorpay.com/docs/webhooks/refunds).
 */
export const isCaptured = ({ status, captured }: Payment): boolean =>
  status === 'captured' || (status === 'refunded' && captured === true)

/** Whether the refund has gone out. It can stay pending for days, and can still fail. */
export const isSentBack = ({ status }: Refund): boolean => status === 'processed'
const hasFailed = ({ status }: Refund): boolean => status === 'failed'

/** Our key, when we asked for the refund. */
const keyOf = ({ receipt }: Refund): string | undefined => (shapes.receipt.Check(receipt) ? receipt : undefined)

/** Whether the dispute claims money, or has already taken it. */
export const isClaim = (dispute: Dispute): boolean => !QUESTIONS.has(dispute.phase) || disputeState(dispute) === 'lost'

/** A foreign card is disputed in its own currency, and exchange rates move. We never count more than the payment. */
function disputedMinor(dispute: Dispute, payment: Payment | undefined): number {
  if (!payment) return dispute.amount
  return dispute.currency === payment.currency ? Math.min(dispute.amount, payment.amount) : payment.amount
}

/**
 * The amount that a lost dispute took from the balance (https://razorpay.com/docs/api/disputes/entity), if Razorpay reports it in
 * the payment's currency. A zero counts only when everything was refunded before. Otherwise Razorpay has not filled it in yet.
 */
function deductedMinor(
  { amount_deducted: deducted, currency, payment_id: paymentId }: Dispute,
  payment: Payment | undefined,
  refunds: readonly Refund[],
): number | undefined {
  if (!payment || currency !== payment.currency) return undefined
  const minor = deducted ?? 0
  const refundedMinor = refunds
    .filter((one) => one.payment_id === paymentId && isSentBack(one))
    .reduce((sum, one) => sum + one.amount, 0)
  return minor > 0 || refundedMinor >= payment.amount ? minor : undefined
}

/**
 * Finds the refunds that Razorpay makes because a dispute is lost, and returns the dispute of each. Razorpay refunds captured payments
 * "only when you initiate a refund or when you lose a dispute" (https://razorpay.com/docs/payments/refunds/auto-refunds), and such a refund
 * is the same money as the dispute's deducted amount. Nothing links the two, so the adapter compares what it can: the refund is not ours,
 * is as large as the loss, and is not older than the dispute. It is documented behaviour, and was not tried at a live account.
 */
function refundsForDisputes(
  captured: readonly Payment[],
  refunds: readonly Refund[],
  disputes: readonly Dispute[],
): Map<string, string> {
  const found = new Map<string, string>()
  const made = refunds.filter((one) => isSentBack(one) && keyOf(one) === undefined).sort(byAge)
  const ofState = (state: DisputeFact['state']) =>
    disputes.filter((one) => isClaim(one) && disputeState(one) === state).sort(byAge)
  for (const dispute of [...ofState('lost'), ...ofState('open')]) {
    const payment = captured.find(({ id }) => id === dispute.payment_id)
    if (!payment) continue
    const lostMinor = disputeState(dispute) === 'lost' ? deductedMinor(dispute, payment, refunds) : undefined
    const minor = lostMinor ?? disputedMinor(dispute, payment)
    const fits = ({ id, payment_id: paymentId, amount, created_at: at }: Refund) =>
      paymentId === payment.id && amount === minor && at >= dispute.created_at && !found.has(id)
    const refund = made.find(fits)
    if (refund) found.set(refund.id, dispute.id)
  }
  return found
}

const byAge = (a: Refund | Dispute, b: Refund | Dispute): number =>
  a.created_at - b.created_at || (a.id < b.id ? -1 : 1)

/** "Closed" ends a suspicion of fraud without a verdict, so the deducted amount decides. */
function disputeState({ status, amount_deducted: deducted }: Dispute): DisputeFact['state'] {
  if (status === 'won') return 'won'
  if (status === 'lost') return 'lost'
  if (status === 'closed') return (deducted ?? 0) > 0 ? 'lost' : 'won'
  return 'open'
}

/** Unix time in seconds, as ISO 8601. */
export const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()
