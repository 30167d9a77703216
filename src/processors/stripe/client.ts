import { setTimeout as sleep } from 'node:timers/promises'
import { Stripe } from 'stripe'
import { DEADLINES } from '../../kit/deadlines.ts'
import { inTime } from '../../kit/time.ts'
import { PaymentUnknown, ProcessorUnavailable, nameOnly } from '../processor.ts'
import { LimitedHttpClient } from './http-client.ts'

/** Two requests with one idempotency key: the second is sent again this soon. */
const KEY_IN_USE_PAUSE_MS = 200
const PAGE_SIZE = 100

/** A "no" of Stripe's own, in the words of https://docs.stripe.com/error-codes. */
export class StripeRefused extends ProcessorUnavailable {
  readonly code: string | undefined
  /** The idempotency key was first used with other parameters. */
  readonly keyReused: boolean
  /** Not of this request: what an earlier one with the same key got, kept for a day. */
  readonly replayed: boolean
  /** Nothing came of it, for certain: after a failure of Stripe's own, something still can. */
  readonly certain: boolean
  /** The secret key is not, or no longer, one of the account's. */
  readonly keyRefused: boolean
  override readonly answered: boolean

  constructor(error: InstanceType<typeof Stripe.errors.StripeError>) {
    // its own message can repeat what it was sent
    super(`Stripe refused: ${error.type} ${error.code ?? ''} ${error.requestId ?? ''}`.trimEnd(), {
      cause: error,
      said: {
        status: error.statusCode ?? 0,
        code: nameOnly(error.code ?? error.rawType),
        parameter: nameOnly(error.param),
        requestId: nameOnly(error.requestId),
      },
    })
    this.code = error.code
    this.keyReused = error.rawType === 'idempotency_error' && error.code !== 'idempotency_key_in_use'
    this.replayed = error.headers?.['idempotent-replayed'] === 'true'
    // what a restricted key may not do is refused before anything begins
    this.certain =
      error instanceof Stripe.errors.StripeInvalidRequestError || error instanceof Stripe.errors.StripePermissionError
    this.keyRefused = error instanceof Stripe.errors.StripeAuthenticationError
    this.answered = this.certain || this.keyReused || this.keyRefused
  }
}

/** The official library, without its telemetry and its own second tries. */
export function connectStripe(secretKey: string, apiUrl: string | undefined): Stripe {
  const { protocol, hostname, port, pathname, origin } = new URL(apiUrl ?? 'https://api.stripe.com')
  if (pathname !== '/') throw new Error('the address of Stripe’s API has no path')
  const secure = protocol === 'https:'
  return new Stripe(secretKey, {
    protocol: secure ? 'https' : 'http',
    host: hostname,
    port: port || (secure ? 443 : 80),
    httpClient: new LimitedHttpClient(origin),
    timeout: DEADLINES.processorCallMs,
    maxNetworkRetries: 0,
    telemetry: false,
  })
}

/** What is left of a call's time. */
export interface Deadline {
  leftMs(): number
}

export function newDeadline(callMs: number = DEADLINES.processorCallMs): Deadline {
  const end = performance.now() + callMs
  return { leftMs: () => Math.max(1, Math.ceil(end - performance.now())) }
}

interface Shape<T> {
  Check(value: unknown): value is T
}
interface Sent {
  timeout: number
}

/** One request in what is left of the time, answered in the shape it must have; ProcessorUnavailable otherwise. */
export async function ask<T>(shape: Shape<T>, until: Deadline, send: (sent: Sent) => Promise<unknown>): Promise<T> {
  let answer: unknown
  try {
    answer = await inTime(send({ timeout: until.leftMs() }), until.leftMs())
  } catch (error) {
    throw unavailable(error)
  }
  if (!shape.Check(answer)) throw new ProcessorUnavailable('Stripe answered something that was not asked for')
  return answer
}

/** For `catch`, where an id was all that was said: a payment of another account, or of the other mode. */
export function unlessMissing(error: unknown): never {
  throw isMissing(error) ? new PaymentUnknown('Stripe knows no such payment', { cause: error }) : error
}

export const isMissing = (error: unknown): boolean =>
  error instanceof StripeRefused && error.code === 'resource_missing'

/** The same for what has an idempotency key, which another request of ours may be using this moment. */
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
      const inUse = error instanceof StripeRefused && error.code === 'idempotency_key_in_use'
      if (!inUse || until.leftMs() < 2 * KEY_IN_USE_PAUSE_MS) throw error
      await sleep(KEY_IN_USE_PAUSE_MS)
    }
  }
}

interface Page<Item> {
  data: Item[]
  has_more: boolean
}

/** A list of Stripe's, page after page, newest first. Each page is one request in its time, a list that goes in circles an error. */
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
      if (seen.has(item.id)) throw new ProcessorUnavailable('Stripe lists the same again')
      seen.add(item.id)
      yield item
    }
    if (!page.has_more) return
    last = page.data.at(-1)?.id
    if (last === undefined) throw new ProcessorUnavailable('Stripe lists nothing, and more of it')
  }
}

function unavailable(error: unknown): ProcessorUnavailable {
  if (error instanceof Stripe.errors.StripeConnectionError || !(error instanceof Stripe.errors.StripeError))
    return new ProcessorUnavailable('Stripe cannot be reached', { cause: error })
  return new StripeRefused(error)
}
