import { setTimeout as sleep } from 'node:timers/promises'
import { Stripe } from 'stripe'
import { DEADLINES } from '../../kit/deadlines.ts'
import { inTime } from '../../kit/time.ts'
import { PaymentUnknown, ProcessorUnavailable, nameOnly } from '../processor.ts'
import { LimitedHttpClient } from './http-client.ts'

/** The pause before a request is sent again because another request with its idempotency key is still running. */
const KEY_IN_USE_PAUSE_MS = 200
const PAGE_SIZE = 100

/** Stripe refused, with one of the codes of https://docs.stripe.com/error-codes. */
export class StripeRefused extends ProcessorUnavailable {
  readonly code: string | undefined
  /** The idempotency key was first used with other parameters. */
  readonly keyReused: boolean
  /** This is the answer to an earlier request with the same key. Stripe remembers it for a day. */
  readonly replayed: boolean
  /** The request certainly had no effect. After an internal failure of Stripe it can still have one. */
  readonly certain: boolean
  /** The secret key does not belong to the account, or not any more. */
  readonly keyRefused: boolean
  override readonly answered: boolean

  constructor(error: InstanceType<typeof Stripe.errors.StripeError>) {
    // Stripe's own message can repeat what we sent
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
    // Stripe checks the permissions of a restricted key before it does anything
    this.certain =
      error instanceof Stripe.errors.StripeInvalidRequestError || error instanceof Stripe.errors.StripePermissionError
    this.keyRefused = error instanceof Stripe.errors.StripeAuthenticationError
    this.answered = this.certain || this.keyReused || this.keyRefused
  }
}

/** Opens the official library, without its telemetry and its retries. */
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

/** The time that is left for a call. */
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

/** Sends one request within the time that is left. Fails with ProcessorUnavailable unless the answer has the right shape. */
export async function ask<T>(shape: Shape<T>, until: Deadline, send: (sent: Sent) => Promise<unknown>): Promise<T> {
  let answer: unknown
  try {
    answer = await inTime(send({ timeout: until.leftMs() }), until.leftMs())
  } catch (error) {
    throw unavailable(error)
  }
  if (!shape.Check(answer)) throw new ProcessorUnavailable('Stripe’s answer does not have the expected form')
  return answer
}

/** For the `catch` of a read by id: a missing payment belongs to another account, or to the other mode. */
export function unlessMissing(error: unknown): never {
  throw isMissing(error) ? new PaymentUnknown('Stripe knows no such payment', { cause: error }) : error
}

export const isMissing = (error: unknown): boolean =>
  error instanceof StripeRefused && error.code === 'resource_missing'

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
  return new StripeRefused(error)
}
