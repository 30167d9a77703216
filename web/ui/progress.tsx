import type { Happening, OrderStatus } from './api.ts'
import { moment } from './format.ts'

/** How far a payment is: the four steps every order takes, drawn as one line. */
export interface ProgressProps {
  order: Pick<OrderStatus, 'status' | 'createdAt' | 'paidAt' | 'timeline'>
  /** The bank has said yes to this page, and the shop has not heard of it yet. */
  approved?: boolean
}

type Mark = 'done' | 'now' | 'open' | 'stopped'

export function Progress({ order, approved = false }: ProgressProps) {
  const { status } = order
  const paid = Boolean(order.paidAt) || status === 'paid' || status === 'partially_refunded'
  const bank: Mark = paid || approved ? 'done' : status === 'expired' ? 'stopped' : 'now'
  const confirmed: Mark = paid ? 'done' : status === 'needs_review' ? 'stopped' : bank === 'done' ? 'now' : 'open'
  const ready: Mark = status === 'paid' || status === 'partially_refunded' ? 'done' : paid ? 'stopped' : 'open'
  const steps: [string, Mark, string | null | undefined][] = [
    ['Order created', 'done', order.createdAt],
    [BANK[bank], bank, bank === 'now' ? when(order.timeline, 'payment_processing') : undefined],
    [CONFIRMED[confirmed], confirmed, order.paidAt],
    [ready === 'stopped' ? 'Files no longer available' : 'Files ready', ready, undefined],
  ]
  return (
    <ol class="progress">
      {steps.map(([label, mark, at]) => (
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

const BANK: Record<Mark, string> = {
  done: 'Bank approved',
  now: 'Waiting for the bank',
  open: 'Bank',
  stopped: 'No payment arrived',
}
const CONFIRMED: Record<Mark, string> = {
  done: 'Payment confirmed',
  now: 'Confirming the payment',
  open: 'Payment confirmed',
  stopped: 'A person is checking the payment',
}
const SAID: Record<Mark, string> = { done: 'done', now: 'in progress', open: 'to come', stopped: 'stopped' }

const when = (timeline: Happening[] | undefined, what: string) => timeline?.findLast((one) => one.what === what)?.at
