import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { forgetIdempotencyKeys } from '../../src/orders/create.ts'
import { moveOrderIfAllowed } from '../../src/orders/move.ts'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { recordJobs } from '../support/jobs.ts'
import { newBrowser } from '../support/seller.ts'
import { type Answer, assertProblem, eventually, sharedShop, startTestShop, type TestShop } from '../support/shop.ts'

const shared = sharedShop()
const buyer = () => `${randomUUID()}@example.com`

type Refused = { fields: { path: string }[] }

/** A product that may be had for `least` or more. */
async function namedPrice(shop: TestShop, least: number, more: { suggested?: number; currency?: string } = {}) {
  const productId = await shop.product({ priceMinor: least, currency: more.currency ?? 'USD' })
  await sql`
    update products set pay_what_you_want = true, suggested_minor = ${more.suggested ?? null} where id = ${productId}`.execute(
    shop.db,
  )
  return productId
}

const order = (shop: TestShop, body: object, headers?: Record<string, string>): Promise<Answer<Created & Refused>> =>
  shop.call('POST', '/api/checkout', { email: buyer(), ...body }, headers)

test('an amount for a product with a price of its own is ignored', async () => {
  const shop = shared()
  const productId = await shop.product()
  for (const chosenAmount of [0, 1, 1899, 999_999_999_999]) {
    const { status, body } = await order(shop, { productId, chosenAmount })
    assert.deepEqual([status, body.amount, body.status], [201, 1900, 'pending'])
    const { amountMinor } = (await shop.sandboxPayment(body.orderId)) as unknown as { amountMinor: number }
    assert.equal(amountMinor, 1900)
  }
})

test('amounts below the lowest price, above the maximum, and texts that are no amount are refused', async () => {
  const shop = shared()
  const productId = await namedPrice(shop, 500)
  for (const chosenAmount of [0, 1, 499])
    assertProblem(await order(shop, { productId, chosenAmount }), 422, 'amount_too_small')
  for (const chosenAmount of [-1, 1.5, '700', 1e12, null, true, [700], {}]) {
    const answer = await order(shop, { productId, chosenAmount })
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual([...new Set(answer.body.fields.map(({ path }) => path))], ['chosenAmount'])
  }
  const { rows } = await sql`select 1 from orders where product_id = ${productId}`.execute(shop.db)
  assert.equal(rows.length, 0)
})

test('the buyer pays the chosen price in every currency, and by default the lowest', async () => {
  const shop = shared()
  for (const [currency, least, chosen] of [
    ['USD', 500, 500],
    ['USD', 500, 12_345],
    ['JPY', 300, 301],
    ['KWD', 1000, 1005],
    ['USD', 500, undefined],
  ] as const) {
    const productId = await namedPrice(shop, least, { currency })
    const made = await order(shop, { productId, chosenAmount: chosen, email: 'bob@example.com' })
    assert.deepEqual([made.status, made.body.amount], [201, chosen ?? least])
    assert.equal((await shop.confirm(made.body)).status, 200)
    await shop.until(made.body.orderId, ({ paid }) => paid)
    assert.equal((await shop.transfers(made.body.orderId))[0]!.amountMinor, chosen ?? least)
  }
})

test('a product shows whether it is free or pay what you want, with its suggested price', async () => {
  const shop = shared()
  const view = async (id: string) => (await shop.call('GET', `/api/products/${id}/public`)).body
  const pick = ({ amount, free, payWhatYouWant, suggestedAmount }: Record<string, unknown>) => ({
    amount,
    free,
    payWhatYouWant,
    suggestedAmount,
  })
  assert.deepEqual(pick(await view(await shop.product({ priceMinor: 0 }))), {
    amount: 0,
    free: true,
    payWhatYouWant: false,
    suggestedAmount: undefined,
  })
  assert.deepEqual(pick(await view(await namedPrice(shop, 0, { suggested: 700 }))), {
    amount: 0,
    free: false,
    payWhatYouWant: true,
    suggestedAmount: 700,
  })
})

