import type { OrderStatus } from '../ui/api.ts'
import { isFullRefundPending } from '../ui/full-refund.ts'
import type { Step } from '../ui/progress.tsx'

/** The steps of an order, as far as the service knows them. */
export function stepsOf({ status, paid, amount, createdAt, paidAt, timeline, canPay }: OrderStatus): Step[] {
  const created: Step = ['Order created', 'done', createdAt]
  const approved: Step = ['Bank approved', 'done']
  const confirmed: Step = ['Payment confirmed', 'done', paidAt]
  const toCome: Step[] = [
    ['Payment confirmed', 'open'],
    ['Files ready', 'open'],
  ]
  if (isFullRefundPending({ status, paid }))
    return [created, approved, confirmed, ['Files no longer available', 'stopped']]
  switch (status) {
    case 'paid':
    case 'partially_refunded':
      if (amount === 0) return [created, ['Files ready', 'done', paidAt]]
      return [created, approved, confirmed, ['Files ready', 'done']]
    case 'disputed':
      return [created, approved, confirmed, ['Files on hold', 'stopped']]
    case 'refunded':
    case 'charged_back':
      return [created, approved, confirmed, ['Files no longer available', 'stopped']]
    case 'needs_review':
      return [created, approved, ['We’re reviewing the payment', 'stopped'], ['Files ready', 'open']]
    case 'expired':
      return [created, ['No payment arrived', 'stopped'], ...toCome]
    case 'processing':
      if (canPay) return [created, ['Your bank declined the payment', 'stopped'], ...toCome]
      return [
        created,
        ['Waiting for the bank', 'now', timeline?.findLast(({ what }) => what === 'payment_processing')?.at],
        ...toCome,
      ]
    case 'pending':
      return [created, ['Waiting for your payment', 'now'], ...toCome]
  }
}
