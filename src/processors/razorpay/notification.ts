import { type KeyObject, createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { Processor } from '../processor.ts'
import { type Notification, shapes } from './entities.ts'

/** Hexadecimal HMAC-SHA256. */
const SIGNATURE = /^[0-9a-f]{64}$/i
/** The types of notifications that can be about our orders. */
const ABOUT_PAYMENTS = /^(?:payment|order|refund|transfer)\./
/** Of notifications about a linked account, which name it. */
const ABOUT_ACCOUNTS = /^(?:account|product\.route)\./

/**
 * Checks the signature over the raw bytes with each of the secrets: Razorpay signs a repeat with the secret of the first try. The
 * signature covers no time. Razorpay repeats notifications for 24 hours, and for 7 days from its dashboard, with the same bytes and
 * the same id. So the adapter refuses neither an old `created_at` nor a repeat. An attacker who replays a notification does no harm:
 * it only makes us ask how the order stands. Test mode has webhooks and secrets of its own.
 * (https://razorpay.com/docs/webhooks/validate-test, https://razorpay.com/docs/webhooks/replay-events)
 */
export function notificationVerifier(secrets: readonly string[]): Processor['verifyEvent'] {
  // with an empty secret anybody could sign
  const keys = secrets.filter((secret) => secret !== '').map((secret) => createSecretKey(Buffer.from(secret)))
  return (rawBody, headers) => {
    const signature = headers['x-razorpay-signature']
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return undefined
    const given = Buffer.from(signature, 'hex')
    const genuine = keys.reduce((found, key) => timingSafeEqual(mac(key, rawBody), given) || found, false)
    if (!genuine) return undefined
    const id = idOf(headers['x-razorpay-event-id'], rawBody)
    const notification = parsed(rawBody)
    // another delivery would not help, and Razorpay disables an address that refuses for a day
    if (!shapes.notification.Check(notification)) return { id, type: 'unreadable', isUnreadable: true }
    const type = notification.event
    const account = ABOUT_ACCOUNTS.test(type) && notification.account_id
    if (shapes.linkedAccountId.Check(account)) return { id, type, account }
    return { id, type, paymentId: paymentIdOf(notification) }
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The id is in a header, which is not signed. Without the header a hash of the bytes is the id. */
const idOf = (header: string | string[] | undefined, body: Buffer): string =>
  typeof header === 'string' && /^[\w-]{1,100}$/.test(header)
    ? header
    : `sha256-${createHash('sha256').update(body).digest('hex')}`

/**
 * Returns the Order to ask about, or the payment when the notification does not name its Order. A transfer names one of them as its source.
 * Undefined when the notification names neither, or is about a payment without an Order, which is not ours.
 */
function paymentIdOf({ event, payload }: Notification): string | undefined {
  if (!ABOUT_PAYMENTS.test(event)) return undefined
  const entityOf = (name: string): Record<string, unknown> => {
    const part = shapes.fields.Check(payload) ? payload[name] : undefined
    return shapes.part.Check(part) ? part.entity : {}
  }
  const [order, payment] = [entityOf('order'), entityOf('payment')]
  if (!order.id && payment.order_id === null) return undefined
  const { source } = entityOf('transfer')
  const orderId = [order.id, payment.order_id, source].find((id) => shapes.orderId.Check(id))
  const paymentIds = [payment.id, entityOf('refund').payment_id, entityOf('dispute').payment_id, source]
  return orderId ?? paymentIds.find((id) => shapes.paymentId.Check(id))
}

const mac = (key: KeyObject, body: Buffer): Buffer => createHmac('sha256', key).update(body).digest()