test('a free product is the buyer’s at once, without a processor, money or a fee', async () => {
  const shop = shared()
  const email = buyer()
  const productId = await shop.product({ priceMinor: 0 })
  const { status, body } = await order(shop, { productId, email, chosenAmount: 700 })
  const { orderId, statusToken: _token, payUrl: _link, returnToken: _back, ...rest } = body
  assert.equal(status, 201)
  assert.deepEqual(rest, { amount: 0, currency: 'USD', statementDescriptor: 'TILL* A BOOK', status: 'paid' })

  const seen = await shop.status(orderId, email)
  assert.deepEqual(
    [seen.status, seen.paid, seen.rail, seen.amount, seen.nextPollMs, seen.refundedAmount],
    ['paid', true, null, 0, null, 0],
  )
  assert.deepEqual(
    seen.timeline!.map(({ what }) => what),
    ['created', 'paid'],
  )
  assert.equal(await (await fetch(shop.url + new URL(seen.downloads[0]!.url).pathname)).text(), 'a book')
  assert.deepEqual((await shop.status(orderId)).downloads, [])
  assert.deepEqual(await shop.transfers(orderId), [])
  const { rows } = await sql`
    select o.due_at, o.rail, (select count(*)::int from payments p where p.order_id = o.id) as payments from orders o
    where o.id = ${orderId}`.execute(shop.db)
  assert.deepEqual(rows, [{ due_at: null, rail: null, payments: 0 }])

  const [mail, ...more] = await eventually(
    () => shop.mails(email),
    (mails) => mails.length > 0,
  )
  assert.equal(more.length, 0)
  assert.match(mail!.subject, /^Your receipt: A book/)
  assert.match(mail!.text, /Free/)
  assert.doesNotMatch(mail!.text, /statement|\$0|payment/i)
})

test('a chosen price of zero, if that is the lowest, is a free order too', async () => {
  const shop = shared()
  const productId = await namedPrice(shop, 0)
  for (const chosenAmount of [0, undefined]) {
    const { body } = await order(shop, { productId, chosenAmount })
    assert.deepEqual([body.amount, body.status, body.clientSecret], [0, 'paid', undefined])
  }
  const { body } = await order(shop, { productId, chosenAmount: 100 })
  assert.deepEqual([body.amount, body.status], [100, 'pending'])
})

test('twenty clicks on “get it” are one order and one mail', async () => {
  const shop = shared()
  await recordJobs(shop.db)
  const email = buyer()
  const productId = await shop.product({ priceMinor: 0 })
  const headers = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 20 }, () => order(shop, { productId, email }, headers)))
  for (const { status, body } of answers) assert.deepEqual([status, body], [201, answers[0]!.body])
  const { rows } = await sql<{ orders: number; jobs: number }>`
    select count(*)::int as orders, (select count(*)::int from added_jobs j where j.data->>'orderId' = min(o.id)) as jobs
    from orders o where email = ${email}`.execute(shop.db)
  assert.deepEqual(rows, [{ orders: 1, jobs: 1 }])
})

test('a key belongs to the chosen price, and keys of earlier versions still work', async () => {
  const shop = shared()
  const productId = await namedPrice(shop, 100)
  const email = buyer()
  const headers = { 'idempotency-key': randomUUID() }
  const first = await order(shop, { productId, email, chosenAmount: 700 }, headers)
  assert.deepEqual((await order(shop, { productId, email, chosenAmount: 700 }, headers)).body, first.body)
  for (const other of [{ chosenAmount: 701 }, {}, { chosenAmount: 700, discountCode: 'SUMMER' }])
    assertProblem(await order(shop, { productId, email, ...other }, headers), 409, 'idempotency_key_reused')

  const plain = { 'idempotency-key': randomUUID() }
  const made = await order(shop, { productId, email }, plain)
  const { rows } = await sql<{ hash: string }>`
    select encode(request_hash, 'hex') as hash from orders where id = ${made.body.orderId}
      and request_hash = sha256(convert_to(${JSON.stringify([productId, email])}, 'UTF8'))`.execute(shop.db)
  assert.equal(rows.length, 1)
  await forgetIdempotencyKeys(shop.db)
  assert.equal((await order(shop, { productId, email }, plain)).body.orderId, made.body.orderId)
})

