import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import type { Created } from '../../src/checkout/schema.ts'
import { newId } from '../../src/kit/ids.ts'
import { newBrowser } from '../support/seller.ts'
import { SECRET, assertProblem, sharedShop, startTestShop } from '../support/shop.ts'

// An order that a seller's program makes is paid on the hosted page, by the link in `payUrl`.

const shared = sharedShop()
const SITE = 'https://shop.example'
const email = 'bob@example.com'
before(async () => {
  const ann = newBrowser(shared())
  await ann.signInByCode('ann@shop.test')
  assert.equal((await ann.call('PUT', '/api/sites/shop.example')).status, 200)
})

const made = async (fields: object = {}, headers: Record<string, string> = {}): Promise<Created> => {
  const body = { productId: await shared().product(), email, ...fields }
  const answer = await shared().call<Created>('POST', '/api/checkout', body, headers)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
const tokenOf = ({ payUrl }: Created) => new URL(payUrl).hash.slice('#p='.length)
const pay = (orderId: string, token: unknown) => shared().call('POST', `/api/checkout/${orderId}/payment`, { token })
const statusBy = async (orderId: string, token: string) =>
  (await shared().call('GET', `/api/checkout/${orderId}/status?${new URLSearchParams({ token })}`)).body

test('the link has its secret behind the “#” alone, and no address', async () => {
  const productId = await shared().product()
  const order = await made({ productId, successUrl: `${SITE}/thanks`, metadata: { plan: 'team' } })
  const { pathname, search, hash } = new URL(order.payUrl)
  assert.equal(pathname, '/pay/')
  assert.equal(search, `?product=${productId}&order=${order.orderId}`)
  assert.match(hash, /^#p=[\w-]{43}$/)
  const key = { 'idempotency-key': randomUUID() }
  const [first, again] = [await made({ productId }, key), await made({ productId }, key)]
  assert.equal(again.payUrl, first.payUrl)
})

test('another token opens nothing: of another order, a status token, a changed one, none', async () => {
  const [order, other] = [await made(), await made()]
  const right = tokenOf(order)
  for (const token of [tokenOf(other), order.statusToken, `${right.slice(0, -1)}.`, right.slice(1), 'x', '"\u0000'])
    assertProblem(await pay(order.orderId, token), 404, 'order_not_found')
  for (const token of ['', undefined, null, 7, 'x'.repeat(101)])
    assertProblem(await pay(order.orderId, token), 400, 'validation_failed')
  assertProblem(await pay(newId('ord'), right), 404, 'order_not_found')
  assertProblem(await pay('ord_1', right), 404, 'order_not_found')
})

test('the link pays the order once, and shows only a hint of the address', async () => {
  const productId = await shared().product()
  const order = await made({ productId })
  const opened = await Promise.all(Array.from({ length: 5 }, () => pay(order.orderId, tokenOf(order))))
  for (const { status, body } of opened) {
    assert.equal(status, 200)
    const { emailHint, productId: sold, ...payment } = body
    const { statusToken: _, payUrl: __, ...same } = order
    assert.deepEqual(payment, same, 'it is the payment that was started with the order')
    assert.equal(emailHint, 'b…@example.com')
    assert.equal(sold, productId, 'the page shows the order under its own product alone')
  }
  assert.equal((await shared().confirm(opened[0]!.body)).status, 200)
  await shared().until(order.orderId, ({ paid }) => paid)
  const paid = await pay(order.orderId, tokenOf(order))
  assert.equal(paid.status, 200)
  assert.equal(paid.body.status, 'paid')
  assert(!('clientSecret' in paid.body))
})

test('the holder of the link learns where to go on, and gets no files, no address and nothing of the seller’s', async () => {
  const onward = { successUrl: `${SITE}/thanks?cart=7`, cancelUrl: `${SITE}/cart` }
  const order = await made({ ...onward, metadata: { plan: 'team' }, clientReferenceId: 'cart-7' })
  await shared().confirm(order)
  await shared().until(order.orderId, ({ paid }) => paid)
  const status = await statusBy(order.orderId, tokenOf(order))
  assert.deepEqual(status, {
    orderId: order.orderId,
    status: 'paid',
    paid: true,
    amount: 1900,
    currency: 'USD',
    downloads: [],
    nextPollMs: null,
    statementDescriptor: order.statementDescriptor,
    ...onward,
  })
  for (const token of ['x', order.statusToken, tokenOf(await made())])
    assert(!('successUrl' in (await statusBy(order.orderId, token))), 'a stranger learns nothing')
  const withHint = new URLSearchParams({ token: tokenOf(order), email: 'b…@example.com' })
  const hinted = await shared().call('GET', `/api/checkout/${order.orderId}/status?${withHint}`)
  assert.deepEqual(hinted.body.downloads, [])
})

test('a free order has the link too, and nothing to pay', async () => {
  const order = await made({ productId: await shared().product({ priceMinor: 0 }) })
  const { status, body } = await pay(order.orderId, tokenOf(order))
  assert.equal(status, 200)
  assert.equal(body.status, 'paid')
  assert(!('clientSecret' in body))
})

test('a link made before the secret was rotated still pays', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.checkout()
  await shop.close()
  const next = await startTestShop(t, {
    databaseUrl: shop.databaseUrl,
    env: { SECRET: `another secret that is long enough here,${SECRET}` },
  })
  const { status } = await next.call('POST', `/api/checkout/${order.orderId}/payment`, { token: tokenOf(order) })
  assert.equal(status, 200)
})

test('the token of the way back tells where the order leads on to, and nothing else', async () => {
  const order = await made({ successUrl: `${SITE}/thanks?cart=7` })
  const { returnToken: token, orderId } = order
  assert.notEqual(token, tokenOf(order))
  assertProblem(await pay(orderId, token), 404, 'order_not_found')
  const anybody = await shared().status(orderId)
  assert.deepEqual(await statusBy(orderId, token), { ...anybody, successUrl: `${SITE}/thanks?cart=7` })
  assert(!('successUrl' in (await statusBy((await made()).orderId, token))))
})
