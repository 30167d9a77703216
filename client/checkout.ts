import { type CallOptions, TillError, type TillOptions, ask, keep, mayBeDone, newKey, pause } from './request.ts'
import type { Answer, Body } from './api.ts'
import type { Api } from './types.ts'

export { TillError }
export type { CallOptions, TillErrorCode, TillOptions } from './request.ts'

export type Product = Answer<'GET /api/products/{productId}/public'>
export type NewOrder = Body<'POST /api/checkout'>
export type Order = Answer<'POST /api/checkout'>
export type OrderStatus = Answer<'GET /api/checkout/{orderId}/status'>
export type Download = OrderStatus['downloads'][number]

/** The service asks the payment processor at most every three seconds on request, and every minute by itself. */
const SYNC_EVERY_MS = 10_000
/** The pause between two tries while the service does not answer. */
const AWAY_MS = 5_000

export type Till = ReturnType<typeof createTill>

/**
 * The checkout, for a page or a server that sells. It needs no API key. A call that fails throws a {@link TillError}.
 * A call that your signal ends throws the signal's reason.
 */
export function createTill(options: TillOptions) {
  /** Idempotency keys by order request: a repeated call after a lost answer gets the order that may have been made. */
  const keys = new Map<string, string>()
  /**
   * Tokens of the orders made or found here. With a token the service tells the buyer from strangers who guess
   * addresses.
   */
  const tokens = new Map<string, string>()

  const till = {
    /** The public view of a product, for a page to show. Throws `product_not_found`. */
    product: (
      productId: string,
      query: Api['GET /api/products/{productId}/public']['query'] = {},
      { signal }: CallOptions = {},
    ) => ask<Product>(options, `/api/products/${encodeURIComponent(productId)}/public`, { query, signal }),

    /**
     * Makes an order once. The request and all its repetitions carry the same Idempotency-Key, also when you call again
     * with the same order because no answer came. To keep one order over reloads of a page, pass a key that you keep.
     */
    async createOrder(
      order: NewOrder,
      { signal, idempotencyKey }: CallOptions & { idempotencyKey?: string } = {},
    ): Promise<Order> {
      const wanted = JSON.stringify(order)
      const key = idempotencyKey ?? keys.get(wanted) ?? newKey()
      keep(keys, wanted, key)
      try {
        const json = order
        const headers = { 'idempotency-key': key }
        const made = await ask<Order>(options, '/api/checkout', {
          method: 'POST',
          json,
          headers,
          signal,
          repeatable: true,
        })
        keys.delete(wanted)
        keep(tokens, made.orderId, made.statusToken)
        return made
      } catch (error) {
        if (!mayBeDone(error)) keys.delete(wanted)
        throw error
      }
    },

    /**
     * Reads how an order stands. The answer is complete when the address is the one the order was made with. `sync`
     * makes the service ask the payment processor first. With `wait` the service answers when it hears of the payment,
     * after two seconds at the latest. Pass a `token` that you kept (the `statusToken` of the order
     * or the status) only where another process or page made the order.
     */
    async status(
      orderId: string,
      {
        email,
        sync,
        wait,
        token,
        signal,
      }: CallOptions & { email?: string; sync?: boolean; wait?: boolean; token?: string } = {},
    ): Promise<OrderStatus> {
      const status = await ask<OrderStatus>(options, `/api/checkout/${encodeURIComponent(orderId)}/status`, {
        query: { email, token: token ?? tokens.get(orderId), ...(sync && { sync: 1 }), ...(wait && { wait: 1 }) },
        signal,
      })
      if (status.statusToken !== undefined) keep(tokens, orderId, status.statusToken)
      return status
    },

    /**
     * Polls as often as the service asks for until the order is paid, then returns its status and download links. While
     * the service does not answer, the call keeps trying: pass a signal to end it. Throws `not_paid` when the order can
     * no longer be paid, and `email_mismatch` when the address is not the order's.
     */
    async waitUntilPaid(
      orderId: string,
      email: string,
      { signal, onStatus }: CallOptions & { onStatus?: (status: OrderStatus) => void } = {},
    ): Promise<OrderStatus> {
      for (let syncedAt = -Infinity; ;) {
        const sync = Date.now() - syncedAt >= SYNC_EVERY_MS
        if (sync) syncedAt = Date.now()
        const askedAt = Date.now()
        let pauseMs: number
        try {
          const status = await till.status(orderId, { email, sync, wait: !sync, signal })
          if (status.createdAt === undefined)
            throw new TillError('email_mismatch', 'The address is not the one of this order.')
          onStatus?.(status)
          if (status.paid) return status
          if (status.nextPollMs === null) throw new TillError('not_paid', `The order is not paid: ${status.status}.`)
          // the next request waits for the payment, or this one has
          const waitedMs = Math.max(0, Date.now() - askedAt)
          pauseMs = sync ? 0 : Math.max(0, status.nextPollMs - waitedMs)
        } catch (error) {
          if (!(error instanceof TillError && error.isPassing)) throw error
          pauseMs = (error.retryAfterSeconds ?? 0) * 1000 || AWAY_MS
        }
        await pause(pauseMs, signal)
      }
    },

    /** Fresh download links, good for an hour. None while the order is not paid or when the address is another. */
    downloads: async (orderId: string, email: string, more: CallOptions = {}): Promise<Download[]> =>
      (await till.status(orderId, { email, ...more })).downloads,

    /**
     * Mails the receipt with the links again, to the order's address. It does not tell whether `email` is that address.
     */
    async sendReceipt(orderId: string, email: string, { signal }: CallOptions = {}): Promise<void> {
      const path = `/api/checkout/${encodeURIComponent(orderId)}/receipt`
      await ask(options, path, { method: 'POST', json: { email, token: tokens.get(orderId) }, signal })
    },
  }
  return till
}
