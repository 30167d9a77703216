import { share } from '../../../src/kit/money.ts'
import type { OrderDetail } from './orders-api.ts'

type Money = Pick<OrderDetail, 'amount' | 'refunds' | 'chargedBackAmount'> & Partial<Pick<OrderDetail, 'transfers'>>

/** What can still go back: what was asked for and is on its way cannot go twice. */
export const leftOf = ({ amount, refunds, chargedBackAmount = 0 }: Money): number =>
  refunds.reduce(
    (left, refund) => (refund.status === 'failed' ? left : left - refund.amount),
    amount - chargedBackAmount,
  )

/** What a refund does, in minor units, by the rule of the books: the fee's share of one running total. */
export function refundSums(
  order: Money & { fee: number | null },
  refundMinor: number,
): { feeBack: number; net: number } {
  const { amount } = order
  const fee = order.fee ?? 0
  const before = amount - leftOf(order)
  const upTo = (minor: number) => (amount === 0 ? 0 : share(fee, Math.min(minor, amount), amount))
  const feeBack = upTo(before + refundMinor) - upTo(before)
  return { feeBack, net: refundMinor - feeBack }
}
