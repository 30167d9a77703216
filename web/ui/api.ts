import type { Created, OrderStatus, ProductView } from '../../src/checkout/schema.ts'
import { apiBase } from './page-data.ts'

export type { Created, OrderStatus, ProductView }
export type Rail = ProductView['rails'][number]
export type Status = OrderStatus['status']
export type Download = OrderStatus['downloads'][number]
export type Happening = NonNullable<OrderStatus['timeline']>[number]

/** What a buyer can ask for beside the product. */
export interface Wish {
  chosenAmount?: number
  discountCode?: string
}

export interface Mail {
  id: string
  to: string
  subject: string
  text: string
  html: string
  sentAt: string
}

export interface Problem {
  status: number
  code: string
  detail: string
  fields?: { path: string; message: string }[]
}

/** A "no" of the service, or no answer at all: then the code is `unreachable` and the outcome is unknown. */
export class Trouble extends Error {
  readonly code: string
  readonly status: number
  readonly fields: { path: string; message: string }[]
  readonly retryAfterSeconds: number | undefined

  constructor(problem: Partial<Problem> & { code: string }, retryAfterSeconds?: number) {
    super(problem.detail ?? problem.code)
    this.code = problem.code
    this.status = problem.status ?? 0
    this.fields = problem.fields ?? []
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** Whether the request may have been carried out although we got no good answer. */
  get unknown(): boolean {
    return this.status === 0 || this.status >= 500
  }
}

/** Status with `sync=1` may take 4 s on the service's side, a confirmation as long as the bank's. */
const PATIENCE_MS = 20_000

const path = encodeURIComponent

export const getProduct = (id: string, discountCode?: string) =>
  call<ProductView>(`/api/products/${path(id)}/public${discountCode ? `?discountCode=${path(discountCode)}` : ''}`)

export const createOrder = (order: Wish & { productId: string; email: string }, idempotencyKey: string) =>
  call<Created>('/api/checkout', order, { 'idempotency-key': idempotencyKey })

export const getStatus = (orderId: string, email: string, sync = false) =>
  call<OrderStatus>(
    `/api/checkout/${path(orderId)}/status?${new URLSearchParams({ email, ...(sync && { sync: '1' }) })}`,
  )

export const sendReceipt = (orderId: string, email: string) =>
  call<object>(`/api/checkout/${path(orderId)}/receipt`, { email })

/** Moves an order to the address that its seller has named, with the code that went there. */
export const confirmEmail = (orderId: string, email: string, code: string) =>
  call<object>(`/api/checkout/${path(orderId)}/email`, { email, code })

export const confirmInSandbox = (clientSecret: string, rail: Rail, scenario: string) =>
  call<{ status: 'captured' | 'processing' }>('/api/sandbox/confirm', { clientSecret, rail, scenario })

export const getMails = (to: string) => call<Mail[]>(`/api/outbox${to && `?${new URLSearchParams({ to })}`}`)

/** One request and its answer; `more` changes what is sent, for calls that carry a session or another method. */
export async function call<Answer>(
  address: string,
  body?: object,
  headers: Record<string, string> = {},
  more?: RequestInit,
  onHeaders?: (headers: Headers) => void,
): Promise<Answer> {
  let response: Response
  try {
    response = await fetch(apiBase + address, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      // An answer from a cache could show a paid order as unpaid.
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...more,
    })
    onHeaders?.(response.headers)
    // 204 has no body to read.
    if (response.ok) return (response.status === 204 || (await response.json())) as Answer
  } catch {
    throw new Trouble({ code: 'unreachable' })
  }
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>
  const wait = Number(response.headers.get('retry-after'))
  throw new Trouble({ code: 'unexpected', ...problem, status: response.status }, wait > 0 ? wait : undefined)
}
