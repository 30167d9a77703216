import { call, type Download, type OrderStatus, type Status } from '../ui/api.ts'

export interface Purchase {
  orderId: string
  status: Status
  product: { id: string; name: string; imageUrl?: string }
  seller: { name: string; supportEmail: string; logoUrl?: string }
  amount: number
  currency: string
  createdAt: string
  paidAt: string | null
  downloads: Download[]
  withdrawnFiles?: OrderStatus['withdrawnFiles']
  invoices?: OrderStatus['invoices']
}

export interface Purchases {
  email: string
  items: Purchase[]
  nextCursor: string | null
}

/** A cookie says for an hour which mailbox was proved in this browser, so every call carries it. */
const ask = <Answer>(path: string, body?: object, method?: string) =>
  call<Answer>(`/api/library${path}`, body, {}, { credentials: 'include', ...(method && { method }) })

export const getPurchases = (cursor?: string) =>
  ask<Purchases>(cursor === undefined ? '' : `?${new URLSearchParams({ cursor })}`)
export const askLibraryCode = (email: string) => ask<{ resendAfter: number }>('/code', { email })
export const openWithCode = (email: string, code: string) => ask<Purchases>('/verify', { email, code })
export const forgetLibrary = () => ask('', undefined, 'DELETE')
