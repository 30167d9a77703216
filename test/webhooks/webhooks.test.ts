import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gets, newEndpoint, signedInSeller, startReceiver, verify } from '../support/receiver.ts'
import { sharedShop } from '../support/shop.ts'

const shared = sharedShop()

test('a paid order reaches the seller’s program, signed, with the order as the API shows it', async (t) => {
  const shop = shared()
  const receiver = await startReceiver(t)
  const ann = await signedInSeller(shop)
  const { secret } = await newEndpoint(ann, receiver.url)
  const { orderId } = await shop.paid()
  const [received] = await gets(receiver, 'order.paid')
  verify(secret, received!)
  const { body: listed } = await ann.call('GET', '/api/orders')
  const order = listed.items.find((one: { orderId: string }) => one.orderId === orderId)
  assert.deepEqual(received!.event.data, { order: { ...order, receipt: order.receipt }, sequence: 1 })
  assert.doesNotMatch(received!.body, /\/api\/downloads|order\/\?/)
})
