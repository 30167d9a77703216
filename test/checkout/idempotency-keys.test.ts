import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { forgetIdempotencyKeys } from '../../src/orders/create.ts'
import { count } from '../support/seller.ts'
import { assertProblem, sharedShop } from '../support/shop.ts'

const shared = sharedShop()

const buyer = () => `${randomUUID()}@example.com`
const newKey = () => randomUUID()

test('the same request with the same key is the same order, however often it is sent', async () => {
  const shop = shared()
  const productId = await shop.product()
  const email = buyer()
  const headers = { 'idempotency-key': newKey() }
  const send = (body: object) => shop.call<Created>('POST', '/api/checkout', body, headers)
  const first = await send({ productId, email })
  assert.equal(first.status, 201)
  // ignored fields and the spelling of the address do not change the request's identity
  for (const body of [
    { productId, email },
    { productId, email: ` ${email.toUpperCase()} ` },
    { email, productId, price: 1 },
  ]) {
    const again = await send(body)
    assert.equal(again.status, 201)
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers.get('location'), first.headers.get('location'))
  }
})

test('twenty clicks at the same time make one order and one payment', async () => {
  const shop = shared()
  const productId = await shop.product()
  const email = buyer()
  const headers = { 'idempotency-key': newKey() }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => shop.call<Created>('POST', '/api/checkout', { productId, email }, headers)),
  )
  for (const answer of answers) {
    assert.equal(answer.status, 201)
    assert.deepEqual(answer.body, answers[0]!.body)
  }
  const { rows } = await sql<{ orders: number; attempts: number; sandbox: number }>`
    select count(distinct o.id)::int as orders, count(p.id)::int as attempts,
      (select count(*)::int from sandbox_payments s where s.payment->>'orderId' = min(o.id)) as sandbox
    from orders o left join payments p on p.order_id = o.id where o.email = ${email}`.execute(shop.db)
  assert.deepEqual(rows, [{ orders: 1, attempts: 1, sandbox: 1 }])
})

test('a key belongs to its product and address: a stranger who guesses it gets nothing of another buyer', async () => {
  const shop = shared()
  const [productId, other] = [await shop.product(), await shop.product()]
  const email = buyer()
  const headers = { 'idempotency-key': newKey() }
  const { orderId } = await shop.checkout({ productId, email }, headers)
  for (const body of [
    { productId: other, email },
    { productId, email: buyer() },
  ]) {
    const answer = await shop.call<Created>('POST', '/api/checkout', body, headers)
    assert.equal(answer.status, 201)
    assert.notEqual(answer.body.orderId, orderId)
    assert.deepEqual((await shop.call('POST', '/api/checkout', body, headers)).body, answer.body)
  }
  assert.equal((await shop.checkout({ productId, email }, headers)).orderId, orderId)
})

test('a key that was used with another price is refused, and the first order stays', async () => {
  const shop = shared()
  const productId = await shop.product()
  const email = buyer()
  const headers = { 'idempotency-key': newKey() }
  const { orderId } = await shop.checkout({ productId, email }, headers)
  const answer = await shop.call('POST', '/api/checkout', { productId, email, chosenAmount: 5000 }, headers)
  assertProblem(answer, 409, 'idempotency_key_reused')
  assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(`${orderId}|${email}`))
  const { rows } = await sql`select id from orders where email = ${email}`.execute(shop.db)
  assert.deepEqual(rows, [{ id: orderId }])
})

test('a key of an order that was made before keys belonged to a product and an address is still good', async () => {
  const shop = shared()
  const key = newKey()
  for (const more of [{}, { chosenAmount: 1900 }]) {
    const body = { productId: await shop.product(), email: buyer(), ...more }
    const send = () => shop.call<Created>('POST', '/api/checkout', body, { 'idempotency-key': key })
    const { orderId } = (await send()).body
    await sql`update orders set idempotency_key = sha256(convert_to(${key}, 'UTF8')) where id = ${orderId}`.execute(
      shop.db,
    )
    assert.equal((await send()).body.orderId, orderId)
    const another = await shop.checkout({ ...body, email: buyer() }, { 'idempotency-key': key })
    assert.notEqual(another.orderId, orderId)
    await sql`update orders set idempotency_key = null, request_hash = null where id = ${orderId}`.execute(shop.db)
  }
})

test('a key that a machine would not make is refused', async () => {
  const shop = shared()
  const productId = await shop.product()
  const before = await count(shop, 'orders')
  for (const key of [
    '',
    'short',
    'f'.repeat(15),
    'f'.repeat(256),
    `${'f'.repeat(16)} ${'f'.repeat(16)}`,
    'ü'.repeat(20),
  ]) {
    const answer = await shop.call('POST', '/api/checkout', { productId, email: buyer() }, { 'idempotency-key': key })
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual([...new Set(answer.body.fields.map(({ path }: { path: string }) => path))], ['idempotency-key'])
  }
  assert.equal(await count(shop, 'orders'), before)
  for (const key of ['f'.repeat(16), 'f'.repeat(255), "';drop-table-orders;--"]) {
    const answer = await shop.call('POST', '/api/checkout', { productId, email: buyer() }, { 'idempotency-key': key })
    assert.equal(answer.status, 201)
  }
})

test('a key is forgotten after a day, not while the order can be paid, and never the order', async () => {
  const shop = shared()
  const productId = await shop.product()
  const email = buyer()
  const headers = { 'idempotency-key': newKey() }
  const first = await shop.checkout({ productId, email }, headers)
  const isForgotten = async (state: string, age: string) => {
    await sql`
      update orders set state = ${state}, created_at = now() - ${age}::interval where id = ${first.orderId}`.execute(
      shop.db,
    )
    await forgetIdempotencyKeys(shop.db)
    return (await shop.checkout({ productId, email }, headers)).orderId !== first.orderId
  }
  assert.equal(await isForgotten('expired', '23 hours 59 minutes'), false)
  assert.equal(await isForgotten('pending', '24 hours 1 minute'), false)
  assert.equal(await isForgotten('expired', '24 hours 1 minute'), true)
  assert.equal((await shop.status(first.orderId)).status, 'expired')
})

test('a page that reloads after the payment is given its paid order, and no way to pay again', async () => {
  const shop = shared()
  const productId = await shop.product()
  const headers = { 'idempotency-key': newKey() }
  const order = await shop.checkout({ productId }, headers)
  assert.equal((await shop.confirm(order)).status, 200)
  await shop.until(order.orderId, ({ paid }) => paid)
  const again = await shop.checkout({ productId }, headers)
  assert.deepEqual(again, {
    orderId: order.orderId,
    amount: 1900,
    currency: 'USD',
    statementDescriptor: 'TILL* A BOOK',
    status: 'paid',
    statusToken: order.statusToken,
    payUrl: order.payUrl,
    returnToken: order.returnToken,
  })
})

test('a client that knows only a buyer’s product and address gets an order of its own', async () => {
  const shop = shared()
  const productId = await shop.product()
  const email = buyer()
  const paid = await shop.paid({ productId, email })
  const stranger = await shop.checkout({ productId, email })
  assert.notEqual(stranger.orderId, paid.orderId)
  assert.equal(stranger.status, 'pending')
  assert.deepEqual((await shop.status(stranger.orderId, email)).downloads, [])
})
