import type { OrderStatus } from '../ui/api.ts'
import { isFullRefundPending } from '../ui/full-refund.ts'
import type { Step } from '../ui/progress.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('order')
const shared = wordsOf('ui')

/** The steps of an order, as far as the service knows them. */
export function stepsOf({
  status,
  paid,
  amount,
  createdAt,
  paidAt,
  timeline,
  canPay,
  paymentReturned,
}: OrderStatus): Step[] {
  const created: Step = [shared.orderCreated, 'done', createdAt]
  const approved: Step = [shared.bankApproved, 'done']
  const confirmed: Step = [shared.paymentConfirmed, 'done', paidAt]
  const toCome: Step[] = [
    [shared.paymentConfirmed, 'open'],
    [shared.filesReady, 'open'],
  ]
  if (isFullRefundPending({ status, paid })) return [created, approved, confirmed, [words.filesGone, 'stopped']]
  switch (status) {
    case 'paid':
    case 'partially_refunded':
      if (amount === 0) return [created, [shared.filesReady, 'done', paidAt]]
      return [created, approved, confirmed, [shared.filesReady, 'done']]
    case 'disputed':
      return [created, approved, confirmed, [words.filesOnHold, 'stopped']]
    case 'refunded':
    case 'charged_back':
      return [created, approved, confirmed, [words.filesGone, 'stopped']]
    case 'needs_review':
      if (paymentReturned) return [created, approved, [words.returned, 'stopped']]
      return [created, approved, [words.reviewingStep, 'stopped'], [shared.filesReady, 'open']]
    case 'expired':
      return [created, [words.noPayment, 'stopped'], ...toCome]
    case 'processing':
      if (canPay) return [created, [words.declinedStep, 'stopped'], ...toCome]
      return [
        created,
        [shared.waitingForBank, 'now', timeline?.findLast(({ what }) => what === 'payment_processing')?.at],
        ...toCome,
      ]
    case 'pending':
      return [created, [words.waitingStep, 'now'], ...toCome]
  }
}
