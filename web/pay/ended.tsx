import type { Status } from '../ui/api.ts'
import { isFullRefundPending } from '../ui/full-refund.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { StepProps } from './step-props.ts'
import { OrderLink } from './order-link.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

type Ending = [icon: IconName, title: string, text: string, again?: string]

/** Orders that can neither be paid nor downloaded. */
const ENDINGS: Partial<Record<Status, Ending>> = {
  expired: ['clock', words.expired, words.expiredText, words.startNew],
  needs_review: ['alert', words.review, words.reviewText],
  refunded: ['back', words.refunded, words.refundedText, words.buyAgain],
  disputed: ['alert', words.disputed, words.disputedText],
  charged_back: ['back', words.chargedBack, words.chargedBackText, words.buyAgain],
}
const CLOSED: Ending = ['clock', words.closed, words.closedText, words.startNew]
const SENT_BACK: Ending = ['back', words.returned, words.returnedText, words.buyAgain]
const FULL_REFUND_PENDING: Ending = ['back', words.refundComing, words.refundedText]

/** To the product's own address: the order of a link has this one. */
const leaveLink = () => location.replace(location.search.replace(/&order=\w+/, ''))

export function Ended({ checkout, state }: StepProps) {
  const { order, kept } = state
  if (!order) return null
  const [icon, title, text, again] = isFullRefundPending(order)
    ? FULL_REFUND_PENDING
    : order.paymentReturned
      ? SENT_BACK
      : (ENDINGS[order.status] ?? CLOSED)
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
      {again && (
        <p>
          <button type="button" class="button" onClick={kept?.link ? leaveLink : checkout.startOver}>
            {again}
          </button>
        </p>
      )}
    </div>
  )
}
