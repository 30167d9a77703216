import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kit/ids.ts'
import { count } from '../support/seller.ts'
import { type Answer, assertProblem, startTestShop } from '../support/shop.ts'

/** The refusal speaks of the limit that was reached, also where the route has another one beside it. */
function assertExceeded(answer: Answer, limit: number): void {
  assertProblem(answer, 429, 'rate_limited')
  const [max, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => answer.headers.get(`ratelimit-${name}`))
  assert.deepEqual([max, remaining, reset], [String(limit), '0', answer.headers.get('retry-after')])
}

test('orders are limited for each minute and address, and the refusal says when to try again', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'checkout=3/60', PROCESSORS: 'none' } })
  const body = { productId: await shop.product(), email: 'bob@example.com' }
  for (let left = 2; left >= 0; left--) {
    const answer = await shop.call('POST', '/api/checkout', body)
    assert.equal(answer.status, 201)
    assert.equal(answer.headers.get('ratelimit-limit'), '3')
    assert.equal(answer.headers.get('ratelimit-remaining'), String(left))
  }
  // another address can be claimed by anybody: without a proxy that we trust it counts for nothing
  for (const headers of [
    {},
    { 'x-forwarded-for': '203.0.113.7' },
    { forwarded: 'for=203.0.113.8' },
    { 'x-real-ip': '203.0.113.9' },
  ]) {
    const answer = await shop.call('POST', '/api/checkout', body, headers as Record<string, string>)
    assertProblem(answer, 429, 'rate_limited')
    const wait = Number(answer.headers.get('retry-after'))
    assert(wait >= 1 && wait <= 60, String(wait))
    assert.equal(answer.headers.get('ratelimit-remaining'), '0')
    assert.equal(answer.headers.get('access-control-allow-origin'), '*', 'a page elsewhere can read it too')
  }
  assert.equal(await count(shop, 'orders'), 3)

  const proxied = await startTestShop(t, {
    env: { LIMITS: 'checkout=1/60', PROCESSORS: 'none', TRUST_PROXY: '1' },
    databaseUrl: shop.databaseUrl,
  })
  const from = (address: string) => proxied.call('POST', '/api/checkout', body, { 'x-forwarded-for': address })
  assert.equal((await from('203.0.113.1')).status, 201)
  assert.equal((await from('203.0.113.1')).status, 429)
  assert.equal((await from('198.51.100.99, 203.0.113.1')).status, 429, 'the client’s own header does not count')
  assert.equal((await from('203.0.113.2')).status, 201)
  assert.equal((await from('2001:db8:1:2::1')).status, 201)
  assert.equal((await from('2001:db8:1:2:ffff::9')).status, 429, 'one IPv6 network is one subscriber')
})

test('orders are limited for each minute and product, across all addresses, and other products stay for sale', async (t) => {
  const env = { LIMITS: 'checkout_product=2/60', PROCESSORS: 'none', TRUST_PROXY: '1' }
  const shop = await startTestShop(t, { env })
  const [tried, other] = [await shop.product(), await shop.product()]
  const from = (n: number, productId: string) =>
    shop.call(
      'POST',
      '/api/checkout',
      { productId, email: `card${n}@example.com` },
      { 'x-forwarded-for': `203.0.113.${n}` },
    )
  assert.deepEqual([(await from(1, tried)).status, (await from(2, tried)).status], [201, 201])
  assertExceeded(await from(3, tried), 2)
  assert.equal((await from(3, other)).status, 201)
  assert.equal(await count(shop, 'orders'), 3)
})

test('unknown orders are limited for each minute and address together, whatever their ids', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'status=3/60', PROCESSORS: 'none' } })
  const ask = () => shop.call('GET', `/api/checkout/${newId('ord')}/status`)
  for (let time = 0; time < 3; time++) assertProblem(await ask(), 404, 'order_not_found')
  assertExceeded(await ask(), 3)
})

test('tax ids that are tried with a product are limited as orders are', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'checkout=2/60', PROCESSORS: 'none' } })
  const productId = await shop.product()
  const ask = (query: string) => shop.call('GET', `/api/products/${productId}/public?country=FR${query}`)
  for (let time = 0; time < 2; time++) assert.notEqual((await ask('&taxId=FR40303265045')).status, 429)
  assertExceeded(await ask('&taxId=FR40303265045'), 2)
  assert.equal((await ask('')).status, 200)
})
