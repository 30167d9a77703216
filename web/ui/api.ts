import type { ProductView } from '../../src/checkout/product-schema.ts'
import type { Created as CreatedOrder, OrderStatus, Payable } from '../../src/checkout/schema.ts'
import { tokenOf } from './my-orders.ts'
import { apiBase, LANGUAGE, type Problem } from './page-data.ts'

export type { OrderStatus, Problem, ProductView }
/** The data with which an order is paid. */
export type Created = Payable | CreatedOrder
export type Rail = ProductView['rails'][number]
export type Status = OrderStatus['status']
export type Download = OrderStatus['downloads'][number]
export type Happening = NonNullable<OrderStatus['timeline']>[number]

/** The buyer's choices beside the product, and the values that the link of the seller's site adds. */
export interface Wish {
  /** Where the product has several prices. */
  currency?: string
  chosenAmount?: number
  discountCode?: string
  consents?: Pick<NonNullable<ProductView['consents']>[number], 'textId' | 'locale'>[]
  country?: string
  countryConfirmed?: boolean
  /** The VAT number of a business. */
  taxId?: string
  clientReferenceId?: string
  successUrl?: string
  cancelUrl?: string
}

export interface Mail {
  id: string
  to: string
  subject: string
  text: string
  html: string
  sentAt: string
}

/** A refusal of the service, or no answer at all: then the code is `unreachable` and the outcome is unknown. */
export class ApiError extends Error {
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

  /**
   * Whether the same request can be sent again, because it was not refused. The service may have carried it out although no good answer
   * came. With 408 a service under load did not read the whole request in time.
   */
  get unknown(): boolean {
    return this.status === 0 || this.status === 408 || this.status >= 500
  }
}

/** A status with `sync=1` may take the service 4 s, and a confirmation as long as the bank's. */
const PATIENCE_MS = 20_000

const path = encodeURIComponent

type ProductAsked = { discountCode?: string; currency?: string; country?: string; taxId?: string }

export const getProduct = (id: string, asked?: ProductAsked) =>
  call<ProductView>(`/api/products/${path(id)}/public?${new URLSearchParams(asked)}`)

export const createOrder = (order: Wish & { productId: string; email: string }, idempotencyKey: string) =>
  call<Created>('/api/checkout', order, { 'idempotency-key': idempotencyKey })

/** Starts the payment of an order that a seller's program made. `token`: from its link. */
export const payOrder = (orderId: string, token: string) =>
  call<Payable>(`/api/checkout/${path(orderId)}/payment`, { token })

/** `more`: let the service `sync` with the processor first, or `wait` up to two seconds for the payment. */
export function getStatus(orderId: string, email: string, more?: 'sync' | 'wait', token = tokenOf(orderId)) {
  const query = new URLSearchParams({ email, ...(token && { token }), ...(more && { [more]: '1' }) })
  return call<OrderStatus>(`/api/checkout/${path(orderId)}/status?${query}`)
}

export const sendReceipt = (orderId: string, email: string) =>
  call<object>(`/api/checkout/${path(orderId)}/receipt`, { email, token: tokenOf(orderId) })

/** A company, an address and a tax id for the invoice. A corrected one is issued. */
export const putInvoiceDetails = (orderId: string, email: string, details: object) =>
  call<{ invoices: NonNullable<OrderStatus['invoices']> }>(
    `/api/checkout/${path(orderId)}/invoice-details`,
    { email, token: tokenOf(orderId), ...details },
    {},
    { method: 'PUT' },
  )

/** Proves, by the code that was sent there, that a person reads the address which the seller named for an order. */
export const confirmEmail = (orderId: string, email: string, code: string) =>
  call<{ moved: boolean; needsConsent: boolean }>(`/api/checkout/${path(orderId)}/email`, { email, code })
/** The old mailbox keeps its order, or lets it move at once. `token` is from the mail's link. */
export const keepAddress = (orderId: string, token: string) =>
  call<object>(`/api/checkout/${path(orderId)}/email/keep`, { token })
export const consentToMove = (orderId: string, token: string, code: string) =>
  call<object>(`/api/checkout/${path(orderId)}/email/consent`, { token, code })

/** `token`: required by a demo on a network. */
export const getMails = (to: string, token?: string) =>
  call<Mail[]>(
    `/api/outbox${to && `?${new URLSearchParams({ to })}`}`,
    undefined,
    token ? { authorization: `Bearer ${token}` } : {},
  )

let sellerId: string | undefined

/** From now on each change that is sent with a session names this seller. The service refuses it in another seller's session. */
export const sendSeller = (id: string): void => void (sellerId = id)

/** The header that names this seller, for a change that `call` does not send. */
export const sellerHeader = (): Record<string, string> => (sellerId ? { 'till-seller': sellerId } : {})

/** Sends one request and reads its answer. `more` changes the request, for calls with a session or another method. */
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
      headers: {
        // The language of the page, which need not be the browser's: the service writes its mails in it.
        'accept-language': LANGUAGE,
        ...(body && { 'content-type': 'application/json' }),
        ...(sellerId && more?.credentials === 'include' && isChange(more.method, body) && { 'till-seller': sellerId }),
        ...headers,
      },
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
    throw new ApiError({ code: 'unreachable' })
  }
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>
  const wait = Number(response.headers.get('retry-after'))
  throw new ApiError({ code: 'unexpected', ...problem, status: response.status }, wait > 0 ? wait : undefined)
}

const isChange = (method = 'GET', body?: object): boolean => method !== 'GET' || body !== undefined
