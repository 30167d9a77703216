import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderStatus } from '../../src/checkout/schema.ts'
import { newId } from '../../src/kit/ids.ts'
import { assertProblem, sharedShop, type TestShop } from '../support/shop.ts'

// With wait=1 a status request is answered when the order's payment is settled.

const EMAIL = 'bob@example.com'
/** Its requests wait until something happens. A test that waits in vain fails after its time. */
const patient = sharedShop({ deadlines: { statusWaitMs: 24 * 3_600_000 } })
const IN_TIME = { timeout: 120_000 }
/** Its requests wait for a moment. */
const hasty = sharedShop({ deadlines: { statusWaitMs: 20 } })

const ask = (shop: TestShop, orderId: string, more = '') =>
  shop.call<OrderStatus>('GET', `/api/checkout/${orderId}/status?wait=1${more}`)

test(
  'the buyer who waits gets the files as soon as the payment is settled, and a stranger its state',
  IN_TIME,
  async () => {
    const shop = patient()
    const order = await shop.checkout({ email: EMAIL })
    const [buyer, stranger] = [ask(shop, order.orderId, `&email=${EMAIL}`), ask(shop, order.orderId)]
    assert.equal((await shop.confirm(order)).status, 200)
    assert.deepEqual((await buyer).body.downloads.length, 1)
    assert.equal((await buyer).headers.get('cache-control'), 'no-store')
    const { body } = await stranger
    assert.deepEqual([body.status, body.downloads], ['paid', []])
  },
)

test('the buyer who waits hears of a slow bank', IN_TIME, async () => {
  const shop = patient()
  const order = await shop.checkout({ email: EMAIL })
  const first = ask(shop, order.orderId)
  assert.equal((await shop.confirm(order, 'delayed')).status, 200)
  // a bank this slow can be done before the first read
  assert.notEqual((await first).body.status, 'pending')
})

test('a decline does not end the wait of a buyer who pays again', IN_TIME, async () => {
  const shop = patient()
  const order = await shop.checkout({ email: EMAIL })
  const asked = ask(shop, order.orderId)
  assert.equal((await shop.confirm(order, 'decline')).status, 402)
  assert.equal((await shop.confirm(order)).status, 200)
  assert.equal((await asked).body.status, 'paid')
})

test('the answer comes at once when nothing can change, and when the order is unknown', IN_TIME, async () => {
  const shop = patient()
  const { orderId } = await shop.paid({ email: EMAIL })
  assert.equal((await ask(shop, orderId)).body.status, 'paid')
  assertProblem(await ask(shop, newId('ord')), 404, 'order_not_found')
})

test('with sync=1 the request does not wait', IN_TIME, async () => {
  const shop = patient()
  const { orderId } = await shop.checkout()
  assert.equal((await ask(shop, orderId, '&sync=1')).body.status, 'pending')
})

test('after its time a request gets the order as it stands, as without wait', async () => {
  const shop = hasty()
  const { orderId } = await shop.checkout({ email: EMAIL })
  const { body } = await ask(shop, orderId, `&email=${EMAIL}`)
  assert.equal(body.status, 'pending')
  const { statusToken: _, ...waited } = body
  const { statusToken: __, ...plain } = await shop.status(orderId, EMAIL)
  assert.deepEqual(waited, plain)
})
