import { DEADLINES } from '../../kit/deadlines.ts'
import { type HttpAnswer, type HttpRequest, httpClient } from '../http.ts'
import { ProcessorUnavailable } from '../processor.ts'
import type { RazorpayKey } from '../settings.ts'
import { refusalOf } from './errors.ts'

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

/**
 * Speaks HTTP with Razorpay: Basic authentication with the key's id and secret, and JSON both ways. It begins one visit for each
 * call of ours. A late answer, or one that is not JSON, becomes a ProcessorUnavailable.
 */
export function razorpayClient(
  { keyId, keySecret, apiUrl = API_URL, callMs = DEADLINES.processorCallMs }: Credentials,
  /** Called with the status and headers of each answer. */
  onAnswer: (answer: HttpAnswer) => void = () => {},
): () => Visit {
  const send = httpClient(apiUrl)
  const authorization = `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`

  const ask = async (
    signal: AbortSignal,
    method: string,
    path: string,
    more: Partial<HttpRequest>,
  ): Promise<unknown> => {
    const name = `${method} ${path}`
    const headers = { accept: 'application/json', ...more.headers, authorization }
    let response: HttpAnswer
    let text: string
    try {
      response = await send({ ...more, method, path, headers, signal })
      onAnswer(response)
      text = await response.text()
    } catch (cause) {
      throw new ProcessorUnavailable(`${name}: no answer`, { cause })
    }
    const answer = parsed(text)
    if (response.status >= 200 && response.status < 300 && answer !== undefined) return answer
    const requestId = response.headers['x-razorpay-request-id'] ?? response.headers['request-id']
    throw refusalOf(name, response.status, answer, requestId)
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
