import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { type Browser, newBrowser } from '../support/seller.ts'
import { type Answer, assertProblem, sharedShop } from '../support/shop.ts'

const shared = sharedShop()
let ann: Browser
before(async () => {
  ann = newBrowser(shared())
  await ann.signInByCode('ann@shop.test')
  for (const host of ['shop.example', '*.wild.example', 'localhost:3000'])
    assert.equal((await ann.call('PUT', `/api/sites/${host}`)).status, 200)
})

const email = 'bob@example.com'
const order = (fields: object, headers: Record<string, string> = {}): Promise<Answer> =>
  shared().call('POST', '/api/checkout', { email, ...fields }, headers)
const made = async (fields: object): Promise<Created> => {
  const answer = await order({ productId: await shared().product(), ...fields })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
const own = async (orderId: string) => (await ann.call('GET', `/api/orders/${orderId}`)).body
const FIELDS = {
  clientReferenceId: 'cart 1042 “ü”',
  metadata: { plan: 'team', 'user.id': '7', note: 'a "quoted" \\ text, ünï 😀' },
  successUrl: 'https://shop.example/thanks?cart=1042#top',
  cancelUrl: 'https://a.wild.example/cart',
}

test('the seller sees what a site added to the order, everywhere', async () => {
  const productId = await shared().product()
  const { orderId } = await made({ productId, ...FIELDS })
  const detail = await own(orderId)
  for (const [name, value] of Object.entries(FIELDS)) assert.deepEqual(detail[name], value, name)
  const list = await ann.call('GET', `/api/orders?${new URLSearchParams({ productId })}`)
  const { clientReferenceId, metadata, successUrl } = list.body.items[0]
  assert.deepEqual(
    { clientReferenceId, metadata },
    { clientReferenceId: FIELDS.clientReferenceId, metadata: FIELDS.metadata },
  )
  assert.equal(successUrl, undefined)
  const csv = await ann.call('GET', `/api/orders?${new URLSearchParams({ productId, format: 'csv' })}`)
  const [names, line] = csv.body.split('\r\n')
  assert.match(names, /,client_reference_id,metadata$/)
  assert(line.includes(`,none,${FIELDS.clientReferenceId},"{""note""`), line)
  assert(line.includes('""plan"":""team""'), line)
})

test('an order with a chosen price, a code or no price keeps it too', async () => {
  for (const product of [{ priceMinor: 0 }, { priceMinor: 500, payWhatYouWant: true }]) {
    const { orderId } = await made({ productId: await shared().product(product), ...FIELDS })
    assert.deepEqual((await own(orderId)).metadata, FIELDS.metadata)
  }
})

test('orders are found by the reference, and by no other seller', async () => {
  const clientReferenceId = randomUUID()
  const [first, second] = [await made({ clientReferenceId }), await made({ clientReferenceId })]
  await made({ clientReferenceId: `${clientReferenceId}x` })
  const found = async (browser: Browser, more = {}) =>
    (await browser.call('GET', `/api/orders?${new URLSearchParams({ clientReferenceId, ...more })}`)).body
  assert.deepEqual(
    (await found(ann)).items.map(({ orderId }: { orderId: string }) => orderId),
    [second.orderId, first.orderId],
  )
  const page = await found(ann, { limit: '1' })
  assert.equal((await found(ann, { limit: '1', cursor: page.nextCursor })).items[0].orderId, first.orderId)
  await ensureSeller(shared().db, { name: 'Eve', email: 'eve@shop.test' })
  const eve = newBrowser(shared())
  await eve.signInByCode('eve@shop.test')
  assert.deepEqual((await found(eve)).items, [])
})

test('strangers see none of it, and the buyer sees only where to go', async () => {
  const { orderId } = await made(FIELDS)
  const stranger = await shared().status(orderId)
  const buyer = await shared().status(orderId, email)
  for (const answer of [stranger, buyer])
    assert.doesNotMatch(JSON.stringify(answer), /team|cart 1042|metadata|clientRef/)
  assert(!('successUrl' in stranger) && !('cancelUrl' in stranger))
  assert.equal(buyer.successUrl, FIELDS.successUrl)
  assert.equal(buyer.cancelUrl, FIELDS.cancelUrl)
})

test('the same key with other fields is another request, in whatever order they are sent', async () => {
  const productId = await shared().product()
  const headers = { 'idempotency-key': randomUUID() }
  const { note, ...rest } = FIELDS.metadata
  const first = await order({ productId, ...FIELDS }, headers)
  const again = await order({ ...FIELDS, metadata: { note, ...rest }, productId }, headers)
  assert.equal(again.body.orderId, first.body.orderId)
  for (const other of [
    {},
    { ...FIELDS, metadata: { ...FIELDS.metadata, plan: 'solo' } },
    { ...FIELDS, metadata: {} },
    { ...FIELDS, clientReferenceId: 'cart 1043' },
    { ...FIELDS, successUrl: 'https://shop.example/other' },
    { ...FIELDS, cancelUrl: undefined },
  ])
    assertProblem(await order({ productId, ...other }, headers), 409, 'idempotency_key_reused')
})

test('ten requests at once with one key make one order', async () => {
  const productId = await shared().product()
  const headers = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 10 }, () => order({ productId, ...FIELDS }, headers)))
  assert.equal(new Set(answers.map(({ body }) => body.orderId)).size, 1)
})