test('a free order cannot be refunded, expire, or be found as a charge', async () => {
  const shop = shared()
  const { body } = await order(shop, { productId: await shop.product({ priceMinor: 0 }) })
  const seller = newBrowser(shop)
  await seller.signInByCode('ann@shop.test')
  const refund = await seller.call('POST', `/api/orders/${body.orderId}/refunds`, {})
  assertProblem(refund, 409, 'order_not_refundable')
  assert.equal(await shop.db.transaction().execute((tx) => moveOrderIfAllowed(tx, body.orderId, 'expire')), undefined)
  await shop.syncDue()
  assert.equal((await shop.status(body.orderId)).status, 'paid')
})

test('a mailbox gets only so many mails about free orders an hour, and every order all the same', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'free_mail=3/3600' } })
  await recordJobs(shop.db)
  const email = buyer()
  const productId = await shop.product({ priceMinor: 0 })
  const made = await Promise.all(Array.from({ length: 5 }, () => order(shop, { productId, email })))
  for (const { body } of made) assert.equal((await shop.status(body.orderId, email)).downloads.length, 1)
  const tagged = await order(shop, { productId, email: email.replace('@', '+more@') })
  assert.equal(tagged.status, 201)
  const pointed = await order(shop, { productId, email: email.replace(/^../, '$&.') })
  assert.equal(pointed.status, 201)
  const seller = newBrowser(shop)
  await seller.signInByCode('ann@shop.test')
  for (const { body } of [...made, tagged, pointed]) {
    const resent = await seller.call('POST', `/api/orders/${body.orderId}/receipt`, {})
    assertProblem(resent, 429, 'rate_limited')
  }
  const { rows } = await sql<{ jobs: number }>`
    select count(*)::int as jobs from added_jobs where queue = 'mail'`.execute(shop.db)
  assert.deepEqual(rows, [{ jobs: 3 }])
  const { body: events } = await seller.call('GET', '/api/events')
  const receipts = events.items.map(({ data }: { data: { order: { receipt: string } } }) => data.order.receipt)
  assert.deepEqual(receipts.toSorted(), ['held', 'held', 'held', 'held', 'sent', 'sent', 'sent'])
  const again = await shop.call('POST', `/api/checkout/${made[0]!.body.orderId}/receipt`, { email })
  assertProblem(again, 429, 'rate_limited')
  const other = await shop.call('POST', `/api/checkout/${made[0]!.body.orderId}/receipt`, { email: buyer() })
  assert.equal(other.status, 202, 'without the address the response reveals nothing')
})

test('the reconciliation holds with free orders, and notices an order that is only marked as free', async () => {
  const shop = shared()
  const { body } = await order(shop, { productId: await shop.product({ priceMinor: 0 }) })
  const result = () =>
    reconcileBooks({
      database: { connectionString: shop.databaseUrl },
      processors: new Map(),
      from: new Date(Date.now() - 86_400_000),
      to: new Date(),
      graceMs: 0,
    })
  assert.deepEqual((await result()).differences, [])
  const price = (minor: number) =>
    sql`update orders set amount_minor = ${minor}, fee_minor = fee_of(${minor}) where id = ${body.orderId}`.execute(
      shop.db,
    )
  await price(1900)
  const found = (await result()).differences.map(({ what }) => what)
  assert.deepEqual(found.sort(), ['fee_differs', 'paid_without_capture', 'sale_differs'])
  await price(0)
})
