import { type Answer, type Body, type Item, type RequestOptions, type Search, openApi } from './api.ts'
import { type CallOptions, TillError, type TillOptions, readJson } from './request.ts'
import type { Bytes, Event } from './types.ts'

export { TillError }
export type { Answer, Body, Item, ListRoute, Request, Route, Search } from './api.ts'
export type { CallOptions, TillErrorCode, TillOptions } from './request.ts'

export type Product = Answer<'GET /api/products/{productId}'>
export type NewProduct = Body<'POST /api/products'>
export type ProductChange = Body<'PATCH /api/products/{productId}'>
export type ProductFile = Answer<'POST /api/products/{productId}/files'>
export type OrderInList = Item<'GET /api/orders'>
export type Order = Answer<'GET /api/orders/{orderId}'>
export type NewRefund = Body<'POST /api/orders/{orderId}/refunds'>
export type Refund = Answer<'POST /api/orders/{orderId}/refunds'>
export type Balance = Item<'GET /api/balance'>
export type Transfer = Item<'GET /api/transfers'>
export type Discount = Answer<'POST /api/discounts'>
export type NewDiscount = Body<'POST /api/discounts'>

/**
 * A product with its version. Pass the version to `update`, so that the update overwrites no change of another person.
 */
export type Versioned<One> = One & { readonly etag: string }
/** A file in memory, or a stream. For a stream the service must be told the number of bytes. */
export type NewFile = { name: string; sha256?: string } & (
  | { data: Blob | Uint8Array; size?: undefined }
  | { data: Exclude<Bytes, Blob | Uint8Array>; size: number }
)

export interface SellerOptions extends TillOptions {
  apiKey: string
}

/**
 * A seller's shop, for programs on a server. `request` and `list` reach every route; the other members are short for
 * the most used ones. A call that fails throws a {@link TillError}. A call that your signal ends throws the signal's reason.
 */
export function createSeller(options: SellerOptions) {
  const { request, list, send } = openApi(options)
  const versioned = <One>(response: Response): Promise<Versioned<One>> =>
    response.json().then((one) => ({ ...(one as One), etag: response.headers.get('etag') ?? '' }))

  return {
    request,
    list,

    products: {
      list: (query: Search<'GET /api/products'> = {}, more: CallOptions = {}) =>
        list('GET /api/products', { query, ...more }),
      get: (productId: string, more: CallOptions = {}): Promise<Versioned<Product>> =>
        send('GET /api/products/{productId}', { params: { productId }, ...more }, versioned<Product>),
      create: (body: NewProduct, more: CallOptions = {}): Promise<Versioned<Product>> =>
        send('POST /api/products', { body, ...more }, versioned<Product>),
      /** With `etag`, changes the product only if it is still that version. Otherwise throws `changed_meanwhile`. */
      update: (
        productId: string,
        body: ProductChange,
        { etag, ...more }: CallOptions & { etag?: string } = {},
      ): Promise<Versioned<Product>> =>
        send(
          'PATCH /api/products/{productId}',
          { params: { productId }, body, headers: { 'if-match': etag }, ...more },
          versioned<Product>,
        ),
      /** Takes the product off sale. Buyers who have bought it keep it. */
      archive: (productId: string, more: CallOptions = {}) =>
        request('DELETE /api/products/{productId}', { params: { productId }, ...more }),
      /**
       * Adds a file and sends it while reading it, so a stream of any length takes no memory. The service accepts the
       * file once all bytes have arrived, and only if they hash to `sha256` when you pass that. The call is never
       * repeated and has no time limit.
       */
      addFile: (productId: string, { name, data, size, sha256 }: NewFile, { signal }: CallOptions = {}) =>
        send(
          'POST /api/products/{productId}/files',
          {
            params: { productId },
            query: { name, sha256 },
            body: data,
            headers: { 'content-length': size?.toString() },
            timeoutMs: Infinity,
            signal,
          },
          readJson<ProductFile>,
        ),
      /** Renames a file, or moves it among the product's files. Its bytes stay the same. */
      updateFile: (
        productId: string,
        fileId: string,
        body: Body<'PATCH /api/products/{productId}/files/{fileId}'>,
        more: CallOptions = {},
      ) => request('PATCH /api/products/{productId}/files/{fileId}', { params: { productId, fileId }, body, ...more }),
      removeFile: (productId: string, fileId: string, more: CallOptions = {}) =>
        request('DELETE /api/products/{productId}/files/{fileId}', { params: { productId, fileId }, ...more }),
    },

    discounts: {
      list: (query: Search<'GET /api/discounts'> = {}, more: CallOptions = {}) =>
        list('GET /api/discounts', { query, ...more }),
      create: (body: NewDiscount, more: CallOptions = {}) => request('POST /api/discounts', { body, ...more }),
    },

    orders: {
      list: (query: Search<'GET /api/orders'> = {}, more: CallOptions = {}) =>
        list('GET /api/orders', { query, ...more }),
      get: (orderId: string, more: CallOptions = {}) =>
        request('GET /api/orders/{orderId}', { params: { orderId }, ...more }),
      /** The same orders as a CSV stream. */
      csv: (query: Search<'GET /api/orders'> = {}, { signal }: CallOptions = {}): Promise<ReadableStream<Uint8Array>> =>
        send(
          'GET /api/orders',
          { query, headers: { accept: 'text/csv' }, timeoutMs: Infinity, signal },
          async ({ body }) => body!.pipeThrough(new TransformStream(), signal && { signal }),
        ),
      refunds: async (orderId: string, more: CallOptions = {}): Promise<Refund[]> =>
        (await request('GET /api/orders/{orderId}/refunds', { params: { orderId }, ...more })).items,
      /** `amount`: what to refund. Without it, everything that is left is refunded. Repeated calls with one key make one refund. */
      refund: (orderId: string, body: NewRefund = {}, more: RequestOptions = {}): Promise<Refund> =>
        request('POST /api/orders/{orderId}/refunds', { params: { orderId }, body, ...more }),
    },

    /**
     * The events after the one with this id, oldest first; without an id, all events. The service keeps them for 30
     * days. Remember the last id for the next call.
     */
    async *events(after?: string, more: CallOptions = {}): AsyncGenerator<Event, void, undefined> {
      for (let last = after, hasMore = true; hasMore;) {
        const query = { limit: '100', ...(last !== undefined && { after: last }) }
        const page = await request('GET /api/events', { query, ...more })
        yield* page.items
        last = page.items.at(-1)?.id
        hasMore = page.hasMore && last !== undefined
      }
    },

    /** The seller's balance in each currency. */
    balance: async (more: CallOptions = {}): Promise<Balance[]> => (await request('GET /api/balance', more)).items,
    /** Every transfer that touches the balance. */
    transfers: (query: Search<'GET /api/transfers'> = {}, more: CallOptions = {}) =>
      list('GET /api/transfers', { query, ...more }),
  }
}
