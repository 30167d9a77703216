import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto'
import { newId } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import type { Send } from '../http.ts'
import type { PaymentSnapshot, ProcessorEvent } from '../processor.ts'
import type { AddJob } from './payments.ts'

// The sandbox signs its notifications by the Standard Webhooks specification (standardwebhooks.com): an HMAC-SHA256 over id, time
// and raw body. So an attacker can neither change a body nor replay an old one.

/** A fresh notification differs by no more from our clock: clocks differ by seconds, a replay by more. */
const TOLERANCE_SECONDS = 300
const DELIVERY_TIMEOUT_MS = 5_000

interface Notification {
  id: string
  type: string
  payment: PaymentSnapshot
}

export const newNotification = (type: string, payment: PaymentSnapshot): Notification => ({
  id: newId('evt'),
  type,
  payment,
})

/** Sends a notification `times` times, `afterSeconds` after the change was stored. Each is repeated until the service answers 2xx. */
export function notify(
  addJob: AddJob,
  type: string,
  payment: PaymentSnapshot,
  { afterSeconds = 0, times = 1 } = {},
): void {
  const notification = newNotification(type, payment)
  for (let time = 1; time <= times; time++)
    addJob('sandbox_notify', { data: notification, startAfterSeconds: afterSeconds })
}

/** Delivers the notifications over HTTP to `ownUrl()`, the service itself, and tries again with growing pauses. */
export async function deliverNotifications(jobs: Jobs, secret: KeyObject, ownUrl: () => string): Promise<void> {
  const options = {
    retries: 12,
    retryDelaySeconds: 1,
    retryDelayMaxSeconds: 300,
    expireSeconds: 30,
    atOnce: 128,
    isBrief: true,
  }
  // The service knows its address only once it listens. The client's library is loaded late, because it would slow down each start.
  const open = async () => (await import('../http.ts')).httpClient(ownUrl())
  let send: Promise<Send> | undefined
  await jobs.on<Notification>('sandbox_notify', options, async (notification) => {
    const body = JSON.stringify(notification)
    const sendOne = await (send ??= open())
    const { status, text } = await sendOne({
      method: 'POST',
      path: '/api/webhooks/sandbox',
      headers: {
        'content-type': 'application/json',
        ...signature(secret, notification.id, Math.floor(Date.now() / 1000), body),
      },
      body,
      signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
    })
    await text()
    if (status < 200 || status > 299) throw new Error(`the notification was answered with ${status}`)
  })
}

/** The three headers of a notification made at `seconds` (Unix time). */
export function signature(
  secret: KeyObject,
  id: string,
  seconds: number,
  body: string | Buffer,
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac(secret, id, String(seconds), body).toString('base64')}`,
  }
}

/** Returns the notification if one of the secrets signed exactly this body and its time is fresh, not too old and not in the future. */
export function verifyNotification(
  secrets: readonly KeyObject[],
  body: Buffer,
  headers: Record<string, string | string[] | undefined>,
): ProcessorEvent | undefined {
  const [id, time, signatures] = [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']]
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') return undefined
  if (id.length > 100 || signatures.length > 1000 || !/^\d{1,12}$/.test(time)) return undefined
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_SECONDS) return undefined
  const given = signatures
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice(3), 'base64')] : []))
  const genuine = secrets.some((secret) => {
    const expected = mac(secret, id, time, body)
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected))
  })
  if (!genuine) return undefined
  const event = parsed(body)
  // the header's id is signed, and the id in the body must be the same
  return event?.id === id ? event : undefined
}

function parsed(body: Buffer): Notification | undefined {
  try {
    return JSON.parse(body.toString('utf8')) ?? undefined
  } catch {
    return undefined // signed, but not JSON: another delivery would not help
  }
}

const mac = (secret: KeyObject, id: string, time: string, body: string | Buffer): Buffer =>
  createHmac('sha256', secret).update(`${id}.${time}.`).update(body).digest()