test('without these fields a request has the hash of earlier versions', async () => {
  const productId = await shared().product()
  const headers = { 'idempotency-key': randomUUID() }
  const first = await order({ productId, metadata: {} }, headers)
  assert.equal((await order({ productId }, headers)).body.orderId, first.body.orderId)
})

test('metadata that is too much, or no text, is refused and nothing is stored', async () => {
  const productId = await shared().product()
  const many = (count: number, value = 'x') =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]))
  for (const metadata of [
    many(21),
    many(9, 'x'.repeat(500)),
    many(9, 'ü'.repeat(250)),
    { k: 'x'.repeat(501) },
    { 'a key': 'x' },
    { '': 'x' },
    { ['k'.repeat(41)]: 'x' },
    { schlüssel: 'x' },
    { k: 1 },
    { k: null },
    { k: ['x'] },
    { k: { deep: 'x' } },
    { k: 'a\u0000b' },
    { k: '\ud800' },
    ['x'],
    'x',
    null,
  ])
    assertProblem(await order({ productId, metadata }), 400, 'validation_failed')
  for (const clientReferenceId of ['', 'x'.repeat(201), 'a\u0000b', 'a\nb', '\ud800', 7, {}])
    assertProblem(await order({ productId, clientReferenceId }), 400, 'validation_failed')
  const { rows } = await sql`select from orders where product_id = ${productId}`.execute(shared().db)
  assert.equal(rows.length, 0)
  assert.equal((await order({ productId, metadata: many(20, 'x'.repeat(200)) })).status, 201)
  assert.equal((await order({ productId, metadata: many(8, 'x'.repeat(500)) })).status, 201)
})

test('the name of a prototype is a name like others, or refused', async () => {
  const productId = await shared().product()
  const body = `{"productId":"${productId}","email":"${email}","metadata":{"__proto__":"x"}}`
  assertProblem(await shared().call('POST', '/api/checkout', body), 400, 'malformed_body')
  const { orderId } = await made({ metadata: { constructor: 'x', toString: 'y', hasOwnProperty: 'z' } })
  assert.deepEqual({ ...(await own(orderId)).metadata }, { constructor: 'x', toString: 'y', hasOwnProperty: 'z' })
})

test('a card’s number in any of the fields is refused', async () => {
  const productId = await shared().product()
  const number = '4242 4242 4242 4242'
  for (const fields of [
    { metadata: { note: number } },
    { metadata: { '4242-4242-4242-4242': 'x' } },
    { clientReferenceId: number },
    { successUrl: 'https://shop.example/?n=4242424242424242' },
  ])
    assertProblem(await order({ productId, ...fields }), 400, 'card_number_refused')
})

test('an address outside of the seller’s sites is refused, and no order is made', async () => {
  const productId = await shared().product()
  for (const url of [
    'https://evil.test/',
    'http://shop.example/',
    'https://shop.example.evil.test/',
    'https://shop.example@evil.test/',
    'https://wild.example/',
    '//shop.example/',
    '/thanks',
    'javascript:alert(1)',
    'not an address',
    '',
  ]) {
    assertProblem(await order({ productId, successUrl: url }), 422, 'success_url_not_allowed')
    assertProblem(await order({ productId, cancelUrl: url }), 422, 'cancel_url_not_allowed')
  }
  assertProblem(
    await order({ productId, successUrl: `https://shop.example/${'x'.repeat(2000)}` }),
    400,
    'validation_failed',
  )
  const { rows } = await sql`select from orders where product_id = ${productId}`.execute(shared().db)
  assert.equal(rows.length, 0)
})

test('another seller’s sites do not count', async () => {
  const sellerId = await ensureSeller(shared().db, { name: 'Mallory', email: 'mallory@shop.test', trusted: true })
  const productId = await shared().product({ sellerId })
  assertProblem(await order({ productId, successUrl: FIELDS.successUrl }), 422, 'success_url_not_allowed')
})

test('a repeat gets its order also after the seller has removed the site', async () => {
  await ann.call('PUT', '/api/sites/gone.example')
  const productId = await shared().product()
  const fields = { productId, successUrl: 'https://gone.example/thanks' }
  const headers = { 'idempotency-key': randomUUID() }
  const first = await order(fields, headers)
  await ann.call('DELETE', '/api/sites/gone.example')
  assert.equal((await order(fields, headers)).body.orderId, first.body.orderId)
  assertProblem(await order(fields), 422, 'success_url_not_allowed')
  assertProblem(await order({ ...fields, clientReferenceId: 'x' }, headers), 409, 'idempotency_key_reused')
  assert.equal((await shared().status(first.body.orderId, email)).successUrl, fields.successUrl)
})
