import { TillError } from './request.ts'
import type { Api, Event } from './types.ts'

/** A message is refused when its time lies further from now than this. It may be an old copy (Standard Webhooks 1.0). */
const TOLERANCE_SECONDS = 5 * 60

type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** How far the message's time may lie from now. Five minutes by default. */
  toleranceSeconds?: number
  /** The present time, for tests. */
  now?: Date
}

type Items<R extends 'GET /api/orders' | 'GET /api/products'> = Api[R]['answer']['items'][number]
type OrderEvent = Extract<Event['type'], `order.${string}`>
type ProductEvent = Extract<Event['type'], `product.${string}`>
type Of<Type, Data> = Omit<Event, 'type' | 'data'> & { type: Type; data: Data }

/** What a message says. A newer service may send types that these types do not know. */
export type WebhookMessage =
  /** `sequence` counts the messages of one order from 1: a message with a lower one comes late. */
  | Of<OrderEvent, { order: Items<'GET /api/orders'>; sequence: number }>
  /** The order is as it would be without the refund. */
  | Of<'refund.failed', { order: Items<'GET /api/orders'>; sequence: number; refund: { id: string; amount: number } }>
  | Of<ProductEvent, { product: Items<'GET /api/products'> }>
  | Of<'file.recalled', { file: { id: string; name: string }; product: { id: string; name: string }; reason: string }>
  | Of<'endpoint.test', Record<string, unknown>>

/**
 * Checks the signature of a message (Standard Webhooks 1.0), and resolves to what the message says. Pass the body as it
 * arrived: a body that was parsed and written again has another signature. While a secret is rotated, pass both. Throws
 * `invalid_signature`, or `message_too_old` when the time is not within the tolerance. The same message can come twice:
 * remember its `webhook-id`.
 */
export async function verifyWebhook<Message = WebhookMessage>(
  headers: { get(name: string): string | null } | HeaderValues,
  body: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: VerifyOptions = {},
): Promise<Message> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => bytesOf(one.slice('v1,'.length)))
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  if (!(await isSigned(signed, signatures, typeof secret === 'string' ? [secret] : secret)))
    throw new TillError('invalid_signature', 'The message is not signed with this secret.')
  // Only after the signature, so that a stranger learns nothing of the clock.
  if (!(/^\d+$/.test(timestamp) && Math.abs(now.getTime() / 1000 - Number(timestamp)) <= toleranceSeconds))
    throw new TillError('message_too_old', 'The message is too old, or this machine’s clock is wrong.')
  return JSON.parse(new TextDecoder().decode(bytes)) as Message
}

/** Whether any signature fits any secret. WebCrypto compares in constant time. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly (Uint8Array<ArrayBuffer> | undefined)[],
  secrets: readonly string[],
): Promise<boolean> {
  for (const secret of secrets) {
    const raw = bytesOf(secret.replace(/^whsec_/, ''))
    if (!raw?.length) throw new TypeError('A webhook secret is `whsec_` and Base64.')
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures)
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true
  }
  return false
}

/** A header of a request as `fetch` has it, or as Node has it. Without a value nothing can be signed. */
function headerOf(headers: { get(name: string): string | null } | HeaderValues, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? (headers as { get(name: string): string | null }).get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value !== 'string' || value === '')
    throw new TillError('invalid_signature', `The header ${name} is missing.`)
  return value
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
