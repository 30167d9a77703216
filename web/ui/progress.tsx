import type { OrderStatus } from './api.ts'
import { moment } from './format.ts'
import { isGoingBack } from './going-back.ts'

interface ProgressProps {
  order: Pick<OrderStatus, 'status' | 'createdAt' | 'paidAt' | 'timeline'> &
    Partial<Pick<OrderStatus, 'paid' | 'amount'>>
  /** What this page knows of a payment of which the shop has not heard yet: it was sent, or the bank has said yes. */
  attempt?: 'sent' | 'approved' | undefined
}

type Mark = 'done' | 'now' | 'open' | 'stopped'

/** How far a payment is: the four steps every order takes, drawn as one line. */
export function Progress({ order, attempt }: ProgressProps) {
  return (
    <ol class="progress">
      {stepsOf(order, attempt).map(([label, mark, at]) => (
        <li key={label} class={mark} aria-current={mark === 'now' ? 'step' : undefined}>
          <span>
            {label}
            <span class="unseen">: {SAID[mark]}</span>
          </span>
          {at && <time dateTime={at}>{moment(at)}</time>}
        </li>
      ))}
    </ol>
  )
}

const SAID: Record<Mark, string> = { done: 'done', now: 'in progress', open: 'to come', stopped: 'stopped' }

function stepsOf(
  { status, paid, amount, createdAt, paidAt, timeline }: ProgressProps['order'],
  attempt: ProgressProps['attempt'],
): [label: string, mark: Mark, at?: string | null | undefined][] {
  const created: [string, Mark, string | undefined] = ['Order created', 'done', createdAt]
  const approved: [string, Mark] = ['Bank approved', 'done']
  const confirmed: [string, Mark, string | null | undefined] = ['Payment confirmed', 'done', paidAt]
  const toCome: [string, Mark][] = [
    ['Payment confirmed', 'open'],
    ['Files ready', 'open'],
  ]
  if (isGoingBack({ status, paid })) return [created, approved, confirmed, ['Files no longer available', 'stopped']]
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
      return [created, approved, ['A person is checking the payment', 'stopped'], ['Files ready', 'open']]
    case 'expired':
      return [created, ['No payment arrived', 'stopped'], ...toCome]
    case 'processing':
      return [
        created,
        ['Waiting for the bank', 'now', timeline?.findLast(({ what }) => what === 'payment_processing')?.at],
        ...toCome,
      ]
    case 'pending':
      if (attempt === 'approved') return [created, approved, ['Confirming the payment', 'now'], ['Files ready', 'open']]
      return [created, [attempt ? 'Waiting for the bank' : 'Waiting for your payment', 'now'], ...toCome]
  }
}
