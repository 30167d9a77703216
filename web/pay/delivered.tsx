import { Files } from '../ui/files.tsx'
import { money } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Notice } from '../ui/notice.tsx'
import type { StepProps } from './step-props.ts'
import { OrderLink } from './order-link.tsx'

/** Paid: the files, and nothing that asks for money. */
export function Delivered({ checkout, state }: StepProps) {
  const { order, kept } = state
  if (!order) return null
  const twice = order.timeline?.some((one) => one.what === 'duplicate_refunded')
  return (
    <div class="stack">
      <div class="done">
        <span class="seal">
          <Icon name="check" />
        </span>
        <div>
          <h2 tabIndex={-1}>{order.amount > 0 && 'Paid. '}It’s yours.</h2>
          <p class="soft">
            {/* A mailbox gets a limited number of receipts for free orders, so the text promises none. */}
            {order.amount > 0 ? 'The receipt is on its way to ' : 'Your order is kept for '}
            <span class="address">{kept?.email}</span>.
          </p>
        </div>
      </div>
      {order.status === 'partially_refunded' && (
        <Notice
          title={`${money((order.refundedAmount ?? 0) + (order.chargedBackAmount ?? 0), order.currency)} of the price went back to you.`}
          icon="back"
        >
          <p>You keep the files.</p>
        </Notice>
      )}
      {twice && (
        <Notice title="Your bank sent the money twice." icon="back">
          <p>The second payment was refunded at once. It can take a few days to show on your statement.</p>
        </Notice>
      )}
      {kept?.link ? (
        <p class="soft">Your files are in the receipt and on your order page.</p>
      ) : order.downloads.length > 0 ? (
        <>
          <Files downloads={order.downloads} renew={checkout.renew} />
          <p class="soft small">
            These links work for an hour. This page and the link in your receipt make new ones at any time.
          </p>
        </>
      ) : (
        <Notice title="There is no file to download." tone="alarm">
          <p>Your order page says why. Please write to the seller.</p>
        </Notice>
      )}
      {order.seller && (
        <p class="small">
          Sold by {order.seller.name}. Questions?{' '}
          <a href={`mailto:${order.seller.supportEmail}`}>{order.seller.supportEmail}</a>
        </p>
      )}
      <OrderLink kept={kept} />
      {order.amount > 0 && !kept?.link && (
        <p>
          <button type="button" class="link small" onClick={checkout.startOver}>
            Buy another copy
          </button>
        </p>
      )}
    </div>
  )
}
