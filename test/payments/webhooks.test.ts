import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import {
  RECEIPT,
  captureOf,
  mailsAbout,
  newEventId,
  query,
  sendRaw,
  sharedPair,
  signed,
  snapshotOf,
  times,
} from '../stand-ins/processor.ts'
import { openJobs, recordJobs } from '../support/jobs.ts'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { startService } from '../support/service.ts'
import {
  type TestShop,
  assertProblem,
  eventually,
  newDatabase,
  startTestShop,
  temporaryFolder,
} from '../support/shop.ts'

const shared = sharedPair()
const now = () => Math.floor(Date.now() / 1000)

/** An order, and a notification that it was paid, which was not sent yet. */
async function orderAndNews(shop: TestShop) {
  const order = await shop.checkout()
  const payment = await snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order)] })
  const id = newEventId()
  return { order, payment, id, body: JSON.stringify({ id, type: 'payment.captured', payment }) }
}

async function assertNothingCameOfIt(shop: TestShop, order: Created, eventId: string): Promise<void> {
  assert.equal((await shop.status(order.orderId)).status, 'pending')
  assert.deepEqual(await shop.transfers(order.orderId), [])
  assert.deepEqual(await eventRows(shop, eventId), [])
}

const eventRows = (shop: TestShop, eventId: string) =>
  query<{ outcome: string; payment: string | null }>(
    shop.db,
    sql`select outcome, processor_payment_id as payment from processor_events where event_id = ${eventId}`,
  )

test('the signature is over the bytes, not their meaning: reordered members and spaces are verified as they came', async () => {
  const [shop] = shared()
  const { order, payment, id } = await orderAndNews(shop)
  const body = ` {\n "payment":\t${JSON.stringify(payment, null, 3)} ,\r\n"type" : "payment.\\u0063aptured", "id":"${id}"\n} `
  const answer = await sendRaw(shop, body, { id })
  assert.deepEqual([answer.status, answer.body], [200, { received: true }])
  assert.equal((await shop.status(order.orderId)).status, 'paid')
  assert.deepEqual(await eventRows(shop, id), [{ outcome: 'applied', payment: payment.processorPaymentId }])
})

test('the content type of a notification does not matter: its bytes are never read as anything before the check', async () => {
  const [shop] = shared()
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    ';;;',
    '',
    ' ',
    '/',
    'a/b/c',
    'é',
    'x'.repeat(2000),
  ]) {
    const { order, id, body } = await orderAndNews(shop)
    assert.equal((await sendRaw(shop, body, { id, headers: { 'content-type': type } })).status, 200, type)
    assert.equal((await shop.status(order.orderId)).status, 'paid')
  }
})

test('a notification signed with another secret is refused without a reason, and not stored', async () => {
  const [shop] = shared()
  const { order, id, body } = await orderAndNews(shop)
  const answer = await sendRaw(shop, body, { id, secret: 'another secret that is just as long as ours' })
  assertProblem(answer, 400, 'invalid_signature')
  await assertNothingCameOfIt(shop, order, id)
})

test('one changed byte of a body, id or time is refused', async () => {
  const [shop] = shared()
  const { order, id, body } = await orderAndNews(shop)
  const changed = [
    { body: body.replace(`"amountMinor":${order.amount}`, `"amountMinor":${order.amount + 1}`) },
    { body: `${body} ` },
    { body: body.slice(0, -1) },
    { body: '' },
    { headers: { 'webhook-id': `${id}x` } },
    { headers: { 'webhook-timestamp': String(now() - 1) } },
  ]
  for (const { body: sent = body, headers = {} } of changed) {
    const answer = await shop.call('POST', '/api/webhooks/sandbox', sent, { ...signed(body, { id }), ...headers })
    assertProblem(answer, 400, 'invalid_signature')
  }
  await assertNothingCameOfIt(shop, order, id)
})

test('missing, garbled and endless headers are refused quickly, and nothing is stored', async () => {
  const [shop] = shared()
  const { order, id, body } = await orderAndNews(shop)
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const garbage = [
    '',
    ' ',
    'v1,',
    'v1',
    'v1,AAAA',
    'v2,AAAA',
    'null',
    '-1',
    '1e9',
    'NaN',
    'x'.repeat(5000),
    'v1,a '.repeat(1000),
  ]
  for (const name of names) {
    for (const value of garbage) {
      const answer = await sendRaw(shop, body, { id, headers: { [name]: value } })
      assertProblem(answer, 400, 'invalid_signature')
    }
    const { [name]: _missing, ...rest } = signed(body, { id })
    assertProblem(await shop.call('POST', '/api/webhooks/sandbox', body, rest), 400, 'invalid_signature')
  }
  await assertNothingCameOfIt(shop, order, id)
})

