import { share } from '../../../src/kit/money.ts'
import type { OrderDetail } from './orders-api.ts'

type Money = Pick<OrderDetail, 'amount' | 'refunds' | 'chargedBackAmount'> & Partial<Pick<OrderDetail, 'transfers'>>

/** The amount that can still be refunded. A pending refund counts as refunded. */
export const refundableMinor = ({ amount, refunds, chargedBackAmount = 0 }: Money): number =>
  refunds.reduce(
    (left, refund) => (refund.status === 'failed' ? left : left - refund.amount),
    amount - chargedBackAmount,
  )

/** The effect of a refund in minor units, by the ledger's rule: its share of the fee, as part of one running total. */
export function refundSums(
  order: Money & { fee: number | null },
  refundMinor: number,
): { feeBack: number; net: number } {
  const { amount } = order
  const fee = order.fee ?? 0
  const before = amount - refundableMinor(order)
  const upTo = (minor: number) => (amount === 0 ? 0 : share(fee, Math.min(minor, amount), amount))
  const feeBack = upTo(before + refundMinor) - upTo(before)
  return { feeBack, net: refundMinor - feeBack }
}
