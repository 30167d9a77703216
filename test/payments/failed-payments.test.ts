import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Order } from '../../src/orders/seller-view.ts'
import { holdBank } from '../stand-ins/processor.ts'
import { recordJobs } from '../support/jobs.ts'
import { newBrowser } from '../support/seller.ts'
import { type TestShop, eventually } from '../support/shop.ts'
import { type StripeShop, intentOf, startStripeShop } from '../support/stripe-shop.ts'

// A slow bank has said yes to the buyer, who has left the page. If it says no after all, only a mail tells the buyer.

const BOB = 'bob@example.com'
const FAILED = /did not go through/

/** Mails that were promised to the buyer, sent or not: two jobs are two mails. */
async function promised({ db }: TestShop): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from added_jobs where queue = 'mail' and data->>'kind' = 'payment_failed'`.execute(db)
  return rows[0]!.n
}

const mailsOf = async (shop: TestShop) => (await shop.mails(BOB)).filter(({ subject }) => FAILED.test(subject))

/** An order whose bank has begun to work on its payment. */
async function atWork({ shop, bank, server }: StripeShop) {
  const order = await shop.checkout()
  bank.confirm(intentOf(order), { method: 'us_bank_account', outcome: 'processing' })
  await server.delivered()
  assert.deepEqual(await stateOf(shop, order), ['processing', false])
  return order
}

async function stateOf(shop: TestShop, { orderId }: { orderId: string }) {
  const { status, canPay } = await shop.status(orderId, BOB)
  return [status, canPay]
}

test('a payment that fails after days causes one mail, with a link to pay again, however often it is reported', async (t) => {
  const stripe = await startStripeShop(t)
  const { shop, bank, server } = stripe
  await recordJobs(shop.db)
  const order = await atWork(stripe)
  bank.finish(intentOf(order), 'fail')
  await server.delivered()
  assert.deepEqual(await stateOf(shop, order), ['processing', true])
  const [mail] = await eventually(
    () => mailsOf(shop),
    (mails) => mails.length > 0,
  )
  const { product } = await shop.status(order.orderId, BOB)
  const [, token] = new RegExp(`http://shop\\.test/pay/\\?product=${product!.id}&order=${order.orderId}#p=(\\S+)`).exec(mail!.text) ?? [] // oxfmt-ignore
  const opened = await shop.call('POST', `/api/checkout/${order.orderId}/payment`, { token })
  assert.equal(opened.status, 200, JSON.stringify(opened.body))
  assert.equal(opened.body.orderId, order.orderId)
  assert.match(mail!.text, /Nothing was taken/)
  for (const event of bank.events) await server.send(event)
  await shop.status(order.orderId, BOB, true)
  await sql`update orders set due_at = now() - interval '1 second'`.execute(shop.db)
  await shop.syncDue()
  assert.equal(await promised(shop), 1)
  const timeline = (await shop.status(order.orderId, BOB)).timeline!.map(({ what }) => what)
  assert.deepEqual(timeline, ['created', 'payment_processing', 'payment_declined'])

  // the same payment is tried again, and fails again: that is another one to tell
  bank.confirm(intentOf(order), { method: 'us_bank_account', outcome: 'processing' })
  await server.delivered()
  assert.deepEqual(await stateOf(shop, order), ['processing', false])
  bank.finish(intentOf(order), 'fail')
  await server.delivered()
  assert.equal(await promised(shop), 2)
  bank.confirm(intentOf(order))
  await server.delivered()
  assert.equal((await shop.status(order.orderId, BOB)).status, 'paid')
  assert.equal(await promised(shop), 2)
})

test('its seller sees that the payment failed, and not a bank at work for ever', async (t) => {
  const stripe = await startStripeShop(t)
  const { shop, bank, server } = stripe
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const seen = async () => {
    const { items } = (await ann.call('GET', '/api/orders')).body as { items: Order[] }
    const { body } = await ann.call('GET', `/api/orders/${items[0]!.orderId}`)
    assert.equal(body.paymentFailed, items[0]!.paymentFailed)
    return [items[0]!.status, items[0]!.paymentFailed]
  }
  const order = await atWork(stripe)
  assert.deepEqual(await seen(), ['processing', undefined])
  bank.finish(intentOf(order), 'fail')
  await server.delivered()
  assert.deepEqual(await seen(), ['processing', true])
  bank.confirm(intentOf(order))
  await server.delivered()
  assert.deepEqual(await seen(), ['paid', undefined])
})

test('no mail about a decline goes out while the buyer is at the form, nor for an order that is expired or paid', async (t) => {
  const stripe = await startStripeShop(t)
  const { shop, bank, server } = stripe
  await recordJobs(shop.db)
  const declined = await shop.checkout()
  bank.confirm(intentOf(declined), { outcome: 'decline' })
  await server.delivered()
  const expired = await atWork(stripe)
  await sql`update orders set state = 'expired' where id = ${expired.orderId}`.execute(shop.db)
  bank.finish(intentOf(expired), 'fail')
  await server.delivered()
  assert.equal((await shop.status(expired.orderId, BOB)).status, 'expired')
  // the reports that the payment began and failed come after the order was paid
  server.knobs.notify = 'held'
  const paid = await shop.checkout()
  bank.confirm(intentOf(paid), { method: 'us_bank_account', outcome: 'processing' })
  bank.finish(intentOf(paid), 'fail')
  bank.confirm(intentOf(paid))
  await server.release({ reversed: true })
  assert.equal((await shop.status(paid.orderId, BOB)).status, 'paid')
  assert.equal(await promised(shop), 0)
})

test('an order whose time ended while the bank was at work can be paid for a day more, whoever hears of the no', async (t) => {
  const stripe = await startStripeShop(t)
  const { shop, bank, server } = stripe
  await recordJobs(shop.db)
  const [told, asked] = [await atWork(stripe), await atWork(stripe)]
  await sql`update orders set created_at = now() - interval '3 days', expires_at = now() - interval '2 days'`.execute(
    shop.db,
  )
  bank.finish(intentOf(told), 'fail')
  await server.delivered()
  const look = async () => {
    await sql`update orders set due_at = now() - interval '1 second'`.execute(shop.db)
    await shop.syncDue()
  }
  await look()
  assert.deepEqual(await stateOf(shop, told), ['processing', true])
  assert.deepEqual(await stateOf(shop, asked), ['processing', false])
  // of the other one only the reconciler hears
  server.knobs.notify = 'never'
  bank.finish(intentOf(asked), 'fail')
  await look()
  await look()
  for (const order of [told, asked]) {
    assert.deepEqual(await stateOf(shop, order), ['processing', true])
    bank.confirm(intentOf(order))
  }
  assert.equal(await promised(shop), 2)
  await look()
  for (const order of [told, asked]) assert.equal((await shop.status(order.orderId, BOB)).status, 'paid')
})

test('the sandbox has a bank that takes its time and then says no', async (t) => {
  const { shop } = await startStripeShop(t, { env: { PROCESSORS: 'sandbox' } })
  await recordJobs(shop.db)
  const order = await shop.checkout()
  const release = await holdBank(shop, order)
  assert.deepEqual((await shop.confirm(order, 'delayed_decline', 'bank_transfer')).body, { status: 'processing' })
  await shop.until(order.orderId, ({ status, canPay }) => status === 'processing' && canPay === false)
  await release()
  await shop.until(order.orderId, ({ status, canPay }) => status === 'processing' && canPay === true)
  assert.equal(await promised(shop), 1)
  assert.equal((await shop.confirm(order)).status, 200)
  await shop.until(order.orderId, ({ paid }) => paid)
})