test('many forged notifications raise an alarm only if they look signed', async (t) => {
  const api = 'http://127.0.0.1:9'
  const { call, output } = await startService(t, await temporaryFolder(t), {
    DATABASE_URL: await newDatabase(t),
    LOG_LEVEL: 'error',
    STRIPE_API_URL: api,
    STRIPE_SECRET_KEY: 'sk_test_x',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_x',
    STRIPE_WEBHOOK_SECRET: 'whsec_xx',
    RAZORPAY_API_URL: api,
    RAZORPAY_KEY_ID: 'rzp_test_x',
    RAZORPAY_KEY_SECRET: 'x',
    RAZORPAY_WEBHOOK_SECRET: 'whsec_xx',
    PROCESSORS: 'sandbox,stripe,razorpay',
  })
  const alarms = () =>
    [...output().matchAll(/"processor":"(\w+)","msg":"notifications are refused/g)].map(([, name]) => name)
  const hex = 'ab'.repeat(32)
  const mac = Buffer.from(hex, 'hex').toString('base64')
  const signedHeaders = {
    sandbox: { 'webhook-id': 'x', 'webhook-timestamp': '1', 'webhook-signature': `v1,${mac}` },
    stripe: { 'stripe-signature': `t=${now()},v1=${hex},v0=${hex}` },
    razorpay: { 'x-razorpay-signature': hex },
  }
  const send = async (processor: string, headers: Record<string, string>) => {
    for (let time = 0; time < 10; time++)
      assert.equal((await call('POST', `/api/webhooks/${processor}`, {}, { headers })).status, 400)
  }
  for (const [processor, headers] of Object.entries(signedHeaders)) {
    await send(processor, {})
    for (const value of ['', 'x', 't=,v1=', 'v1,', 'v1', `t=1,v0=${hex}`, hex.slice(1), `t=x,v1=${hex}`])
      await send(processor, Object.fromEntries(Object.keys(headers).map((name) => [name, value])))
  }
  assert.deepEqual(alarms(), [])
  for (const [processor, headers] of Object.entries(signedHeaders)) await send(processor, headers)
  await eventually(async () => alarms(), ({ length }) => length >= 3) // oxfmt-ignore
  assert.deepEqual(alarms(), ['sandbox', 'stripe', 'razorpay'])
})

test('a notification that is ten minutes old, or an hour ahead, is refused; one that is minutes off is accepted', async () => {
  const [shop] = shared()
  const { order, id, body } = await orderAndNews(shop)
  for (const after of [-600, -320, 320, 3600, -now()])
    assertProblem(await sendRaw(shop, body, { id, seconds: now() + after }), 400, 'invalid_signature')
  await assertNothingCameOfIt(shop, order, id)
  assert.equal((await sendRaw(shop, body, { id, seconds: now() - 240 })).status, 200)
  assert.equal((await sendRaw(shop, body, { id, seconds: now() + 240 })).status, 200)
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('a signed body that is no notification is refused, and is no failure of ours', async () => {
  const [shop] = shared()
  for (const body of ['', 'not json', '{"id":', 'null', '7', '[]', '"text"', '{}']) {
    const answer = await sendRaw(shop, body)
    assertProblem(answer, 400, 'invalid_signature')
  }
})

test('a notification whose body has another id than was signed is refused', async () => {
  const [shop] = shared()
  const { order, id, body } = await orderAndNews(shop)
  assertProblem(await sendRaw(shop, body, { id: newEventId() }), 400, 'invalid_signature')
  await assertNothingCameOfIt(shop, order, id)
})

test('a processor that is not configured has no address', async () => {
  const [shop] = shared()
  const { order, id, body } = await orderAndNews(shop)
  for (const processor of ['stripe', 'SANDBOX', 'sandbox2', 'constructor', '__proto__', '%2e%2e', 'x'.repeat(40)]) {
    assert.equal((await sendRaw(shop, body, { id, processor })).status, 404, processor)
  }
  await assertNothingCameOfIt(shop, order, id)
})

test('while a secret is rotated, notifications of the old and of the new one are taken; of an older one never', async (t) => {
  const [older, old, fresh] = ['older', 'old', 'new'].map((name) => `the ${name} secret which is long enough now`)
  const shop = await startTestShop(t, { env: { SECRET: `${fresh},${old}` } })
  for (const secret of [old, fresh]) {
    const { order, id, body } = await orderAndNews(shop)
    assert.equal((await sendRaw(shop, body, { id, secret: secret! })).status, 200)
    assert.equal((await shop.status(order.orderId)).status, 'paid')
  }
  const { order, id, body } = await orderAndNews(shop)
  assertProblem(await sendRaw(shop, body, { id, secret: older! }), 400, 'invalid_signature')
  await assertNothingCameOfIt(shop, order, id)
})

test('of several signatures in one header one valid one is enough', async () => {
  const [shop] = shared()
  const { order, id, body } = await orderAndNews(shop)
  const headers = signed(body, { id })
  const other = `v1,${randomBytes(32).toString('base64')}`
  headers['webhook-signature'] = `${other} v1a,x ${headers['webhook-signature']} ${other}`
  const answer = await shop.call('POST', '/api/webhooks/sandbox', body, headers)
  assert.equal(answer.status, 200)
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('one notification six times at once, at two services, is one row, one sale and one mail', async () => {
  const [shop, other] = shared()
  const { order, id, body } = await orderAndNews(shop)
  const answers = await times(6, (i) => sendRaw(i % 2 ? other : shop, body, { id }))
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(6).fill(200),
  )
  assert.equal((await eventRows(shop, id)).length, 1)
  assert.deepEqual(
    (await shop.transfers(order.orderId)).map(({ kind }) => kind),
    ['sale', 'fee'],
  )
  assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
})

test('two different notifications of one fact book it once', async () => {
  const [shop, other] = shared()
  const { order, payment } = await orderAndNews(shop)
  const answers = await times(8, (i) =>
    (i % 2 ? other : shop).notify({ type: i < 4 ? 'charge.ok' : 'payment.ok', payment }),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(8).fill(200),
  )
  assert.deepEqual(
    (await shop.transfers(order.orderId)).map(({ kind }) => kind),
    ['sale', 'fee'],
  )
  assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
})

test('a notification about another service’s payment is accepted, stored as unknown, and changes nothing', async () => {
  const [shop] = shared()
  const { order, payment } = await orderAndNews(shop)
  const strange = { ...payment, processorPaymentId: 'sbx_pi_of_another_shop' }
  for (const orderId of [order.orderId, undefined, 'ord_00000000000000000000000000', "'; drop table orders; --"]) {
    const id = newEventId()
    assert.equal((await shop.notify({ id, payment: { ...strange, orderId } })).status, 200)
    assert.deepEqual(await eventRows(shop, id), [{ outcome: 'unknown_payment', payment: 'sbx_pi_of_another_shop' }])
  }
  assert.equal((await shop.status(order.orderId)).status, 'pending')
  assert.deepEqual(await shop.transfers(order.orderId), [])
})

test('the order that a notification names does not count: the payment decides', async () => {
  const [shop] = shared()
  const mine = await shop.checkout()
  const { order: theirs, payment } = await orderAndNews(shop)
  assert.equal((await shop.notify({ payment: { ...payment, orderId: mine.orderId } })).status, 200)
  assert.equal((await shop.status(mine.orderId)).status, 'pending')
  assert.equal((await shop.status(theirs.orderId)).status, 'paid')
})

test('a notification about no payment is accepted and stored, and unknown kinds and members do no harm', async () => {
  const [shop] = shared()
  const id = newEventId()
  const body = JSON.stringify({ id, type: 'account.updated', livemode: true, apiVersion: '2031-01-01' })
  assert.equal((await sendRaw(shop, body, { id })).status, 200)
  assert.equal((await shop.notify({ id, type: 'account.updated' })).status, 200)
  assert.deepEqual(await eventRows(shop, id), [{ outcome: 'ignored', payment: null }])

  const { order, payment } = await orderAndNews(shop)
  const strange = {
    ...payment,
    livemode: false,
    captures: payment.captures.map((one) => ({ ...one, risk: { score: 3 } })),
  }
  assert.equal((await shop.notify({ type: 'something.new', payment: strange })).status, 200)
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('a notification that arrives before our own row of the payment is asked to come again, and then counts', async () => {
  const [shop] = shared()
  const key = randomBytes(16).toString('hex')
  const productId = await shop.product()
  const order = await shop.checkout({ productId }, { 'idempotency-key': key })
  const payment = await snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order)] })
  const event = { id: newEventId(), payment }
  await sql`update payments set state = 'starting', processor_payment_id = null where order_id = ${order.orderId}`.execute(
    shop.db,
  )

  const early = await shop.notify(event)
  assertProblem(early, 503, 'payment_unknown')
  assert.ok(Number(early.headers.get('retry-after')) > 0)
  assert.deepEqual(await eventRows(shop, event.id), [])

  assert.deepEqual(await shop.checkout({ productId }, { 'idempotency-key': key }), order)
  assert.equal((await shop.notify(event)).status, 200)
  assert.equal((await shop.status(order.orderId)).status, 'paid')
  assert.deepEqual(
    (await eventRows(shop, event.id)).map(({ outcome }) => outcome),
    ['applied'],
  )
})

test('another amount or another currency is never a sale: a person must look, and there are no links', async () => {
  const [shop] = shared()
  const wrong = [{ amountMinor: 1899 }, { amountMinor: 1901 }, { amountMinor: 1 }, { currency: 'INR' }]
  for (const differently of wrong) {
    const order = await shop.checkout()
    const payment = await snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order, differently)] })
    assert.equal((await shop.notify({ payment })).status, 200, JSON.stringify(differently))
    const status = await shop.status(order.orderId, 'bob@example.com')
    assert.deepEqual([status.status, status.paid, status.downloads, status.paidAt], ['needs_review', false, [], null])
    assert.equal(status.timeline!.at(-1)!.what, 'needs_review')
    assert.deepEqual(
      (await shop.transfers(order.orderId)).map(({ kind, credit }) => [kind, credit]),
      [['held', 'held']],
    )
    assert.deepEqual(await mailsAbout(shop, order), ['We’re reviewing your payment: A book'])
  }
})

