import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newBrowser } from '../support/seller.ts'
import { type TestShop, assertProblem } from '../support/shop.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

// A code that may be used only so often, where payments are Stripe's.

const key = (name: string) => ({ 'idempotency-key': `a-key-of-sixteen-or-more-${name}` })
const buy = (productId: string, email = 'bob@example.com') => ({ productId, email, discountCode: 'HALF' })

/** A product, and a code for it that may be used once. */
async function withCode(shop: TestShop, fields: object = { limit: 1 }) {
  const seller = newBrowser(shop)
  await seller.signInByCode('ann@shop.test')
  const made = await seller.call('POST', '/api/discounts', { code: 'HALF', percentOff: 50, ...fields })
  assert.equal(made.status, 201)
  return { seller, id: made.body.id as string, productId: await shop.product() }
}

const usesOf = async (shop: TestShop, id: string) =>
  (await sql<{ uses: number }>`select uses from discounts where id = ${id}`.execute(shop.db)).rows[0]!.uses

test('an order with a limited code offers no voucher, and one without a code does', async (t) => {
  const { shop, bank } = await startStripeShop(t)
  const { productId } = await withCode(shop)
  const order = (await shop.call('POST', '/api/checkout', buy(productId), key('a'))).body
  assert.throws(() => bank.confirm(intentOf(order), { method: 'oxxo', outcome: 'requires_action' }), /excluded/)
  const again = (await shop.call('POST', '/api/checkout', buy(productId), key('a'))).body
  assert.equal(again.clientSecret, order.clientSecret)
  const plain = await shop.checkout({ productId })
  assert.equal(
    bank.confirm(intentOf(plain), { method: 'oxxo', outcome: 'requires_action' })['status'],
    'requires_action',
  )
})

test('methods of the settings’ list are also offered without vouchers', async (t) => {
  const { shop, bank } = await startStripeShop(t, { env: { STRIPE_PAYMENT_METHOD_TYPES: 'card,us_bank_account' } })
  const { productId } = await withCode(shop)
  await shop.call('POST', '/api/checkout', buy(productId))
  await shop.checkout({ productId })
  assert.deepEqual(
    bank.paymentIntents.map((one) => one['allowed_payment_method_types']),
    [['card'], ['card', 'us_bank_account']],
  )
})

test('an order with a voucher in spite of that keeps its use until it ends', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const { seller, id, productId } = await withCode(shop, {})
  const order = (await shop.call('POST', '/api/checkout', buy(productId))).body
  bank.confirm(intentOf(order), { method: 'oxxo', outcome: 'requires_action' })
  // the code gets its limit when the buyer has the voucher already
  assert.equal((await seller.call('PATCH', `/api/discounts/${id}`, { limit: 1 })).status, 200)
  await shop.call('GET', `/api/checkout/${order.orderId}/status?sync=1`)
  assert.equal(await usesOf(shop, id), 1)
  assertProblem(await shop.call('POST', '/api/checkout', buy(productId, 'eve@example.com')), 422, 'discount_not_valid')

  bank.confirm(intentOf(order), { method: 'oxxo' })
  await server.delivered()
  assert.equal((await shop.status(order.orderId)).status, 'paid')
  assert.equal(await usesOf(shop, id), 1)
})

test('a buyer who is at the bank when the hold ends gets the same time again, once', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const { id, productId } = await withCode(shop, { limit: 2 })
  const [stays, leaves] = await Promise.all(
    ['bob@example.com', 'eve@example.com'].map(
      async (email) => (await shop.call('POST', '/api/checkout', buy(productId, email))).body,
    ),
  )
  const endHold = async () => {
    await sql`update orders set expires_at = now(), due_at = now()`.execute(shop.db)
    await shop.syncDue()
  }
  const lives = async () =>
    (
      await sql<{ minutes: number; dueInTime: boolean }>`
        select round(extract(epoch from expires_at - now()) / 60)::int as minutes, due_at <= expires_at as "dueInTime"
        from orders where state = 'pending'`.execute(shop.db)
    ).rows
  for (const order of [stays, leaves]) bank.confirm(intentOf(order), { outcome: 'requires_action' })
  await endHold()
  const renewed = { minutes: 15, dueInTime: true }
  assert.deepEqual(await lives(), [renewed, renewed])
  assert.equal(await usesOf(shop, id), 2)
  bank.confirm(intentOf(stays))
  await server.delivered()
  assert.equal((await shop.status(stays.orderId)).status, 'paid')

  await endHold()
  assert.equal((await shop.status(leaves.orderId)).status, 'expired')
  assert.deepEqual(bank.paymentIntents.map((one) => one['status']).toSorted(), ['canceled', 'succeeded'])
  assert.equal(await usesOf(shop, id), 1)
})

test('after a bank has said no, the code is held for the usual time, and not for the bank’s days', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const { seller, id, productId } = await withCode(shop, {})
  const order = (await shop.call('POST', '/api/checkout', buy(productId))).body
  bank.confirm(intentOf(order), { method: 'us_bank_account', outcome: 'processing' })
  await server.delivered()
  // the code gets its limit when the bank is at work already
  assert.equal((await seller.call('PATCH', `/api/discounts/${id}`, { limit: 1 })).status, 200)
  const life = async () =>
    (
      await sql<{ hours: number; dueInTime: boolean }>`
        select round(extract(epoch from expires_at - now()) / 3600)::int as hours, due_at <= expires_at as "dueInTime"
        from orders where id = ${order.orderId}`.execute(shop.db)
    ).rows
  assert.deepEqual(await life(), [{ hours: 24, dueInTime: true }])
  bank.finish(intentOf(order), 'fail')
  await server.delivered()
  assert.deepEqual(await life(), [{ hours: 0, dueInTime: true }])
  await sql`update orders set expires_at = now(), due_at = now()`.execute(shop.db)
  await shop.syncDue()
  assert.equal((await shop.status(order.orderId)).status, 'expired')
  assert.equal(await usesOf(shop, id), 0)
})
