import { share } from '../../kit/money.ts'
import type { PaymentSnapshot } from '../processor.ts'
import { ProcessorUnavailable } from '../refusals.ts'
import { fromStripe } from './amounts.ts'
import { railUsed } from './rails.ts'
import type { Charge, Dispute, PaymentIntent, Refund } from './entities.ts'

/** Everything that Stripe holds about a payment. An intent has one charge for each try. */
export interface PaymentObjects {
  intent: PaymentIntent
  charges: readonly Charge[]
  refunds: readonly Refund[]
  disputes: readonly Dispute[]
}

/** The names that we use in Stripe's metadata. */
export const ORDER_ID = 'order_id'
export const ATTEMPT_ID = 'attempt_id'
export const REFUND_ID = 'refund_id'

/** `requires_capture` means that money is reserved and not paid. We never ask for it. */
const STATES: Record<PaymentIntent['status'], PaymentSnapshot['state']> = {
  requires_payment_method: 'open',
  requires_confirmation: 'open',
  requires_action: 'open',
  requires_capture: 'open',
  processing: 'processing',
  succeeded: 'captured',
  canceled: 'canceled',
}

/** Next actions that take the buyer days: paying a voucher at a shop or a bank, and reporting the bank's test deposits. */
const TAKES_DAYS = /^(?:boleto|konbini|multibanco|oxxo)_display_details$|^verify_with_microdeposits$/

/** Turns a payment's objects at Stripe into a snapshot. It is pure, and the order of the objects makes no difference. */
export function snapshotOf({ intent, charges, refunds, disputes }: PaymentObjects): PaymentSnapshot {
  const captured = charges.filter(isCapture).sort(byAge)
  const pending = charges
    .filter(({ status }) => status === 'pending')
    .sort(byAge)
    .at(-1)
  const orderId = intent.metadata[ORDER_ID]
  const underWay = refunds.flatMap((one) =>
    isRefunded(one) || hasFailed(one) ? [] : (one.metadata?.[REFUND_ID] ?? []),
  )
  const state = STATES[intent.status]
  // the adapter reads intent and charges one after the other, and the payment can change in between
  if (state === 'captured' && captured.length === 0) throw new ProcessorUnavailable('Stripe knows of no charge yet')
  return {
    processorPaymentId: intent.id,
    ...(orderId && { orderId }),
    state,
    ...(intent.status === 'requires_action' &&
      (TAKES_DAYS.test(intent.next_action?.type ?? '') ? { takesDays: true } : { atBank: true })),
    ...(pending?.payment_method_details && { rail: railUsed(pending.payment_method_details) }),
    declines: charges.filter(({ status }) => status === 'failed').length,
    captures: captured.map((charge) => ({
      id: charge.id,
      ...capturedMoney(charge),
      rail: charge.payment_method_details ? railUsed(charge.payment_method_details) : 'card',
      capturedAt: timeOf(charge.created),
    })),
    refunds: refunds
      .filter((refund) => (isRefunded(refund) || hasFailed(refund)) && captured.some(({ id }) => id === refund.charge))
      .sort(byAge)
      .map((refund) => ({
        id: refund.id,
        captureId: refund.charge!,
        amountMinor: fromStripe(refund.amount, refund.currency).amountMinor,
        ...(refund.metadata?.[REFUND_ID] && { key: refund.metadata[REFUND_ID] }),
        ...(hasFailed(refund) && { state: 'failed' as const }),
      })),
    ...(underWay.length > 0 && { refundKeysUnderWay: underWay }),
    disputes: disputes.toSorted(byAge).flatMap((dispute) => {
      const state = disputeState(dispute)
      const charge = captured.find(({ id }) => id === dispute.charge)
      if (!state || !charge) return []
      const amountMinor = disputedMinor(dispute, charge)
      const lostMinor = state === 'lost' ? lostOf(dispute, amountMinor) : undefined
      const dueBy = state === 'open' ? dispute.evidence_details?.due_by : undefined
      return [
        {
          id: dispute.id,
          captureId: charge.id,
          amountMinor,
          state,
          ...(lostMinor !== undefined && { lostMinor }),
          ...(dueBy && { respondBy: new Date(dueBy * 1000).toISOString() }),
        },
      ]
    }),
  }
}

/** Whether the charge's money has arrived. */
export const isCapture = ({ status, captured, amount_captured }: Charge): boolean =>
  status === 'succeeded' && captured && amount_captured > 0

export const capturedMoney = (charge: Charge) => fromStripe(charge.amount_captured, charge.currency)

/** Whether the refund has gone out. It can wait for the balance or the buyer, and can still fail days later. */
export const isRefunded = ({ status }: Refund): boolean => status === 'succeeded'

/** Whether the money is in the account's balance again. Stripe may have reported the refund as succeeded before. */
const hasFailed = ({ status }: Refund): boolean => status === 'failed' || status === 'canceled'

/**
 * Undefined when it is no dispute: a bank's inquiry (`warning_…`) takes no money. A prevented dispute was blocked before it took money,
 * or it was resolved for money at once (https://docs.stripe.com/disputes/prevention): then it is lost. An unknown status counts as open: the
 * seller hears of it, and a later status can close it.
 */
export function disputeState(dispute: Dispute): 'open' | 'won' | 'lost' | undefined {
  const { status } = dispute
  if (status === 'won' || status === 'lost') return status
  // it stays lost when the money has come back: then nothing of it is lost
  if (status === 'prevented') return dispute.balance_transactions?.some(({ amount }) => amount < 0) ? 'lost' : undefined
  return status.startsWith('warning_') ? undefined : 'open'
}

/** A dispute can be about another amount than the payment, because exchange rates move. We never count more than the payment. */
function disputedMinor(dispute: Dispute, charge: Charge): number {
  const paid = capturedMoney(charge)
  const disputed = fromStripe(dispute.amount, dispute.currency)
  return disputed.currency === paid.currency ? Math.min(disputed.amountMinor, paid.amountMinor) : paid.amountMinor
}

/**
 * The part of a lost dispute that did not come back to the balance, which can have another currency. When we prove an earlier
 * refund, its amount can come back after the end of the dispute (https://docs.stripe.com/api/disputes/object,
 * `balance_transactions`). Then less is lost.
 */
function lostOf({ balance_transactions: moved }: Dispute, amountMinor: number): number | undefined {
  const [taken, back] = [-1, 1].map((sign) =>
    (moved ?? []).reduce((sum, { amount }) => sum + Math.max(0, sign * amount), 0),
  ) as [number, number]
  return taken > 0 ? share(amountMinor, Math.max(0, taken - back), taken) : undefined
}

/** Converts Stripe's Unix seconds to ISO 8601. */
export const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

const byAge = (a: { created: number; id: string }, b: { created: number; id: string }): number =>
  a.created - b.created || (a.id < b.id ? -1 : 1)
