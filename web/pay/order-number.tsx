import type { OrderStatus } from '../ui/api.ts'
import { Copyable } from '../ui/copy.tsx'
import type { Kept } from './kept.ts'

/** What a buyer needs to find the order again, on this device or another. */
export function OrderNumber({ order, kept }: { order: OrderStatus | undefined; kept: Kept | undefined }) {
  const id = order?.orderId ?? kept?.orderId
  if (!id) return null
  return (
    <div class="order-number">
      <p class="soft small">Your order number</p>
      <Copyable text={id} name="order number" />
      <p class="small">
        <a href={`/order/?order=${id}`}>Open the page of this order</a>
      </p>
    </div>
  )
}
