import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ProcessorEvent } from '../processor.ts'
import { type Event, shapes } from './entities.ts'

/** The types of events that can change an order. The account must send them, and the backfill reads them. */
export const EVENT_TYPES = [
  'payment_intent.processing',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.succeeded',
  'charge.failed',
  'charge.refunded',
  'charge.refund.updated',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const

/** The further types that tell of connected accounts. An address for connected accounts needs them and those above. */
export const ACCOUNT_EVENT_TYPES = [
  'account.updated',
  'account.application.deauthorized',
  'payout.created',
  'payout.updated',
  'payout.paid',
  'payout.failed',
  'payout.canceled',
  'payout.reconciliation_completed',
] as const

/** A fresh notification differs by no more from our clock: clocks differ by seconds, a replay by more. Stripe signs each try again. */
const TOLERANCE_SECONDS = 300
/** Far above the 160 characters of two signatures, which Stripe sends while one secret replaces another. */
const LONGEST_HEADER = 2_000

/**
 * Returns the notification if one of the secrets signed exactly this body and its time is fresh, not too old and not in the future
 * (https://docs.stripe.com/webhooks#verify-manually). The library's own check accepts future times, and decodes the body to text
 * first.
 */
export function verifyEvent(
  secrets: readonly string[],
  live: boolean,
  body: Buffer,
  headers: Record<string, string | string[] | undefined>,
): ProcessorEvent | undefined {
  const header = headers['stripe-signature']
  if (typeof header !== 'string' || header.length > LONGEST_HEADER) return undefined
  const parts = header.split(',').map((part) => part.trim().split('='))
  const valuesOf = (name: string) => parts.flatMap(([key, value]) => (key === name && value ? [value] : []))
  const [time, ...otherTimes] = valuesOf('t')
  if (!time || otherTimes.length > 0 || !/^\d{1,12}$/.test(time)) return undefined
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_SECONDS) return undefined
  const given = valuesOf('v1').flatMap((hex) => (/^[0-9a-f]{64}$/.test(hex) ? [Buffer.from(hex, 'hex')] : []))
  const genuine = secrets.some((secret) => {
    if (!secret) return false
    const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
    return given.some((one) => timingSafeEqual(one, expected))
  })
  if (!genuine) return undefined
  const event = parsed(body)
  if (!shapes.event.Check(event)) return unreadable(shapes.anyEvent.Check(event) ? event : undefined, body)
  const account = event.account ?? undefined
  const about = { ...eventOf(event, live, account), ...(account !== undefined && { account }) }
  return about.paymentId === undefined ? about : { ...about, reported: event.data.object }
}

/**
 * Finds the payment that an event is about. The event does not count for how the payment stands: events come late, twice and out
 * of order, in the form of the account's own API version. An event of the other mode or of another account names no payment.
 */
export function eventOf(
  { id, type, livemode, account, data: { object } }: Event,
  live: boolean,
  ofAccount?: string,
): ProcessorEvent {
  const paymentId = object['object'] === 'payment_intent' ? object['id'] : object['payment_intent']
  const known = /^(?:payment_intent|charge|refund)\./.test(type)
  // each of our checkouts causes one of these, and it reports only our own request
  const mayChange = type !== 'payment_intent.created'
  const ours =
    livemode === live && (!account || account === ofAccount) && known && mayChange && shapes.paymentId.Check(paymentId)
  return { id, type, ...(ours && { paymentId }) }
}

/** A genuine notification in another form. Another delivery would not help. Without an id that we take, a hash of the bytes is the id. */
function unreadable(event: Pick<Event, 'id' | 'type'> | undefined, body: Buffer): ProcessorEvent {
  const { id, type } = event ?? { id: `sha256-${createHash('sha256').update(body).digest('hex')}`, type: 'unreadable' }
  return { id, type, isUnreadable: true }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
