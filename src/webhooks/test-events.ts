import { sql } from 'kysely'
import type { EventType } from '../events/event-types.ts'
import { type Db, inTransaction } from '../kit/database.ts'
import { newId } from '../kit/ids.ts'
import type { OrderSnapshot } from '../orders/seller-view.ts'
import type { State } from '../orders/states.ts'
import { findEndpoint } from './endpoints.ts'
import { liftHold } from './queue.ts'
import type { WEATHERS } from './schema.ts'

const LATE_SECONDS = 30
/** The first event of an order comes this much after the second. */
const REORDERED_SECONDS = 3

interface TestEvent {
  type: EventType
  orderId: string | null
  sequence: number | null
  data: object
  waitSeconds: number
  repeats: number
}

/**
 * Sends a made-up event to one endpoint alone, and ends a pause that the receiver has asked for. Returns its id, or both ids if two come.
 * Refuses `webhook_endpoint_not_found`.
 */
export async function sendTest(
  db: Db,
  { sellerId, endpointId }: { sellerId: string; endpointId: string },
  { type = 'endpoint.test', weather = 'fair' }: { type?: EventType; weather?: (typeof WEATHERS)[number] },
): Promise<string[]> {
  const { id } = await findEndpoint(db, sellerId, endpointId)
  const events = eventsFor(type, weather).map((event) => ({ id: newId('evt'), ...event }))
  await inTransaction(db, async (tx) => {
    for (const event of events)
      await sql`
        with made as (
          insert into events (id, seller_id, type, order_id, sequence, data, test_endpoint_id)
          values (${event.id}, ${sellerId}, ${event.type}, ${event.orderId}, ${event.sequence}, ${JSON.stringify(event.data)}::jsonb, ${id}))
        insert into webhook_deliveries (endpoint_id, event_id, due_at, repeats)
        values (${id}, ${event.id}, now() + make_interval(secs => ${event.waitSeconds}::int), ${event.repeats})`.execute(
        tx,
      )
  })
  await liftHold(db, id)
  return events.map(({ id: eventId }) => eventId)
}

function eventsFor(type: EventType, weather: (typeof WEATHERS)[number]): TestEvent[] {
  const isOfOrder = type.startsWith('order.') || type === 'refund.failed'
  const order = isOfOrder ? sampleOrder(type) : undefined
  const event = {
    type,
    orderId: order?.id ?? null,
    sequence: order ? 1 : null,
    data: order
      ? { ...order, ...(type === 'refund.failed' && { refund: { id: newId('ref'), amountMinor: 500 } }) }
      : sampleOf(type),
    waitSeconds: weather === 'late' ? LATE_SECONDS : 0,
    repeats: weather === 'twice' ? 1 : 0,
  }
  if (weather !== 'reordered') return [event]
  const second = { ...event, sequence: order ? 2 : null }
  return [{ ...event, waitSeconds: REORDERED_SECONDS }, second]
}

const STATE_AFTER: Partial<Record<EventType, State>> = {
  'order.processing': 'processing',
  'order.expired': 'expired',
  'order.needs_review': 'needs_review',
  'order.refunded': 'refunded',
  'order.partially_refunded': 'partially_refunded',
  'order.disputed': 'disputed',
  'order.charged_back': 'charged_back',
}
const PAID: ReadonlySet<State> = new Set(['paid', 'partially_refunded', 'refunded', 'disputed', 'charged_back'])

function sampleOrder(type: EventType): OrderSnapshot {
  const state = STATE_AFTER[type] ?? 'paid'
  const now = new Date().toISOString()
  return {
    id: newId('ord'),
    state,
    email: 'buyer@example.com',
    amountMinor: 1900,
    currency: 'USD',
    feeMinor: 38,
    refundedMinor: state === 'refunded' ? 1900 : state === 'partially_refunded' ? 500 : 0,
    chargedBackMinor: state === 'charged_back' ? 1900 : 0,
    discountMinor: 0,
    discountCode: null,
    rail: 'card',
    productId: newId('prod'),
    productName: 'A product for tests',
    createdAt: now,
    paidAt: PAID.has(state) ? now : null,
    bounced: false,
    held: false,
    paymentFailed: false,
    clientReferenceId: null,
    metadata: null,
  }
}

function sampleOf(type: EventType): object {
  const now = new Date().toISOString()
  const name = 'A product for tests'
  if (type === 'file.recalled')
    return { id: newId('file'), name: 'file.pdf', reason: 'A test', productId: newId('prod'), productName: name }
  if (type === 'endpoint.test') return { message: 'Your endpoint can hear us.' }
  return {
    id: newId('prod'),
    sellerId: newId('sel'),
    name,
    description: '',
    status: type === 'product.archived' ? 'archived' : 'active',
    amount: 1900,
    currency: 'USD',
    payWhatYouWant: false,
    suggestedMinor: null,
    statementSuffix: 'TEST',
    imageId: null,
    imageUrl: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
    files: [],
    withdrawn: null,
  }
}
