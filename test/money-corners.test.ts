import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOB, KEY } from './corners.ts'
import { razorpaySettings, startRazorpayShop } from './razorpay-shop.ts'
import { startTestShop } from './shop.ts'

// Where money could be lost, sent twice, or an order stay for ever: what two instances, a change of settings, a slow bank
// and a processor that is away make of each other.

test('a double click starts one payment, also where the processor makes two of it: the one we know is the one that is paid', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const other = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: razorpaySettings(bank) })
  bank.receipts = 'ignored'
  bank.delayMs = 300
  const productId = await rupees()
  const started = await Promise.all([shop, shop, other].map((one) => one.checkout({ productId }, KEY)))
  bank.delayMs = 0
  assert.equal(new Set(started.map(({ orderId }) => orderId)).size, 1)
  assert.equal(new Set(started.map(({ clientSecret }) => clientSecret)).size, 1)
  bank.pay(started.at(-1)!.clientSecret!)
  await bank.told()
  assert.equal((await shop.status(started[0]!.orderId, BOB)).status, 'paid')
})
