import { Notice } from '../../ui/notice.tsx'
import { adviceOf, whenItMoves } from './order-words.ts'
import type { OrderDetail } from './orders-api.ts'

/** News of the order for the seller, with the next step where something helps. */
export function OrderNotices({ order }: { order: OrderDetail }) {
  const advice = adviceOf(order)
  return (
    <>
      {advice && (
        <Notice tone="alarm" title={advice[0]}>
          <p>{advice[1]}</p>
        </Notice>
      )}
      {order.paymentFailed && (
        <Notice title="The buyer’s bank declined the payment after all." icon="clock">
          <p>Nothing was paid. The buyer was told by mail and can pay again; there is nothing for you to do.</p>
        </Notice>
      )}
      {order.receipt === 'bounced' && !order.pendingEmail && (
        <Notice tone="alarm" title="The receipt could not be delivered.">
          <p>
            The mail server of <span class="address">{order.email}</span> refused it. If the address is mistyped, name
            the right one; its owner has to confirm it.
          </p>
        </Notice>
      )}
      {order.pendingEmail && <OtherAddress order={order} pendingEmail={order.pendingEmail} />}
    </>
  )
}

function OtherAddress({ order: { email, emailMove }, pendingEmail }: { order: OrderDetail; pendingEmail: string }) {
  if (emailMove) {
    return (
      <Notice title="The order is on its way to another address." icon="clock">
        <p>
          The reader of <span class="address">{pendingEmail}</span> has confirmed it, and both addresses open the order.{' '}
          {whenItMoves(emailMove)}
        </p>
      </Notice>
    )
  }
  return (
    <Notice title="Another address waits to be confirmed." icon="clock">
      <p>
        A code went to <span class="address">{pendingEmail}</span>. Until its owner enters it, the order stays under{' '}
        <span class="address">{email}</span>.
      </p>
    </Notice>
  )
}
