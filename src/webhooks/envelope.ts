import { Type } from 'typebox'
import { EVENT_TYPES, type EventType } from '../events/event-types.ts'
import { Time } from '../kit/schema.ts'
import { type OrderSnapshot, snapshotView } from '../orders/seller-view.ts'
import { type ProductRow, productOf } from '../products/find.ts'

export const Envelope = Type.Object({
  id: Type.String({ description: 'The `webhook-id` of all its deliveries. Remember it, so that you act once.' }),
  type: Type.Enum([...EVENT_TYPES]),
  timestamp: Time,
  data: Type.Unknown({
    description:
      'Of an `order.…` and of `refund.failed`: `order`, as `GET /api/orders` shows it at that moment, and `sequence`, which counts the events of the order from 1; `refund.failed` has also `refund`, with its `id` and `amount`. Of a `product.…`: `product`. Of `file.recalled`: `file`, `product` and `reason`.',
  }),
  test: Type.Optional(Type.Literal(true, { description: 'You asked for it: nothing happened.' })),
})
export type Envelope = Type.Static<typeof Envelope>

export interface EventRow {
  id: string
  type: EventType
  at: Date
  sequence: number | null
  data: unknown
  isTest: boolean
}

export interface PageUrls {
  baseUrl: string
  appUrl: string
}

/** The event as sellers' programs get it. It never has a link that opens files. */
export const envelopeOf = ({ id, type, at, isTest, ...row }: EventRow, urls: PageUrls): Envelope => ({
  id,
  type,
  timestamp: at.toISOString(),
  data: dataOf(type, row, urls),
  ...(isTest && { test: true }),
})

type RecalledCopy = { id: string; name: string; reason: string; productId: string; productName: string }
type ProductSnapshot = Omit<ProductRow, 'createdAt' | 'updatedAt'> & { createdAt: string; updatedAt: string }

function dataOf(type: EventType, { sequence, data }: Pick<EventRow, 'sequence' | 'data'>, urls: PageUrls): object {
  if (sequence !== null) {
    const { refund, ...order } = data as OrderSnapshot & { refund?: { id: string; amountMinor: number } }
    return {
      order: snapshotView(order),
      ...(refund && { refund: { id: refund.id, amount: refund.amountMinor } }),
      sequence,
    }
  }
  if (type === 'product.published' || type === 'product.archived') {
    const row = data as ProductSnapshot
    const times = { createdAt: new Date(row.createdAt), updatedAt: new Date(row.updatedAt) }
    return { product: productOf({ ...row, ...times }, urls) }
  }
  if (type === 'file.recalled') {
    const { id, name, reason, productId, productName } = data as RecalledCopy
    return { file: { id, name }, product: { id: productId, name: productName }, reason }
  }
  return data as object
}