test('a notification about a payment that takes too long to read is answered with 200 and read by a job, once however often it comes', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t, { deadlines: { webhookAskMs: 300 } })
  await recordJobs(shop.db)
  const order = await shop.checkout({ productId: await rupees() })
  bank.notifying.when = 'never'
  const { id: captureId } = bank.pay(order.clientSecret!)
  const release = bank.hold(/^GET \/v1\/disputes$/)
  bank.openDispute(captureId)
  const news = bank.notifications.at(-1)!
  bank.notifying.tries = 1
  for (let i = 0; i < 3; i++) assert.equal(await bank.again(news), 200)
  const later = () => query<{ data: object }>(shop.db, sql`select data from added_jobs where queue = 'ask_later'`)
  assert.equal((await later()).length, 1)
  assert.deepEqual(await eventRows(shop, news.id), [{ outcome: 'repeat', payment: null }])
  assert.equal((await shop.status(order.orderId)).status, 'pending')
  release()
  await shop.until(order.orderId, ({ status }) => status === 'disputed')
  await eventually(
    () => query(shop.db, sql`select from ${openJobs} as j where name = 'ask_later'`),
    ({ length }) => length === 0,
  )
  assert.equal(await bank.again(news), 200)
  assert.equal((await later()).length, 1)
  assert.deepEqual(
    (await shop.transfers(order.orderId)).map(({ kind }) => kind),
    ['sale', 'fee', 'dispute_hold'],
  )
})

