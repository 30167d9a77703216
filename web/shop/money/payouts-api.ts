import type { NextPayouts, Payout, PayoutDetail } from '../../../src/payouts/list-schema.ts'
import type { PayoutDetails } from '../../../src/payouts/details-schema.ts'
import type { Business } from '../../../src/payouts/accounts/business-schema.ts'
import { get, request, type List } from '../api.ts'

export type { NextPayouts, Payout, PayoutDetail, PayoutDetails }
export type Next = NextPayouts['items'][number]

export interface BalanceDays {
  currency: string
  days: { on: string; balance: number }[]
}

/** Payout details as a seller types them; the kind decides which members there are. */
export interface DetailsInput {
  kind: PayoutDetails['kind']
  name: string
  country?: string
  iban?: string
  bic?: string
  upiId?: string
  account?: string
  lines?: string[]
}

/** The seller's connected account. */
export interface PayoutAccount {
  state: 'none' | 'open' | 'restricted' | 'active'
  missing: string[]
  paysOut: boolean
  blocksSales: boolean
}

/** The processor has to know this of the seller, where it has no pages of its own for it. */
export type AccountInput = Business

const path = encodeURIComponent

export const getHistory = () => get<{ items: BalanceDays[] }>('balance/history')
export const getNext = () => get<NextPayouts>('payouts/next')
export const getPayouts = (cursor?: string) => get<List<Payout>>('payouts', { cursor, limit: 10 })
export const getPayout = (id: string, cursor?: string) =>
  get<PayoutDetail>(`payouts/${path(id)}`, { cursor, limit: 50 })
export const getDetails = () => get<{ items: PayoutDetails[] }>('payout-details')
export const putDetails = async (currency: string, input: DetailsInput) =>
  (await request<PayoutDetails>('PUT', `payout-details/${path(currency)}`, input)).answer
export const removeDetails = (currency: string) => request('DELETE', `payout-details/${path(currency)}`)
export const getAccount = () => get<PayoutAccount>('payouts/account')
export const openAccount = async () => (await request<{ url: string }>('POST', 'payouts/account', {})).answer
export const tellAccount = async (input: AccountInput) =>
  (await request<PayoutAccount>('PUT', 'payouts/account', input)).answer
