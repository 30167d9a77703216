import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestShop } from './shop.ts'

test('ten copies of one confirmation book the sale once', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.paid()
  const payment = await shop.sandboxPayment(order.orderId)
  const answers = await Promise.all(Array.from({ length: 10 }, () => shop.notify({ payment })))
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(10).fill(200),
  )
  assert.deepEqual(await shop.transfers(order.orderId), [
    { kind: 'sale', debit: 'processor:sandbox', credit: `seller:${shop.sellerId}`, amountMinor: 1900 },
    { kind: 'fee', debit: `seller:${shop.sellerId}`, credit: 'fees', amountMinor: 38 },
  ])
})
