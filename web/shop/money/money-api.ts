import { get, type List } from '../api.ts'
import { asQuery, type Transfer } from '../orders/orders-api.ts'

export type { Transfer }

export interface Balance {
  currency: string
  balance: number
  sales: number
  fees: number
  refunds: number
  disputes: number
  payouts: number
  adjustments: number
  available: number
  pending: number
  pendingBy: { on: string; amount: number }[]
  refunding: number
  onTheWay: number
}

export interface TransferFilters {
  currency: string
  orderId: string
  from: string
  to: string
}

export const getBalance = () => get<{ items: Balance[] }>('balance')
export const getTransfers = (filters: TransferFilters, cursor?: string) =>
  get<List<Transfer>>('transfers', { ...asQuery(filters), ...(cursor && { cursor }) })
