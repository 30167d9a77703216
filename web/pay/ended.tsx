import type { Status } from '../ui/api.ts'
import { isGoingBack } from '../ui/going-back.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { StepProps } from './counter.tsx'
import { OrderLink } from './order-link.tsx'

interface Ending {
  icon: IconName
  title: string
  text: string
  again?: string
}

/** Orders in which there is nothing to pay and nothing to fetch, each with what it means for the buyer. */
const ENDINGS: Partial<Record<Status, Ending>> = {
  expired: {
    icon: 'clock',
    title: 'This order has expired',
    text: 'It was not paid in time, and nothing was taken. Should a payment still arrive, you get the files by e-mail.',
    again: 'Start a new order',
  },
  needs_review: {
    icon: 'alert',
    title: 'A person is looking at your payment',
    text: 'We received a payment that does not match the price of this order. You will not be charged again. The seller sorts it out and writes to you; keep your order number at hand.',
  },
  refunded: {
    icon: 'back',
    title: 'This order was refunded',
    text: 'The full price goes back to you. It can take some days to show on your statement. The files are no longer available.',
    again: 'Buy it again',
  },
  disputed: {
    icon: 'alert',
    title: 'This payment is disputed',
    text: 'Your bank has asked for the money back, so the files are on hold until that is decided. Was it a mistake? Tell your bank, and the files come back.',
  },
  charged_back: {
    icon: 'back',
    title: 'This payment was taken back',
    text: 'Your bank has returned the money to you. The files are no longer available.',
    again: 'Buy it again',
  },
}

const CLOSED: Ending = {
  icon: 'clock',
  title: 'This order is closed',
  text: 'It was declined too often, or it has waited too long. Nothing was taken.',
  again: 'Start a new order',
}

const GOING_BACK: Ending = {
  icon: 'back',
  title: 'Your refund is on its way',
  text: 'The full price goes back to you. It can take some days to show on your statement. The files are no longer available.',
}

export function Ended({ checkout, state }: StepProps) {
  const { order, kept } = state
  const ending = order && (isGoingBack(order) ? GOING_BACK : (ENDINGS[order.status] ?? CLOSED))
  if (!ending) return null
  return (
    <div class="stack">
      <div class="done quiet">
        <span class="seal">
          <Icon name={ending.icon} />
        </span>
        <h2 tabIndex={-1}>{ending.title}</h2>
      </div>
      <p class="soft">{ending.text}</p>
      <OrderLink kept={kept} />
      {ending.again && (
        <p>
          <button type="button" class="button" onClick={checkout.startOver}>
            {ending.again}
          </button>
        </p>
      )}
    </div>
  )
}
