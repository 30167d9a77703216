import type { Status } from '../ui/api.ts'
import { isFullRefundPending } from '../ui/full-refund.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { StepProps } from './step-props.ts'
import { OrderLink } from './order-link.tsx'
import { useWords, words } from './use-words.ts'

type Ending = [icon: IconName, title: string, again?: string]

/** Orders that can neither be paid nor downloaded. */
const ENDINGS: Partial<Record<Status, Ending>> = {
  expired: ['clock', 'This order has expired', 'Start a new order'],
  needs_review: ['alert', 'We’re reviewing your payment'],
  refunded: ['back', 'This order was refunded', 'Buy it again'],
  disputed: ['alert', 'This payment is disputed'],
  charged_back: ['back', 'Your bank reversed this payment', 'Buy it again'],
}
const CLOSED: Ending = ['clock', 'This order is closed', 'Start a new order']
const GOING_BACK: Ending = ['back', 'Your refund is on its way']

export function Ended({ checkout, state }: StepProps) {
  const { order, kept } = state
  const means = useWords(words)
  if (!order) return null
  const goingBack = isFullRefundPending(order)
  const text = means?.[goingBack ? 'refunded' : order.status] ?? means?.pending
  const [icon, title, again] = goingBack ? GOING_BACK : (ENDINGS[order.status] ?? CLOSED)
  return (
    <div class="stack">
      <div class="done quiet">
        <span class="seal">
          <Icon name={icon} />
        </span>
        <h2 tabIndex={-1}>{title}</h2>
      </div>
      <p class="soft">{text}</p>
      <OrderLink kept={kept} />
      {again && text && !kept?.link && (
        <p>
          <button type="button" class="button" onClick={checkout.startOver}>
            {again}
          </button>
        </p>
      )}
    </div>
  )
}