test('a notification has to come again where the processor answers with an error', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  bank.notifying.when = 'never'
  bank.pay(order.clientSecret!)
  const news = bank.notifications.at(-1)!
  bank.notifying.tries = 1
  bank.break(/^GET \/v1\/disputes$/, 'server_error')
  assert.equal(await bank.again(news), 503)
  assert.deepEqual(await eventRows(shop, news.id), [])
  assert.equal(await bank.again(news), 200)
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('a body larger than any notification is refused, and memory is not filled with it', async () => {
  const [shop] = shared()
  const answer = await sendRaw(shop, JSON.stringify({ id: 'x', padding: 'x'.repeat(300_000) }))
  assertProblem(answer, 413, 'body_too_large')
})

test('during a flood of notifications checkouts still work', async () => {
  const pair = shared()
  const [shop] = pair
  const productId = await shop.product()
  const orders = await times(40, () => shop.checkout({ productId }))
  const news = await Promise.all(
    orders.map((order) => snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order)] })),
  )
  const [flood, checkouts] = await Promise.all([
    storm(400, (i) => pair[i % 2]!.notify({ payment: news[i % news.length] })),
    storm(60, (i) => pair[i % 2]!.call('POST', '/api/checkout', { productId, email: 'bob@example.com' })),
  ])
  assert.deepEqual([...flood], [200])
  assert.deepEqual([...checkouts], [201])
  for (const { orderId } of orders) {
    assert.equal((await shop.status(orderId)).status, 'paid')
    assert.equal((await shop.transfers(orderId)).length, 2)
  }
})

/** Sends `count` requests over 24 connections, and says how they were answered. */
async function storm(count: number, send: (i: number) => Promise<{ status: number }>): Promise<Set<number>> {
  const statuses = new Set<number>()
  let next = 0
  await times(24, async () => {
    for (let i = next++; i < count; i = next++) statuses.add((await send(i)).status)
  })
  return statuses
}
