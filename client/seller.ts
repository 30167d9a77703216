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

/** A product with the version of it that was read: give that to `update`, and nobody's change is lost. */
export type Versioned<One> = One & { readonly etag: string }
/** A file as it is, or as it is read: then the service must be told how many bytes will come. */
export type NewFile = { name: string; sha256?: string } & (
  | { data: Blob | Uint8Array; size?: undefined }
  | { data: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>; size: number }
)

export interface SellerOptions extends TillOptions {
  /** What signing in set, as a `Cookie` header: `till_session=…`. */
  cookie: string
  /** Where the pages are, when that is another host than the API: only from there may a session change anything. */
  appUrl?: string
}

const part = encodeURIComponent

/** A seller's own shop, for scripts on Node: a browser lets no page name its own cookie. Every call throws a {@link TillError}. */
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

  /** All of a list, a page at a time, as they are asked for. */
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
      /** With `etag`, only if nobody has changed it meanwhile: else `changed_meanwhile`. */
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
      /** Takes it off sale. Who bought it keeps it. */
      archive: (productId: string, { signal }: CallOptions = {}): Promise<void> =>
        call(`/api/products/${part(productId)}`, { method: 'DELETE', repeatable: true, signal }),
      /**
       * Adds a file, as it is read: a stream of any length takes no memory. It counts once all of it is there, and hashes to
       * `sha256` if you say so. It is not repeated, and takes as long as it takes.
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
      /** Renames a file, or moves it among the product's others. Its bytes stay what they are. */
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
      /** The same orders as CSV, as it comes. */
      csv: (query: Query<'GET /api/orders'> = {}, { signal }: CallOptions = {}): Promise<ReadableStream<Uint8Array>> =>
        call('/api/orders', { query, headers: { accept: 'text/csv' }, timeoutMs: Infinity, signal }, async ({ body }) =>
          body!.pipeThrough(new TransformStream(), signal && { signal }),
        ),
      refunds: async (orderId: string, more: CallOptions = {}): Promise<Refund[]> =>
        (await call<{ items: Refund[] }>(`/api/orders/${part(orderId)}/refunds`, more)).items,
      /** Sends money back, all that is left unless `amount` says how much; once, however often it is repeated. */
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

    /** What is the seller's, in each currency. */
    balance: async (more: CallOptions = {}): Promise<Balance[]> =>
      (await call<{ items: Balance[] }>('/api/balance', more)).items,
    /** Every movement of it. */
    transfers: (query: Query<'GET /api/transfers'> = {}, more: CallOptions = {}) =>
      every<Transfer>('/api/transfers', query, more),
  }
}

/** What `fetch` takes everywhere: iterables are for Node alone. */
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
