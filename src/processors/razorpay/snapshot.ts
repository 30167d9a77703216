import type { Rail } from '../rails.ts'
import type { DisputeFact, PaymentSnapshot } from '../processor.ts'
import type { Dispute, Order, Payment, Refund } from './entities.ts'

/** What is asked about, and not yet of: the bank wants to know more, and no money is claimed back. */
const QUESTIONS: ReadonlySet<string> = new Set(['fraud', 'retrieval'])

export interface Found {
  order: Order
  payments: readonly Payment[]
  /** Of the captured payments. */
  refunds: readonly Refund[]
  /** Those of other payments may be among them. */
  disputes: readonly Dispute[]
}

/**
 * What Razorpay's entities say of an order, in the words of our port. A payment that failed can still be captured, by the
 * bank's late yes or by a second try within the UPI app, and then it is a capture like any other. So is the second captured
 * payment of one order: it shows as a second capture, and goes back.
 */
export function snapshotOf({ order, payments, refunds, disputes }: Found): PaymentSnapshot {
  const byTime = [...payments].sort((a, b) => a.createdAt - b.createdAt)
  const captured = byTime.filter(isCaptured)
  const isOurs = ({ paymentId }: { paymentId: string }) => captured.some(({ id }) => id === paymentId)
  const authorized = byTime.find(({ status }) => status === 'authorized')
  const underWay = captured.at(-1) ?? authorized
  const keysUnderWay = refunds.flatMap((one) => (isSentBack(one) || hasFailed(one) ? [] : (one.key ?? [])))
  return {
    processorPaymentId: order.id,
    orderId: order.orderId,
    // "created" is a buyer who was asked by the bank and may never answer: only the bank's yes is work under way
    state: captured.length > 0 ? 'captured' : authorized ? 'processing' : 'open',
    ...(underWay && { rail: railOf(underWay) }),
    // what was authorized and went back by itself did not come to anything either
    declines: payments.filter((one) => one.status === 'failed' || (one.status === 'refunded' && !isCaptured(one)))
      .length,
    captures: captured.map((payment) => ({
      id: payment.id,
      amountMinor: payment.amountMinor,
      currency: payment.currency,
      rail: railOf(payment),
      capturedAt: timeOf(payment.createdAt),
    })),
    refunds: refunds
      .filter((refund) => isOurs(refund) && (isSentBack(refund) || hasFailed(refund)))
      .map((refund) => ({
        id: refund.id,
        captureId: refund.paymentId,
        amountMinor: refund.amountMinor,
        ...(refund.key && { key: refund.key }),
        ...(hasFailed(refund) && { state: 'failed' as const }),
      })),
    ...(keysUnderWay.length > 0 && { refundKeysUnderWay: keysUnderWay }),
    disputes: disputes
      .filter((dispute) => isOurs(dispute) && isClaim(dispute))
      .map((dispute) => {
        const payment = captured.find(({ id }) => id === dispute.paymentId)
        const state = disputeState(dispute)
        const lostMinor = state === 'lost' ? deductedMinor(dispute, payment, refunds) : undefined
        const amountMinor = disputedMinor(dispute, payment)
        const told = lostMinor !== undefined && { lostMinor }
        return { id: dispute.id, captureId: dispute.paymentId, amountMinor, state, ...told }
      }),
  }
}

/**
 * Whether the money was ever ours. What was authorized and never captured goes back by itself, is called "refunded" too, and
 * is told by `captured: false` (https://razorpay.com/docs/webhooks/refunds).
 */
export const isCaptured = ({ status, captured }: Payment): boolean =>
  status === 'captured' || (status === 'refunded' && captured)

/** A refund can stay pending for days, and fail. */
export const isSentBack = ({ status }: Refund): boolean => status === 'processed'
const hasFailed = ({ status }: Refund): boolean => status === 'failed'

/** Whether money is claimed, or for good. */
export const isClaim = (dispute: Dispute): boolean => !QUESTIONS.has(dispute.phase) || disputeState(dispute) === 'lost'

/** A card of abroad is disputed in its own currency, whose amount has moved. Ours is never about more than came in. */
function disputedMinor(dispute: Dispute, payment: Payment | undefined): number {
  if (!payment) return dispute.amountMinor
  return dispute.currency === payment.currency
    ? Math.min(dispute.amountMinor, payment.amountMinor)
    : payment.amountMinor
}

/**
 * What a lost dispute took of the balance (https://razorpay.com/docs/api/disputes/entity), where that is told in the payment's
 * currency. That it took nothing is believed where all was refunded, and else not told yet.
 */
function deductedMinor(
  { deductedMinor: minor, currency, paymentId }: Dispute,
  payment: Payment | undefined,
  refunds: readonly Refund[],
): number | undefined {
  if (!payment || currency !== payment.currency) return undefined
  const refundedMinor = refunds
    .filter((one) => one.paymentId === paymentId && isSentBack(one))
    .reduce((sum, one) => sum + one.amountMinor, 0)
  return minor > 0 || refundedMinor >= payment.amountMinor ? minor : undefined
}

/** "Closed" is the end of a suspicion of fraud, without a verdict: the money decides. */
function disputeState({ status, deductedMinor }: Dispute): DisputeFact['state'] {
  if (status === 'won') return 'won'
  if (status === 'lost') return 'lost'
  if (status === 'closed') return deductedMinor > 0 ? 'lost' : 'won'
  return 'open'
}

/** `method` is documented with these values; bank debits are mandates, and what we do not know is nobody's card. */
export function railOf({ method, provider, cardType }: Payment): Rail {
  if (provider === 'google_pay' && method !== 'upi') return 'google_pay'
  switch (method) {
    case 'card':
    case 'emi':
      return cardType === 'debit' ? 'debit' : 'card'
    case 'upi':
      return 'upi'
    case 'netbanking':
    case 'bank_transfer':
      return 'bank_transfer'
    case 'emandate':
    case 'nach':
      return 'debit'
    default:
      return 'wallet'
  }
}

/** Whether the rail depends on a card of which the answer was silent. */
export const lacksCard = ({ method, cardType }: Payment): boolean =>
  (method === 'card' || method === 'emi') && cardType === undefined

/** Unix time in seconds, as ISO 8601. */
export const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()
