import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOB, jobs, refunds, tryAgainNow } from '../support/aged-orders.ts'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { eventually } from '../support/shop.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

// A bank has taken a part of the price, and the seller sends back some of the rest: which "no" of a processor is for good.

test('Stripe makes no refund after a bank took a part: the refund fails at once, and the files are back', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const order = await shop.checkout()
  bank.confirm(intentOf(order))
  const { id } = bank.openDispute(intentOf(order), { amount: 500 })
  bank.closeDispute(id, 'lost')
  await server.delivered()
  const seller = await refunds(shop)
  assert.equal((await seller.ask(order)).status, 201)
  await eventually(
    () => seller.statuses(order),
    ([status]) => status === 'failed',
  )
  assert.equal((await shop.status(order.orderId, BOB)).paid, true)
  await eventually(
    () => shop.mails('ann@shop.test'),
    (mails) => mails.some(({ text }) => /taken .*back/s.test(text)),
  )
})

test('a balance that is too low after such a part does not end it: Stripe makes the refund later', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const order = await shop.checkout()
  bank.confirm(intentOf(order))
  const { id } = bank.openDispute(intentOf(order), { amount: 500 })
  bank.closeDispute(id, 'lost')
  await server.delivered()
  // of a bank that leaves such a charge refundable
  bank.disputes[0]!['status'] = 'prevented'
  bank.refusesRefunds = true
  const seller = await refunds(shop)
  assert.equal((await seller.ask(order, { amount: 900 })).status, 201)
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
  )
  assert.deepEqual(await seller.statuses(order), ['pending'])
  bank.refusesRefunds = false
  await tryAgainNow(shop)
  await eventually(
    () => seller.statuses(order),
    ([status]) => status === 'succeeded',
  )
})

test('Razorpay’s low balance after such a part does not end it either', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  const { id } = bank.openDispute(bank.pay(order.clientSecret!).id, { amount: 10_000 })
  bank.moveDispute(id, 'lost')
  await bank.delivered()
  assert.equal((await shop.status(order.orderId)).status, 'partially_refunded')
  bank.refusesRefunds = true
  const seller = await refunds(shop)
  assert.equal((await seller.ask(order, { amount: 20_000 })).status, 201)
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
  )
  assert.deepEqual(await seller.statuses(order), ['pending'])
  bank.refusesRefunds = false
  await tryAgainNow(shop)
  await eventually(
    () => seller.statuses(order),
    ([status]) => status === 'succeeded',
  )
})
