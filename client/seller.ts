import { type Ask, type CallOptions, TillError, type TillOptions, ask, newKey } from './request.ts'
import type { Api } from './types.ts'

export { TillError }
export type { CallOptions, TillErrorCode, TillOptions } from './request.ts'

type Route<Name extends string> = Api[Name & keyof Api]
type Item<List> = List extends { items: (infer One)[] } ? One : never
type Query<Name extends string> = Partial<Omit<Route<Name>['query'], 'cursor'>>

export type Product = Route<'GET /api/products/{}'>['answer']
export type NewProduct = Route<'POST /api/products'>['body']
export type ProductChange = Route<'PATCH /api/products/{}'>['body']
export type ProductFile = Route<'POST /api/products/{}/files'>['answer']
export type OrderInList = Item<Route<'GET /api/orders'>['answer']>
export type Order = Route<'GET /api/orders/{}'>['answer']
export type NewRefund = Route<'POST /api/orders/{}/refunds'>['body']
export type Refund = Route<'POST /api/orders/{}/refunds'>['answer']
export type Balance = Item<Route<'GET /api/balance'>['answer']>
export type Transfer = Item<Route<'GET /api/transfers'>['answer']>
export type Discount = Route<'POST /api/discounts'>['answer']
export type NewDiscount = Route<'POST /api/discounts'>['body']

/**
 * A product with its version. Pass the version to `update`, so that the update overwrites no change of another person.
 */
export type Versioned<One> = One & { readonly etag: string }
/** A file in memory, or a stream. For a stream the service must be told the number of bytes. */
export type NewFile = { name: string; sha256?: string } & (
  | { data: Blob | Uint8Array; size?: undefined }
  | { data: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>; size: number }
)

export interface SellerOptions extends TillOptions {
  /** The cookie that signing in set, as a `Cookie` header: `till_session=…`. */
  cookie: string
  /**
   * The address of the pages, when they are on another host than the API: a session may change things only from there.
   */
  appUrl?: string
}

const part = encodeURIComponent

/**
 * A seller's shop, for scripts on Node: a browser lets no page set this cookie. Every call throws a {@link TillError}.
 */
