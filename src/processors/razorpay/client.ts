import { DEADLINES } from '../../kit/deadlines.ts'
import { type HttpAnswer, type HttpRequest, httpClient } from '../http.ts'
import { ProcessorUnavailable } from '../processor.ts'
import type { RazorpayKey } from '../settings.ts'
import { type Shape, checked } from '../shapes.ts'
import { type Payment, shapes } from './entities.ts'
import { refusalOf } from './errors.ts'

export interface Credentials extends RazorpayKey {
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}

export type Query = Record<string, string | number>

/** The requests of one call of ours, which share its time limit. They fail with ProcessorUnavailable unless the answer has the shape. */
export interface Visit {
  get<T>(shape: Shape<T>, path: string, query?: Query): Promise<T>
  post<T>(shape: Shape<T>, path: string, body: object, headers?: Record<string, string>): Promise<T>
  patch<T>(shape: Shape<T>, path: string, body: object): Promise<T>
}

const API_URL = 'https://api.razorpay.com'
/** The longest page of a list. */
const PAGE = 100
/** Stops reading a list that would never end. */
const MOST_PAGES = 2_000

/**
 * Speaks HTTP with Razorpay: Basic authentication with the key's id and secret, and JSON both ways. It begins one visit for each
 * call of ours. A late answer, or one of another form, becomes a ProcessorUnavailable.
 */
export function razorpayClient(
  { keyId, keySecret, apiUrl = API_URL, callMs = DEADLINES.processorCallMs }: Credentials,
  /** Called with the status and headers of each answer. */
  onAnswer: (answer: HttpAnswer) => void = () => {},
): () => Visit {
  const send = httpClient(apiUrl)
  const authorization = `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`

  const ask = async <T>(
    shape: Shape<T>,
    signal: AbortSignal,
    method: string,
    path: string,
    more: Partial<HttpRequest>,
  ): Promise<T> => {
    const name = `${method} ${path}`
    const headers = { accept: 'application/json', 'user-agent': 'till', ...more.headers, authorization }
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
    if (response.status >= 200 && response.status < 300 && answer !== undefined) return checked(shape, answer, name)
    const requestId = response.headers['x-razorpay-request-id'] ?? response.headers['request-id']
    throw refusalOf(name, response.status, answer, requestId)
  }

  return () => {
    const signal = AbortSignal.timeout(callMs)
    return {
      get: (shape, path, query = {}) => ask(shape, signal, 'GET', path + queryOf(query), {}),
      post: (shape, path, body, headers = {}) =>
        ask(shape, signal, 'POST', path, { body: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } }),
      patch: (shape, path, body) =>
        ask(shape, signal, 'PATCH', path, { body: JSON.stringify(body), headers: JSON_TYPE }),
    }
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

/** Reads a payment by its id. */
export async function askPayment(ask: Visit, id: string, query: Query = {}): Promise<Payment> {
  const payment = await ask.get(shapes.payment, `/v1/payments/${id}`, query)
  if (payment.id === id) return payment
  throw new ProcessorUnavailable('Razorpay answered with another payment')
}

/** Reads a list page by page, newest first, until a page is `enough`. `visit` gives the time limit of each page. */
export async function listed<Item extends { id: string }>(
  shape: Shape<{ items: Item[] }>,
  visit: () => Visit,
  path: string,
  query: Query = {},
  enough: (page: readonly Item[]) => boolean = () => false,
): Promise<Item[]> {
  const all = new Map<string, Item>()
  for (let page = 0; page < MOST_PAGES; page++) {
    const { items } = await visit().get(shape, path, { ...query, count: PAGE, skip: page * PAGE })
    const before = all.size
    for (const item of items) all.set(item.id, item)
    if (items.length < PAGE || enough(items)) return [...all.values()]
    if (all.size === before) break
  }
  throw new ProcessorUnavailable(`${path}: the list does not end`)
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
