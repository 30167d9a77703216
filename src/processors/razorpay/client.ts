import { DEADLINES } from '../../kit/deadlines.ts'
import { ProcessorRefused, ProcessorUnavailable, type Said, nameOnly } from '../processor.ts'
import type { RazorpayKey } from '../settings.ts'

export interface Credentials extends RazorpayKey {
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}

export type Query = Record<string, string | number>

/** The requests of one call of ours, which share its time limit. */
export interface Visit {
  get(path: string, query?: Query): Promise<unknown>
  post(path: string, body: object, headers?: Record<string, string>): Promise<unknown>
}

const API_URL = 'https://api.razorpay.com'
/** A page of 100 payments has some 100 KB. */
const MOST_BYTES = 4 * 1024 * 1024
/** Razorpay refused the request, and the same request would fail again. Other failures, such as limits and outages, can pass. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 409])
/** Razorpay refused the key, or the key lacks the permission. This says nothing about the payment or refund itself. */
const KEY_REFUSED: ReadonlySet<number> = new Set([401, 403])
/** Another request with the same idempotency key is running. */
const CONFLICT = 409

/** Razorpay understood the request and refused it (https://razorpay.com/docs/errors). */
export class RazorpayRefusal extends ProcessorRefused {
  readonly reason: string
  /** The idempotency key was first used for another request, which has ended. */
  readonly keyReused: boolean
  /** Razorpay is working on the same request, or has done it. Its result is not known yet. */
  readonly isRepeat: boolean

  constructor(message: string, said: Said, reason: string) {
    super(message, { said })
    this.reason = reason
    this.keyReused = /different request with the same idempotency key/i.test(message)
    this.isRepeat = !this.keyReused && (said.status === CONFLICT || /in progress|duplicate receipt/i.test(message))
  }
}

/** For `catch`: uses `instead` when Razorpay refuses. Other errors stay errors. */
export const unlessRefused =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof RazorpayRefusal) return instead
    throw error
  }

/**
 * Speaks HTTP with Razorpay: Basic authentication with the key's id and secret, and JSON both ways. It begins one visit for each
 * call of ours. A late answer, or one that is not JSON, becomes a ProcessorUnavailable.
 */
export function razorpayClient(
  { keyId, keySecret, apiUrl = API_URL, callMs = DEADLINES.processorCallMs }: Credentials,
  /** Called with the status and headers of each answer. */
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
        // a redirect would send the key to another address
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
      // Razorpay's code is the same for nearly every bad request, so the reason comes first
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
    if (bytes > MOST_BYTES) throw new Error('the answer is too long')
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

/** Reads `{error: {code, description, reason, …}}`. Missing parts are empty. */
function errorOf(answer: unknown): { code: string; description: string; reason: string; field: string } {
  const error = isObject(answer) && isObject(answer.error) ? answer.error : {}
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 300) : '')
  const { code, description, reason, field } = error
  return { code: text(code), description: text(description), reason: text(reason), field: text(field) }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
