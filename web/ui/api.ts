import { apiBase } from './page-data.ts'

export type Rail = 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet'

export interface ProductView {
  id: string
  name: string
  description: string
  amount: number
  currency: string
  imageUrl?: string
  seller: { name: string }
  rails: Rail[]
  payments: { live: boolean; processor?: string }
}

export interface Created {
  orderId: string
  amount: number
  currency: string
  statementDescriptor: string
  status: 'pending'
  clientSecret?: string
  publishableKey?: string
  processor?: string
}

export type Status =
  | 'pending'
  | 'processing'
  | 'paid'
  | 'partially_refunded'
  | 'refunded'
  | 'disputed'
  | 'charged_back'
  | 'expired'
  | 'needs_review'

export interface Download {
  fileId: string
  name: string
  size: number
  sha256: string
  contentType: string
  url: string
  expiresAt: string
}

export interface Happening {
  at: string
  what: string
}

/** The members from `statementDescriptor` on are there only for who gave the order's address. */
export interface OrderStatus {
  orderId: string
  status: Status
  paid: boolean
  amount: number
  currency: string
  downloads: Download[]
  nextPollMs: number | null
  synced?: boolean
  statementDescriptor?: string
  product?: { id: string; name: string }
  rail?: Rail | null
  createdAt?: string
  paidAt?: string | null
  refundedAmount?: number
  timeline?: Happening[]
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

export const getProduct = (id: string) => call<ProductView>(`/api/products/${path(id)}/public`)

export const createOrder = (productId: string, email: string, idempotencyKey: string) =>
  call<Created>('/api/checkout', { productId, email }, { 'idempotency-key': idempotencyKey })

export const getStatus = (orderId: string, email: string, sync = false) =>
  call<OrderStatus>(`/api/checkout/${path(orderId)}/status?${new URLSearchParams({ email, ...(sync && { sync: '1' }) })}`)

export const sendReceipt = (orderId: string, email: string) => call<object>(`/api/checkout/${path(orderId)}/receipt`, { email })

export const confirmInSandbox = (clientSecret: string, rail: Rail, scenario: string) =>
  call<{ status: 'captured' | 'processing' }>('/api/sandbox/confirm', { clientSecret, rail, scenario })

export const getMails = (to: string) => call<Mail[]>(`/api/outbox${to && `?${new URLSearchParams({ to })}`}`)

async function call<Answer>(address: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  let response: Response
  try {
    response = await fetch(apiBase + address, {
      method: body ? 'POST' : 'GET',
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
      // An answer from a cache could show a paid order as unpaid.
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.ok) return (await response.json()) as Answer
  } catch {
    throw new Trouble({ code: 'unreachable' })
  }
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>
  const wait = Number(response.headers.get('retry-after'))
  throw new Trouble({ code: 'unexpected', ...problem, status: response.status }, wait > 0 ? wait : undefined)
}
