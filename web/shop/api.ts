import type { ProblemCode } from '../../src/kit/errors.ts'
import type { Discount } from '../../src/orders/discounts/schema.ts'
import type { Product } from '../../src/products/schema.ts'
import type { Order } from '../../src/orders/seller-view.ts'
import type { Attention as Duties, Stats } from '../../src/shop/schema.ts'
import { call, ApiError } from '../ui/api.ts'
import { asSeller } from './session.ts'

export type { Discount, Order, Product, Stats }

// The sellers' API as these pages use it: its answers, and one function for each call.

export interface List<Item> {
  items: Item[]
  nextCursor: string | null
}

export type ProductFile = Product['files'][number]

/** The members of a product that its seller sets. */
export interface ProductInput {
  name: string
  description: string
  amount: number
  currency: string
  /** In place of the two above and the suggestion: all prices, the default one first. */
  prices: Product['prices']
  status: Product['status']
  payWhatYouWant: boolean
  /** null removes it. */
  suggestedAmount: number | null
  statementSuffix: string
}

/** A product with its version. A change can demand that the product still has this version. */
export interface Versioned {
  product: Product
  version: string
}

export type Bucket = Stats['items'][number]['buckets'][number]
export type Attention = Duties['items'][number]

/** Sends one request. Returns its answer with the headers. */
async function ask<Answer>(...request: Parameters<typeof call>): Promise<{ answer: Answer; headers: Headers }> {
  const [address, body, headers, more] = request
  let got = new Headers()
  const answer = await call<Answer>(address, body, headers, more, (given) => (got = given))
  return { answer, headers: got }
}

type Query = Record<string, string | number | undefined>

/** Sends one request with the session. Without a session the page leads to the sign-in page and back. */
export const request = <Answer>(method: string, path: string, body?: object, headers?: Record<string, string>) =>
  asSeller(() => ask<Answer>(`/api/${path}`, body, headers, { credentials: 'include', method }))

export const get = async <Answer>(path: string, query: Query = {}): Promise<Answer> => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return (await request<Answer>('GET', `${path}${text && `?${text}`}`)).answer
}

const path = encodeURIComponent
const versioned = ({ answer, headers }: { answer: Product; headers: Headers }): Versioned => ({
  product: answer,
  version: headers.get('etag') ?? '',
})

export const getProducts = (query: { cursor?: string | undefined; status?: string; q?: string; limit?: number }) =>
  get<List<Product>>('products', query)
export const getProduct = async (id: string) => versioned(await request<Product>('GET', `products/${path(id)}`))
/** With the same key, repeated calls make one product. */
export const createProduct = async (input: Partial<ProductInput>, key: string) =>
  versioned(await request<Product>('POST', 'products', input, { 'idempotency-key': key }))
/** With a version, changes the product only if it is still that version. Otherwise `changed_meanwhile`. */
export const changeProduct = async (id: string, input: Partial<ProductInput>, version?: string) =>
  versioned(await request<Product>('PATCH', `products/${path(id)}`, input, version ? { 'if-match': version } : {}))
export const archiveProduct = (id: string) => request('DELETE', `products/${path(id)}`)
export const changeFile = (id: string, fileId: string, change: { name?: string; position?: number }) =>
  request<ProductFile>('PATCH', `products/${path(id)}/files/${path(fileId)}`, change)
export const removeFile = (id: string, fileId: string) =>
  request('DELETE', `products/${path(id)}/files/${path(fileId)}`)
/** An image may be 10 MB, and a phone's network is slow. */
const PICTURE_PATIENCE_MS = 5 * 60_000
export const putImage = (id: string, file: File) =>
  asSeller(() =>
    ask<Product>(
      `/api/products/${path(id)}/image`,
      undefined,
      { 'content-type': file.type },
      { method: 'PUT', credentials: 'include', body: file, signal: AbortSignal.timeout(PICTURE_PATIENCE_MS) },
    ),
  )
export const removeImage = (id: string) => request('DELETE', `products/${path(id)}/image`)

export const getDiscounts = (query: { productId?: string; cursor?: string | undefined }) =>
  get<List<Discount>>('discounts', query)
export const createDiscount = async (
  input: Pick<Discount, 'code'> &
    Partial<Pick<Discount, 'productId' | 'percentOff' | 'amounts' | 'limit' | 'expiresAt'>>,
) => (await request<Discount>('POST', 'discounts', input)).answer
export const changeDiscount = async (id: string, change: Partial<Pick<Discount, 'active'>>) =>
  (await request<Discount>('PATCH', `discounts/${path(id)}`, change)).answer

export const getStats = (query: { from: string; to: string; interval: Stats['interval']; timeZone: string }) =>
  get<Stats>('stats', query)
export const getNewestOrder = async () => (await get<List<Order>>('orders', { limit: 1 })).items[0]
export const getAttention = () => get<{ items: Attention[] }>('attention')

/** Whether the call failed with this code. `unreachable`: no answer came. */
export const isRefusal = (trouble: unknown, code: ProblemCode | 'unreachable'): trouble is ApiError =>
  trouble instanceof ApiError && trouble.code === code

/** Whether no good answer came, so that the service may have done what was asked. */
export const isUnknown = (trouble: unknown): boolean => trouble instanceof ApiError && trouble.unknown
