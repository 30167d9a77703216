import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { type Browser, newBrowser, newMailbox } from '../support/seller.ts'
import { type TestShop } from '../support/shop.ts'

export const OPERATOR = 'ann@operator.test'

/** A browser in which the operator is signed in, just now. */
export async function operatorOf(shop: TestShop): Promise<Browser> {
  const browser = newBrowser(shop)
  const { body } = await browser.signInByCode(OPERATOR)
  assert.equal(body.seller.email, OPERATOR)
  return browser
}

/** A seller with a published product. */
export async function sellerOf(shop: TestShop, amount = 1900) {
  const browser = newBrowser(shop)
  const email = newMailbox()
  const { body } = await browser.signInByCode(email)
  const product = await browser.call('POST', '/api/products', { name: 'A song', amount, currency: 'USD' })
  await shop.file(product.body.id)
  await browser.call('PATCH', `/api/products/${product.body.id}`, { status: 'active' })
  return { browser, email, sellerId: body.seller.id as string, productId: product.body.id as string }
}

/** An order for which the buyer has paid another amount. */
export async function reviewedOrder(shop: TestShop, productId?: string): Promise<string> {
  const order = await shop.checkout(productId === undefined ? {} : { productId })
  await shop.confirm(order, 'wrong_amount')
  await shop.until(order.orderId, ({ status }) => status === 'needs_review')
  return order.orderId
}

/** All sign-ins of this browser are too old for actions that move money or people. */
export const ageSignIns = async (shop: TestShop, browser: Browser): Promise<void> => {
  const { body } = await browser.session()
  await sql`update sessions set created_at = now() - interval '11 minutes' where id = ${body.session.id}`.execute(
    shop.db,
  )
}

export const logOf = async (browser: Browser, subject: string) =>
  (await browser.call('GET', `/api/operator/log?subject=${encodeURIComponent(subject)}`)).body.items as {
    actor: string
    action: string
    subject: string
    detail: Record<string, unknown>
  }[]
