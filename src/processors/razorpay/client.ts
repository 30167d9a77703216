import { DEADLINES } from '../../kit/deadlines.ts'
import { ProcessorRefused, ProcessorUnavailable, type Said, nameOnly } from '../processor.ts'
import type { RazorpayKey } from '../settings.ts'

export interface Credentials extends RazorpayKey {
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}

export type Query = Record<string, string | number>

/** Requests that belong to one call of ours, and share its time. */
export interface Visit {
  get(path: string, query?: Query): Promise<unknown>
  post(path: string, body: object, headers?: Record<string, string>): Promise<unknown>
}

const API_URL = 'https://api.razorpay.com'
/** A page of 100 payments has some 100 KB. */
const MOST_BYTES = 4 * 1024 * 1024
/** "No" to what was asked: asking again changes nothing by itself. All else may pass: limits and outages. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 409])
/** The key is not, or no longer, one of the account's, or may not do this: an answer, and no word about what was asked for. */
const KEY_REFUSED: ReadonlySet<number> = new Set([401, 403])
/** An idempotency key is in use. */
const CONFLICT = 409

/** Razorpay took the request and said no, in its own words (https://razorpay.com/docs/errors). */
export class RazorpayRefusal extends ProcessorRefused {
  readonly reason: string
  /** The idempotency key was first used for another request, which has ended. */
  readonly keyReused: boolean
  /** It is at work on this very request, or has done it: what comes of it is not known yet. */
  readonly isRepeat: boolean

  constructor(message: string, said: Said, reason: string) {
    super(message, { said })
    this.reason = reason
    this.keyReused = /different request with the same idempotency key/i.test(message)
    this.isRepeat = !this.keyReused && (said.status === CONFLICT || /in progress|duplicate receipt/i.test(message))
  }
}

/** For `catch`: does without what is refused. An outage stays one. */
export const unlessRefused =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof RazorpayRefusal) return instead
    throw error
  }

/**
 * Speaks HTTP with Razorpay (Basic authentication with the key's id and secret, JSON both ways), and begins a visit for each
 * call of ours. Whatever is no JSON answer of the kind it publishes, in time, is a ProcessorUnavailable.
 */
export function razorpayClient(
  { keyId, keySecret, apiUrl = API_URL, callMs = DEADLINES.processorCallMs }: Credentials,
  /** Sees the head of each answer. */
  onAnswer: (answer: Response) => void = () => {},
): () => Visit {
  const base = apiUrl.replace(/\/+$/, '')
  const authorization = `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`

  const ask = async (signal: AbortSignal, method: string, path: string, init: RequestInit): Promise<unknown> => {
    const name = `${method} ${path}`
    let response: Response
    let text: string
    try {
      response = await fetch(base + path, {
        ...init,
        method,
        headers: { accept: 'application/json', ...init.headers, authorization },
        // the key goes to this address and no other
        redirect: 'error',
        signal,
      })
      onAnswer(response)
      text = await limitedText(response)
    } catch (cause) {
      throw new ProcessorUnavailable(`${name}: no answer`, { cause })
    }
    const answer = parsed(text)
    if (response.ok && answer !== undefined) return answer
    const error = errorOf(answer)
    const message = `${name}: answered with ${response.status} ${error.description}`.trim()
    const said = {
      status: response.status,
      // their code is the same for nearly all that is wrong with a request
      code: nameOnly(error.reason) ?? nameOnly(error.code),
      parameter: nameOnly(error.field),
      requestId: nameOnly(response.headers.get('x-razorpay-request-id') ?? response.headers.get('request-id')),
    }
    if (KEY_REFUSED.has(response.status)) throw new ProcessorRefused(message, { said })
    throw REFUSALS.has(response.status) && error.code
      ? new RazorpayRefusal(message, said, error.reason)
      : new ProcessorUnavailable(message, { said })
  }

  return () => {
    const signal = AbortSignal.timeout(callMs)
    return {
      get: (path, query = {}) => ask(signal, 'GET', path + queryOf(query), {}),
      post: (path, body, headers = {}) =>
        ask(signal, 'POST', path, {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json', ...headers },
        }),
    }
  }
}

function queryOf(query: Query): string {
  const entries = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return entries.length > 0 ? `?${entries.join('&')}` : ''
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new Error('the answer does not end')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `{error: {code, description, reason, …}}`, or nothing of it. */
function errorOf(answer: unknown): { code: string; description: string; reason: string; field: string } {
  const error = isObject(answer) && isObject(answer.error) ? answer.error : {}
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 300) : '')
  const { code, description, reason, field } = error
  return { code: text(code), description: text(description), reason: text(reason), field: text(field) }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
