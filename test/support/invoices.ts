import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { type Browser, newBrowser } from './seller.ts'
import { type TestShop, eventually } from './shop.ts'

export const PROFILE = {
  on: true,
  name: 'Ann Books GmbH',
  address: ['Musterstraße 12'],
  postcode: '10115',
  city: 'Berlin',
  country: 'DE',
  taxIds: [{ country: 'DE', id: 'DE 136.695.976' }],
}
export const COMPANY = {
  email: 'bob@example.com',
  name: 'Żółć Sp. z o.o.',
  address: ['ul. Długa 1'],
  postcode: '00-238',
  city: 'Warszawa',
  country: 'PL',
  taxId: 'PL 526-000-12-46',
}

/** The browser of Ann, who has invoices switched on. */
export async function withInvoices(shop: TestShop, profile: object = {}): Promise<Browser> {
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const answer = await ann.call('PUT', '/api/invoice-profile', { ...PROFILE, ...profile })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return ann
}

/** A paid order. */
export async function paidOrder(shop: TestShop, productId: string, fields: object = {}): Promise<string> {
  const order = await shop.checkout({ productId, ...fields })
  assert.equal((await shop.confirm(order)).status, 200)
  await shop.until(order.orderId, ({ paid }) => paid)
  return order.orderId
}

export interface Stored {
  id: string
  number: string
  kind: string
  reason: string
  amountMinor: number
  taxMinor: number | null
  orderId: string
}

/** Documents in the order of their numbers. */
export async function documents({ db }: TestShop, orderId?: string): Promise<Stored[]> {
  const { rows } = await sql<Stored>`
    select id, number, kind, reason, amount_minor as "amountMinor", tax_minor as "taxMinor", order_id as "orderId"
    from invoices where ${orderId ?? null}::text is null or order_id = ${orderId ?? null}
    order by seller_id, kind, year, sequence`.execute(db)
  return rows
}

/** Refunds a part, and waits for its credit note. */
export async function refunded(shop: TestShop, seller: Browser, orderId: string, amount?: number): Promise<void> {
  const before = (await documents(shop, orderId)).length
  const answer = await seller.call('POST', `/api/orders/${orderId}/refunds`, amount === undefined ? {} : { amount })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  await eventually(
    () => documents(shop, orderId),
    (rows) => rows.length > before,
  )
}