export function createSeller({ cookie, appUrl, ...options }: SellerOptions) {
  const session = { cookie, origin: new URL(appUrl ?? options.baseUrl).origin }
  const call = <Answer>(
    path: string,
    { headers, ...request }: Ask = {},
    read?: (response: Response) => Promise<Answer>,
  ) => ask<Answer>(options, path, { ...request, headers: { ...session, ...headers } }, read)
  const send = <Answer>(method: NonNullable<Ask['method']>, path: string, json: unknown, more: Ask = {}) =>
    call<Answer>(path, { ...more, method, json })
  const versioned = <One>(response: Response): Promise<Versioned<One>> =>
    response.json().then((one) => ({ ...(one as One), etag: response.headers.get('etag') ?? '' }))

  /** All items of a list. The client asks for each page when the caller gets to it. */
  async function* every<One>(
    path: string,
    query: object,
    { signal }: CallOptions,
  ): AsyncGenerator<One, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const request: Ask = { query: { limit: 100, ...query, cursor }, signal }
      const page: { items: One[]; nextCursor: string | null } = await call(path, request)
      yield* page.items
      cursor = page.nextCursor
    }
  }

  return {
    products: {
      list: (query: Query<'GET /api/products'> = {}, more: CallOptions = {}) =>
        every<Product>('/api/products', query, more),
      get: (productId: string, more: CallOptions = {}): Promise<Versioned<Product>> =>
        call(`/api/products/${part(productId)}`, more, versioned<Product>),
      create: (product: NewProduct, more: CallOptions = {}): Promise<Versioned<Product>> =>
        call('/api/products', { ...more, method: 'POST', json: product }, versioned<Product>),
      /** With `etag`, changes the product only if it is still that version. Otherwise throws `changed_meanwhile`. */
      update: (
        productId: string,
        change: ProductChange,
        { etag, ...more }: CallOptions & { etag?: string } = {},
      ): Promise<Versioned<Product>> =>
        call(
          `/api/products/${part(productId)}`,
          { ...more, method: 'PATCH', json: change, headers: { 'if-match': etag } },
          versioned<Product>,
        ),
      /** Takes the product off sale. Buyers who have bought it keep it. */
      archive: (productId: string, { signal }: CallOptions = {}): Promise<void> =>
        call(`/api/products/${part(productId)}`, { method: 'DELETE', repeatable: true, signal }),
      /**
       * Adds a file and sends it while reading it, so a stream of any length takes no memory. The service accepts the
       * file once all bytes have arrived, and only if they hash to `sha256` when you pass that. The call is never
       * repeated and has no time limit.
       */
      addFile: (
        productId: string,
        { name, data, size, sha256 }: NewFile,
        { signal }: CallOptions = {},
      ): Promise<ProductFile> =>
        call(`/api/products/${part(productId)}/files`, {
          method: 'POST',
          query: { name, sha256 },
          body: bodyOf(data),
          headers: { 'content-type': 'application/octet-stream', 'content-length': size?.toString() },
          timeoutMs: Infinity,
          signal,
        }),
      /** Renames a file, or moves it among the product's files. Its bytes stay the same. */
      updateFile: (
        productId: string,
        fileId: string,
        change: Route<'PATCH /api/products/{}/files/{}'>['body'],
        more: CallOptions = {},
      ): Promise<ProductFile> =>
        call(`/api/products/${part(productId)}/files/${part(fileId)}`, { ...more, method: 'PATCH', json: change }),
      removeFile: (productId: string, fileId: string, { signal }: CallOptions = {}): Promise<void> =>
        call(`/api/products/${part(productId)}/files/${part(fileId)}`, { method: 'DELETE', repeatable: true, signal }),
    },

    discounts: {
      list: (query: Query<'GET /api/discounts'> = {}, more: CallOptions = {}) =>
        every<Discount>('/api/discounts', query, more),
      create: (discount: NewDiscount, more: CallOptions = {}): Promise<Discount> =>
        send('POST', '/api/discounts', discount, more),
    },

    orders: {
      list: (query: Query<'GET /api/orders'> = {}, more: CallOptions = {}) =>
        every<OrderInList>('/api/orders', query, more),
      get: (orderId: string, more: CallOptions = {}): Promise<Order> => call(`/api/orders/${part(orderId)}`, more),
      /** The same orders as a CSV stream. */
      csv: (query: Query<'GET /api/orders'> = {}, { signal }: CallOptions = {}): Promise<ReadableStream<Uint8Array>> =>
        call('/api/orders', { query, headers: { accept: 'text/csv' }, timeoutMs: Infinity, signal }, async ({ body }) =>
          body!.pipeThrough(new TransformStream(), signal && { signal }),
        ),
      refunds: async (orderId: string, more: CallOptions = {}): Promise<Refund[]> =>
        (await call<{ items: Refund[] }>(`/api/orders/${part(orderId)}/refunds`, more)).items,
      /** Refunds an order: `amount`, or all that is left without it. Repeated calls make one refund. */
      refund: (
        orderId: string,
        refund: NewRefund = {},
        { signal, idempotencyKey = newKey() }: CallOptions & { idempotencyKey?: string } = {},
      ): Promise<Refund> =>
        send('POST', `/api/orders/${part(orderId)}/refunds`, refund, {
          headers: { 'idempotency-key': idempotencyKey },
          repeatable: true,
          signal,
        }),
    },

    /** The seller's balance in each currency. */
    balance: async (more: CallOptions = {}): Promise<Balance[]> =>
      (await call<{ items: Balance[] }>('/api/balance', more)).items,
    /** Every transfer that touches the balance. */
    transfers: (query: Query<'GET /api/transfers'> = {}, more: CallOptions = {}) =>
      every<Transfer>('/api/transfers', query, more),
  }
}

/** The bodies `fetch` takes everywhere. Only Node also takes iterables. */
function bodyOf(data: NewFile['data']): NonNullable<RequestInit['body']> {
  if (!(Symbol.asyncIterator in data) || data instanceof ReadableStream) return data as NonNullable<RequestInit['body']>
  const chunks = data[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel(reason) {
      await chunks.return?.(reason)
    },
  })
}
