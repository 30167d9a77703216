import { DEADLINES } from '../../kit/deadlines.ts'
import { type HttpAnswer, type HttpRequest, httpClient } from '../http.ts'
import { ProcessorUnavailable } from '../refusals.ts'
import type { RazorpayKey } from '../settings.ts'
import { type Shape, checked } from '../shapes.ts'
import { type Payment, shapes } from './entities.ts'
import { isRefused, refusalOf } from './errors.ts'

export interface Credentials extends RazorpayKey {
  /** How long one call may take, with all its requests. */
  callMs?: number | undefined
}

export type Query = Record<string, string | number>

/** The requests of one call of ours, which share its time limit. They fail with ProcessorUnavailable unless the answer has the shape. */
export interface Visit {
  get<T>(shape: Shape<T>, path: string, query?: Query): Promise<T>
  /** For what every browser may ask: Razorpay refuses our secret there. */
  getPublic<T>(shape: Shape<T>, path: string): Promise<T>
  post<T>(shape: Shape<T>, path: string, body: object, headers?: Record<string, string>): Promise<T>
  patch<T>(shape: Shape<T>, path: string, body: object): Promise<T>
}

const API_URL = 'https://api.razorpay.com'
/** The longest page of a list. */
const PAGE = 100
/** After so many items the adapter asks for the older ones by their time: the more items a request skips, the longer it takes. */
const MOST_SKIPPED = 5_000

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
  const basic = (secret: string) => `Basic ${Buffer.from(`${keyId}:${secret}`).toString('base64')}`
  const authorization = basic(keySecret)

  const ask = async <T>(
    shape: Shape<T>,
    signal: AbortSignal,
    method: string,
    path: string,
    more: Partial<HttpRequest>,
  ): Promise<T> => {
    const name = `${method} ${path}`
    const headers = { accept: 'application/json', 'user-agent': 'till', authorization, ...more.headers }
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
      getPublic: (shape, path) => ask(shape, signal, 'GET', path, { headers: { authorization: basic('') } }),
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

/** The fields by which the adapter finds the place after an item. */
interface Listed {
  id: string
  created_at: number
}

/**
 * Reads a list page by page, newest first, however long it is, and gives each item once. `visit` gives the time limit of each page.
 * Razorpay can limit some lists by time (`from`, `to`). Such a list is read in stretches: each reaches up to one second after the oldest
 * item read so far, so that it also brings the other items of that second.
 */
export async function* pagesOf<Item extends Listed>(
  shape: Shape<{ items: Item[] }>,
  visit: () => Visit,
  path: string,
  query: Query = {},
): AsyncGenerator<Item[]> {
  let to = query['to']
  let oldest = Infinity
  let isSorted = true
  let known = new Map<string, number>()
  for (let skip = 0; ;) {
    const more = to !== undefined && { to }
    const { items } = await visit().get(shape, path, { ...query, ...more, count: PAGE, skip })
    const fresh = new Map(items.filter(({ id }) => !known.has(id)).map((item) => [item.id, item]))
    for (const { id, created_at: at } of fresh.values()) {
      known.set(id, at)
      isSorted &&= at <= oldest
      oldest = Math.min(oldest, at)
    }
    if (fresh.size > 0) yield [...fresh.values()]
    if (items.length < PAGE) return
    // the first pages of a stretch can be known, those after them not
    if (fresh.size === 0 && skip >= known.size) throw new ProcessorUnavailable(`${path}: the list does not end`)
    skip += PAGE
    if (typeof to === 'number' && isSorted && skip >= MOST_SKIPPED && oldest + 1 < to) {
      const end = oldest + 1
      known = new Map([...known].filter(([, at]) => at <= end))
      to = oldest = end
      skip = 0
    }
  }
}

/** The same for a list that Razorpay refuses to accounts without its feature: it is empty then. */
export async function* pagesIfAllowed<Item extends Listed>(
  ...list: Parameters<typeof pagesOf<Item>>
): AsyncGenerator<Item[]> {
  try {
    yield* pagesOf(...list)
  } catch (error) {
    if (!isRefused(error)) throw error
  }
}

/** Reads a whole list. */
export async function listed<Item extends Listed>(...list: Parameters<typeof pagesOf<Item>>): Promise<Item[]> {
  const all: Item[] = []
  for await (const page of pagesOf(...list)) all.push(...page)
  return all
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
