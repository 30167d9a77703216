import { setTimeout as sleep } from 'node:timers/promises'
import { Stripe } from 'stripe'
import { DEADLINES } from '../../kit/deadlines.ts'
import { inTime } from '../../kit/time.ts'
import { ApiRefusal, isRefusal } from '../api-refusal.ts'
import { ProcessorUnavailable } from '../refusals.ts'
import { type Shape, checked } from '../shapes.ts'
import { refusalOf } from './errors.ts'
import { LimitedHttpClient } from './http-client.ts'

/** The pause before a request is sent again because another request with its idempotency key is still running. */
const KEY_IN_USE_PAUSE_MS = 200
/** So often there is another last key for a request of which Stripe remembers failures. */
const LAST_KEY_MS = 600_000
const PAGE_SIZE = 100

/** The connections to each server, which the accounts of all sellers share. */
const clients = new Map<string, LimitedHttpClient>()

/** Opens the official library, without its telemetry and its retries. With an account, every request is about that account's objects. */
export function connectStripe(secretKey: string, apiUrl: string | undefined, account?: string): Stripe {
  const { protocol, hostname, port, pathname, origin } = new URL(apiUrl ?? 'https://api.stripe.com')
  if (pathname !== '/') throw new Error('the address of Stripe’s API has no path')
  const secure = protocol === 'https:'
  const httpClient = clients.get(origin) ?? new LimitedHttpClient(origin)
  clients.set(origin, httpClient)
  return new Stripe(secretKey, {
    protocol: secure ? 'https' : 'http',
    host: hostname,
    port: port || (secure ? 443 : 80),
    httpClient,
    ...(account !== undefined && { stripeAccount: account }),
    timeout: DEADLINES.processorCallMs,
    maxNetworkRetries: 0,
    telemetry: false,
  })
}

/** The time that is left for a call. */
export interface Deadline {
  leftMs(): number
}

export function newDeadline(callMs: number = DEADLINES.processorCallMs): Deadline {
  const end = performance.now() + callMs
  return { leftMs: () => Math.max(1, Math.ceil(end - performance.now())) }
}

interface Sent {
  timeout: number
}

/** Sends one request within the time that is left. Fails with ProcessorUnavailable unless the answer has the right shape. */
export async function ask<T>(shape: Shape<T>, until: Deadline, send: (sent: Sent) => Promise<unknown>): Promise<T> {
  let answer: unknown
  try {
    answer = await inTime(send({ timeout: until.leftMs() }), until.leftMs())
  } catch (error) {
    throw unavailable(error)
  }
  return checked(shape, answer, 'Stripe')
}

/** Like `ask`, with an idempotency key. It waits while another request of ours uses the same key. */
export async function askWithKey<T>(
  shape: Shape<T>,
  until: Deadline,
  idempotencyKey: string,
  send: (sent: Sent & { idempotencyKey: string }) => Promise<unknown>,
): Promise<T> {
  for (;;) {
    try {
      return await ask(shape, until, (sent) => send({ ...sent, idempotencyKey }))
    } catch (error) {
      if (!isRefusal(error, 'in_progress') || until.leftMs() < 2 * KEY_IN_USE_PAUSE_MS) throw error
      await sleep(KEY_IN_USE_PAUSE_MS)
    }
  }
}

/**
 * Makes something by its idempotency key. While Stripe repeats a failure that it remembers for a day, it tries with further keys, of which
 * the last one changes with the time: however many failures Stripe remembers, a try soon reaches Stripe itself. A failure may leave
 * something behind, so the caller must be able to bear two of them.
 */
export async function pastFailures<T>(key: string, make: (idempotencyKey: string) => Promise<T>): Promise<T> {
  const last = `.${Math.floor(Date.now() / LAST_KEY_MS)}`
  for (const suffix of ['', '.2'])
    try {
      return await make(key + suffix)
    } catch (error) {
      if (!(error instanceof ApiRefusal && error.isReplayed)) throw error
    }
  return make(key + last)
}

interface Page<Item> {
  data: Item[]
  has_more: boolean
}

/** Reads a list of Stripe's page by page, newest first. Each page is one request. A list that repeats items is an error. */
export async function* listed<Item extends { id: string }>(
  shape: Shape<Page<Item>>,
  until: () => Deadline,
  send: (page: { limit: number; starting_after?: string }, sent: Sent) => Promise<unknown>,
): AsyncGenerator<Item> {
  const seen = new Set<string>()
  for (let last: string | undefined; ;) {
    const page = await ask(shape, until(), (sent) =>
      send({ limit: PAGE_SIZE, ...(last !== undefined && { starting_after: last }) }, sent),
    )
    for (const item of page.data) {
      if (seen.has(item.id)) throw new ProcessorUnavailable('Stripe lists an item twice')
      seen.add(item.id)
      yield item
    }
    if (!page.has_more) return
    last = page.data.at(-1)?.id
    if (last === undefined) throw new ProcessorUnavailable('Stripe sent an empty page that is not the last')
  }
}

function unavailable(error: unknown): ProcessorUnavailable {
  if (error instanceof Stripe.errors.StripeConnectionError || !(error instanceof Stripe.errors.StripeError))
    return new ProcessorUnavailable('Stripe cannot be reached', { cause: error })
  return refusalOf(error)
}
