import type { Rail, Status } from '../../ui/api.ts'
import type { OrderDetail, Transfer } from '../../../src/shop/schema.ts'
import { get, request, type List, type Order } from '../api.ts'

export type { Order, OrderDetail, Transfer }

export type Refund = OrderDetail['refunds'][number]

export interface OrderFilters {
  q: string
  status: Status | ''
  productId: string
  rail: Rail | ''
  /** Days in the seller's time zone, both included. */
  from: string
  to: string
}

/** A refund that the seller has asked for. Sending it again with the same key makes no second refund. */
export interface RefundRequest {
  key: string
  amount: number
  reason: string
}

const path = encodeURIComponent

export const getOrders = (filters: OrderFilters, cursor?: string) =>
  get<List<Order>>('orders', { ...asQuery(filters), ...(cursor && { cursor }) })
export const getOrder = (id: string) => get<OrderDetail>(`orders/${path(id)}`)
export const sendReceipt = (id: string) => request('POST', `orders/${path(id)}/receipt`, {})
/** With the same key, repeated calls make one refund. */
export const refundOrder = async (id: string, { amount, reason, key }: RefundRequest) =>
  (
    await request<Refund>(
      'POST',
      `orders/${path(id)}/refunds`,
      { amount, ...(reason && { reason }) },
      { 'idempotency-key': key },
    )
  ).answer
export const changeEmail = async (id: string, email: string) =>
  (await request<{ email: string }>('POST', `orders/${path(id)}/email`, { email })).answer.email

/**
 * Converts the filters into the service's terms. A day is one of the seller's time zone, and the last day is included.
 */
export const asQuery = <Filters extends { from: string; to: string }>({ from, to, ...rest }: Filters) => ({
  ...rest,
  from: from && midnight(from),
  to: to && midnight(to, 1),
})

function midnight(day: string, daysLater = 0): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + daysLater).toISOString()
}
