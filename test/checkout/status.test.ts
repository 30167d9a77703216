import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import type { OrderStatus } from '../../src/checkout/schema.ts'
import { newId } from '../../src/kit/ids.ts'
import { newLog } from '../../src/kit/log.ts'
import { syncOrder } from '../../src/payments/sync/sync.ts'
import type { Processor } from '../../src/processors/processor.ts'
import { holdBank } from '../stand-ins/processor.ts'
import { newAddress } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop, startTestShop, type TestShop } from '../support/shop.ts'

const shared = sharedShop()
const EMAIL = 'bob@example.com'
const HOUR_MS = 3_600_000

const what = ({ timeline }: OrderStatus) => timeline?.map((entry) => entry.what)

async function refund(shop: TestShop, clientSecret: string | undefined, amount?: number) {
  const answer = await shop.call('POST', '/api/sandbox/refund', { clientSecret, ...(amount && { amount }) })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

async function dispute(shop: TestShop, clientSecret: string | undefined, outcome: 'open' | 'won' | 'lost') {
  const answer = await shop.call('POST', '/api/sandbox/dispute', { clientSecret, outcome })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

test('with only the order’s id a buyer sees its state before, during and after payment, and a stranger sees no more', async () => {
  const shop = shared()
  const order = await shop.checkout()
  assert.deepEqual(await shop.status(order.orderId), {
    orderId: order.orderId,
    status: 'pending',
    paid: false,
    canPay: true,
    amount: 1900,
    currency: 'USD',
    downloads: [],
    nextPollMs: 2000,
  })
  await shop.confirm(order)
  await shop.until(order.orderId, ({ paid }) => paid)
  assert.deepEqual(await shop.status(order.orderId), {
    orderId: order.orderId,
    status: 'paid',
    paid: true,
    amount: 1900,
    currency: 'USD',
    downloads: [],
    nextPollMs: null,
  })
})

test('with the address of the order the answer is complete', async () => {
  const shop = shared()
  const productId = await shop.product()
  const { orderId } = await shop.paid({ productId })
  const answer = await shop.call<OrderStatus>('GET', `/api/checkout/${orderId}/status?email=${EMAIL}`)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
  const { downloads, createdAt, paidAt, timeline, statusToken, ...rest } = answer.body
  assert.match(statusToken!, /^[\w-]{43}$/)
  assert.deepEqual(rest, {
    orderId,
    status: 'paid',
    paid: true,
    amount: 1900,
    currency: 'USD',
    nextPollMs: null,
    statementDescriptor: 'TILL* A BOOK',
    seller: { name: 'Ann', supportEmail: 'ann@shop.test' },
    product: { id: productId, name: 'A book' },
    rail: 'card',
    refundedAmount: 0,
  })
  assert.deepEqual(
    timeline!.map((entry) => entry.what),
    ['created', 'paid'],
  )
  const times = [createdAt, paidAt, ...timeline!.map(({ at }) => at)]
  for (const time of times) assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const { url, expiresAt, fileId, ...file } = downloads[0]!
  assert.deepEqual(file, {
    name: 'book.pdf',
    size: 6,
    sha256: 'ae35964219d1b24bba10a2fba9551a06219d701a8f3fff6e80750d09f4f3b495',
    contentType: 'application/pdf',
  })
  assert.match(fileId, /^file_/)
  assert(url.startsWith(`http://shop.test/api/downloads/${orderId}.${fileId}.`))
  const lifeSeconds = (Date.parse(expiresAt) - Date.now()) / 1000
  assert(lifeSeconds > 3500 && lifeSeconds <= 3600, String(lifeSeconds))
})

test('a wrong address answers exactly as none does', async () => {
  const shop = shared()
  const { orderId } = await shop.paid()
  const ask = async (query: string) => {
    const { status, body, headers } = await shop.call(`GET`, `/api/checkout/${orderId}/status${query}`)
    const { 'x-request-id': _id, date: _date, ...rest } = Object.fromEntries(headers)
    return { status, body, headers: rest }
  }
  const none = await ask('')
  assert.equal(none.status, 200)
  const wrong = [
    'eve@example.com', 'bob@example.co', 'bob@example.com.', 'bob', ' ', '%', '*', 'null', "' or ''='", 'bob@example.com\0', 'bоb@example.com',
    'bob%40example.com', 'e'.repeat(320),
  ] // oxfmt-ignore
  for (const email of wrong) assert.deepEqual(await ask(`?email=${encodeURIComponent(email)}`), none, email)
  assert.deepEqual(await ask('?email='), none)
  assert.deepEqual(await ask('?Email=bob@example.com'), none)
  assert.doesNotMatch(JSON.stringify(none.body), /book|TILL|bob|file_|prod_/)
})

test('the address may be typed with capitals and spaces', async () => {
  const shop = shared()
  const { orderId } = await shop.paid({ email: ' Bob@Example.COM ' })
  for (const email of ['bob@example.com', 'BOB@EXAMPLE.COM', '  bob@example.com '])
    assert.equal((await shop.status(orderId, email)).downloads.length, 1)
})

test('a repeated, list-valued or endless address is refused', async () => {
  const shop = shared()
  const { orderId } = await shop.paid()
  for (const query of [
    `email=${EMAIL}&email=eve@example.com`,
    `email=${EMAIL}&email=${EMAIL}`,
    `email=${'e'.repeat(321)}`,
    `email=${'e'.repeat(8000)}`,
    'sync=1&sync=1',
    `sync=${'1'.repeat(100)}`,
  ]) {
    const answer = await shop.call('GET', `/api/checkout/${orderId}/status?${query}`)
    assertProblem(answer, 400, 'validation_failed')
    assert.doesNotMatch(JSON.stringify(answer.body), /file_|book/)
  }
  // names of other lists and objects are names that we do not know
  const { body } = await shop.call('GET', `/api/checkout/${orderId}/status?email[]=${EMAIL}&email[x]=1&sync[]=1`)
  assert.deepEqual(body.downloads, [])
  assert(!('synced' in body) && !('product' in body))
})

test('an unknown order id is not found, in any form', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const nearly = orderId.slice(0, -1) + (orderId.endsWith('0') ? '1' : '0')
  for (const path of [`${nearly}/status`, `${nearly}/status?sync=1&email=${EMAIL}`])
    assertProblem(await shop.call('GET', `/api/checkout/${path}`), 404, 'order_not_found')
  assertProblem(await shop.call('POST', `/api/checkout/${nearly}/receipt`, { email: EMAIL }), 404, 'order_not_found')

  const malformed = [
    orderId.toUpperCase(),
    orderId.slice(4),
    `${orderId}0`,
    `${orderId}%00`,
    `${orderId}%0a`,
    `%20${orderId}`,
    "ord_'or'1",
    '..%2f..%2f',
    '*',
    '{}',
    'a'.repeat(500),
  ]
  for (const id of malformed) {
    assertProblem(await shop.call('GET', `/api/checkout/${id}/status`), 404, 'order_not_found')
    assertProblem(await shop.call('POST', `/api/checkout/${id}/receipt`, { email: EMAIL }), 404, 'order_not_found')
  }
  assertProblem(await shop.call('GET', `/api/checkout/${'a'.repeat(10_000)}/status`), 404, 'not_found')
})

test('a client that guesses addresses is stopped at ten an hour, across all instances, until the hour ends', async (t) => {
  const env = { LIMITS: 'wrong_email=10/3600,status=1000/60,receipt=1000/60' }
  const one = await startTestShop(t, { env })
  const two = await startTestShop(t, { env, databaseUrl: one.databaseUrl })
  const { orderId } = await one.paid()
  const other = await one.paid()
  const ask = (shop: TestShop, id: string, email: string) =>
    shop.call('GET', `/api/checkout/${id}/status?email=${encodeURIComponent(email)}`)

  for (let at = 0; at < 8; at++)
    assert.equal((await ask(at % 2 ? one : two, orderId, `e${at}@example.com`)).status, 200)
  // the question of the receipt is the same guess
  for (const shop of [one, two])
    assert.equal(
      (await shop.call('POST', `/api/checkout/${orderId}/receipt`, { email: 'eve@example.com' })).status,
      202,
    )
  for (const shop of [one, two]) {
    for (const email of ['eve@example.com', EMAIL]) {
      const refused = await ask(shop, orderId, email)
      assertProblem(refused, 429, 'rate_limited')
      assert.match(String(refused.headers.get('retry-after')), /^[1-9]\d*$/)
      assertProblem(await shop.call('POST', `/api/checkout/${orderId}/receipt`, { email }), 429, 'rate_limited')
    }
    assert.equal((await shop.status(orderId)).paid, true, 'the state is still in the response')
    assert.equal((await shop.status(other.orderId, EMAIL)).downloads.length, 1, 'other orders are not touched')
  }
  const endIn = (seconds: number) =>
    sql`update limits set until = now() + make_interval(secs => ${seconds}) where key = ${`wrong_email:${orderId}`}`.execute(
      one.db,
    )
  await endIn(100)
  const { headers } = await ask(two, orderId, EMAIL)
  const wait = Number(headers.get('retry-after'))
  assert(wait >= 1 && wait <= 100, `the wait is what is left of the hour, and not ${wait} s`)
  assert.equal(headers.get('ratelimit-reset'), String(wait))
  await endIn(-1)
  assert.equal((await two.status(orderId, ` ${EMAIL.toUpperCase()} `)).downloads.length, 1)
})

test('strangers who guess do not lock out the browser that made the order, nor the link of its receipt', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'wrong_email=3/3600,status=1000/60,receipt=2/3600' } })
  const bought = await shop.paid()
  const other = await shop.paid({ email: 'eve@example.com' })
  const { orderId, statusToken: token } = bought
  const ask = (query: Record<string, string>) =>
    shop.call<OrderStatus>('GET', `/api/checkout/${orderId}/status?${new URLSearchParams(query)}`)
  assert.equal((await ask({ email: EMAIL })).body.statusToken, token)
  for (let at = 0; at < 3; at++) assert.equal((await ask({ email: `e${at}@example.com`, token })).status, 200)
  assertProblem(await ask({ email: EMAIL }), 429, 'rate_limited')
  assert.equal((await ask({ email: ` ${EMAIL.toUpperCase()}`, token })).body.downloads.length, 1)

  const [mail] = await eventually(
    () => shop.mails(),
    ({ length }) => length > 0,
  )
  const fromLink = new RegExp(`/order/\\?order=${orderId}#t=([\\w-]+)`).exec(mail!.text)?.[1]
  assert.equal(fromLink, token)
  // it is good for its order and its address alone, and opens nothing by itself
  for (const bad of [other.statusToken, `${token.slice(0, -1)}x`, 'x', `${token} `])
    assertProblem(await ask({ email: EMAIL, token: bad }), 429, 'rate_limited')
  assertProblem(await ask({ email: 'eve@example.com', token }), 429, 'rate_limited')
  assert.deepEqual((await ask({ token })).body.downloads, [])
  // neither do strangers use up the receipts that the buyer may ask for
  const send = (body: object) => shop.call('POST', `/api/checkout/${orderId}/receipt`, body)
  assert.equal((await send({ email: EMAIL, token })).status, 202)
  await sql`update orders set email = 'robert@example.com', email_changed_at = now() where id = ${orderId}`.execute(
    shop.db,
  )
  assertProblem(await ask({ email: EMAIL, token }), 429, 'rate_limited')
})

test('while an order moves, strangers who guess lock out neither mailbox: each has a token of its own', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'wrong_email=3/3600,status=1000/60' } })
  const { orderId, statusToken: oldToken } = await shop.paid()
  const newEmail = 'robert@example.com'
  await sql`insert into email_changes (order_id, id, email, code_hash, expires_at, confirmed_at, old_email)
    values (${orderId}, gen_random_uuid(), ${newEmail}, ${Buffer.alloc(32)}, now() + interval '3 days', now(), ${EMAIL})`.execute(
    shop.db,
  )
  const ask = (query: Record<string, string>) =>
    shop.call<OrderStatus>('GET', `/api/checkout/${orderId}/status?${new URLSearchParams(query)}`)
  const token = (await ask({ email: newEmail })).body.statusToken!
  assert.notEqual(token, oldToken)
  for (let at = 0; at < 3; at++) await ask({ email: `e${at}@example.com` })
  for (const email of [newEmail, EMAIL]) assertProblem(await ask({ email }), 429, 'rate_limited')
  assertProblem(await ask({ email: newEmail, token: oldToken! }), 429, 'rate_limited')
  const [moved, old] = [await ask({ email: newEmail, token }), await ask({ email: EMAIL, token: oldToken! })]
  assert.deepEqual([moved.body.downloads.length, moved.body.statusToken], [1, token])
  assert.deepEqual([old.body.downloads.length, old.body.statusToken], [1, oldToken])
})

test('only the buyer sees the seller’s support address', async (t) => {
  const shop = await startTestShop(t)
  const { orderId } = await shop.paid()
  assert.deepEqual((await shop.status(orderId, EMAIL)).seller, { name: 'Ann', supportEmail: 'ann@shop.test' })
  await sql`update sellers set support_email = 'help@shop.test' where id = ${shop.sellerId}`.execute(shop.db)
  assert.deepEqual((await shop.status(orderId, EMAIL)).seller, { name: 'Ann', supportEmail: 'help@shop.test' })
  for (const email of [undefined, 'eve@example.com'])
    assert.equal((await shop.status(orderId, email)).seller, undefined)
})

test('simultaneous guesses count like others', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'wrong_email=3/3600,status=1000/60' } })
  const [{ orderId }, other] = [await shop.paid(), await shop.paid()]
  const guess = (id: string, email: string) => shop.call('GET', `/api/checkout/${id}/status?email=${email}`)
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => guess(orderId, `e${at}@example.com`)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 3)
  assert.equal(answers.filter(({ status }) => status === 429).length, 97)

  // three wrong ones whose counting takes its time: the right one that comes meanwhile is already the fourth
  const { release } = await lockedLimits(shop)
  const slow = Array.from({ length: 3 }, (_, at) => guess(other.orderId, `e${at}@example.com`))
  await eventually(
    () => waitingForLimits(shop),
    (waiting) => waiting === 3,
  )
  assertProblem(await guess(other.orderId, EMAIL), 429, 'rate_limited')
  await release()
  for (const { status } of await Promise.all(slow)) assert.equal(status, 200)
  assertProblem(await guess(other.orderId, EMAIL), 429, 'rate_limited')
})

async function lockedLimits({ databaseUrl }: TestShop) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  client.on('error', () => {})
  await client.query('begin; lock table limits in share row exclusive mode')
  return { release: () => client.end() }
}

async function waitingForLimits({ db }: TestShop): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_locks where relation = 'limits'::regclass and not granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows[0]!.n
}

test('reads of one order’s status are limited for each minute, and other orders are not affected', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'status=5/60' } })
  const [{ orderId }, other] = [await shop.checkout(), await shop.checkout()]
  for (let at = 0; at < 5; at++) await shop.status(orderId)
  const refused = await shop.call('GET', `/api/checkout/${orderId}/status?email=${EMAIL}`)
  assertProblem(refused, 429, 'rate_limited')
  assert(Number(refused.headers.get('retry-after')) >= 1)
  assert.equal(refused.headers.get('ratelimit-limit'), '5')
  await shop.status(other.orderId)
})

test('a subscriber with 2^64 addresses can request an order’s status no more often than one with a single address', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'status=5/60', TRUST_PROXY: '1' } })
  const { orderId } = await shop.checkout()
  const from = async (address: string) =>
    (await shop.call('GET', `/api/checkout/${orderId}/status`, undefined, { 'x-forwarded-for': address })).status
  for (let at = 1; at <= 5; at++) assert.equal(await from(`2001:db8:0:1::${at}`), 200)
  assert.equal(await from('2001:db8:0:1::6'), 429)
  assert.equal(await from('2001:db8:0:2::1'), 200, 'the neighbour is not held up')
})

test('a payment whose notification was lost is found when the buyer reads the status', async () => {
  const shop = shared()
  const order = await shop.checkout()
  assert.equal((await shop.confirm(order, 'lost_webhook')).status, 200)
  assert.equal((await shop.status(order.orderId, EMAIL)).status, 'pending')
  const synced = await shop.status(order.orderId, EMAIL, true)
  assert.deepEqual([synced.synced, synced.status, synced.downloads.length], [true, 'paid', 1])
  assert.equal((await shop.status(order.orderId, EMAIL, true)).synced, false, 'a paid order is not synced')
  assert.equal((await shop.transfers(order.orderId)).length, 2)
})

test('only sync=1 asks the processor', async () => {
  const shop = shared()
  const order = await shop.checkout()
  await shop.confirm(order, 'lost_webhook')
  for (const sync of ['0', '', 'true', '01', '1%20', '11']) {
    const { status, body } = await shop.call('GET', `/api/checkout/${order.orderId}/status?sync=${sync}`)
    assert.equal(status, 200)
    assert.deepEqual([body.status, 'synced' in body], ['pending', false], sync)
  }
})

test('a processor that hangs is given up, and the response has the known state', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const lines: object[] = []
  const log = newLog('silent')
  log.warn = (line: object) => void lines.push(line)
  const hanging = { name: 'sandbox', fetchPayment: () => new Promise<never>(() => {}) } as unknown as Processor
  const settle = () => assert.fail('nothing to settle')
  const processors = new Map([['sandbox', hanging]])
  const asked = await syncOrder({ db: shop.db, processors, settle, log }, orderId, { syncBudgetMs: 50 })
  assert.deepEqual([asked, lines.length], [false, 1])
  assert.equal((await shop.status(orderId)).status, 'pending', 'the response has the known state')
})

test('an order is synced by one request at a time, next after the pause, and a failed sync is no error', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const blockedUntil = async () => {
    const { rows } = await sql<{ at: Date }>`select sync_after as at from orders where id = ${orderId}`.execute(shop.db)
    return rows[0]!.at.getTime()
  }
  const whileOpen: number[] = []
  const failing = {
    name: 'sandbox',
    async fetchPayment() {
      whileOpen.push(await blockedUntil())
      assert.equal(await sync(), false, 'during one sync there is no second one')
      throw new Error('away')
    },
  } as unknown as Processor
  const parts = { db: shop.db, processors: new Map([['sandbox', failing]]), log: newLog('silent') }
  const times = { syncBudgetMs: 7 * HOUR_MS, syncPauseMs: 4 * HOUR_MS }
  const sync = () => syncOrder({ ...parts, settle: () => assert.fail('nothing to settle') }, orderId, times)
  assert.deepEqual([await sync(), await sync()], [false, false])
  assert.equal(whileOpen.length, 1)
  // the order is blocked for as long as the question may take, and then no longer than the pause
  assert.equal(whileOpen[0]! - (await blockedUntil()), 3 * HOUR_MS)
})

test('a slow processor is asked once at a time about an order, also after the buyer has stopped waiting', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const answers: (() => void)[] = []
  const slow = {
    name: 'sandbox',
    fetchPayment: () => new Promise((resolve) => answers.push(() => resolve(undefined))),
  } as unknown as Processor
  const parts = {
    db: shop.db,
    processors: new Map([['sandbox', slow]]),
    settle: async () => ({}),
    log: newLog('silent'),
  }
  const sync = () => syncOrder(parts as never, orderId, { syncBudgetMs: 50, syncPauseMs: 0 })
  assert.deepEqual([await sync(), await sync(), answers.length], [false, false, 1])
  answers[0]!()
  await eventually(
    async () => (await sync(), answers.length),
    (count) => count === 2,
  )
  answers[1]!()
})

test('the response lets a page poll often at first, then seldom, and stop when nothing will change', async () => {
  const shop = shared()
  const { orderId } = await shop.checkout()
  const after = async (age: string) => {
    await sql`update orders set created_at = now() - ${age}::interval where id = ${orderId}`.execute(shop.db)
    return (await shop.status(orderId)).nextPollMs
  }
  assert.equal(await after('30 seconds'), 2_000)
  assert.equal(await after('2 minutes'), 5_000)
  assert.equal(await after('1 hour'), 30_000)
  await sql`update orders set expires_at = now(), due_at = now() where id = ${orderId}`.execute(shop.db)
  await shop.syncDue()
  assert.deepEqual((({ status, nextPollMs }) => [status, nextPollMs])(await shop.status(orderId)), ['expired', null])
})

test('while a bank works on a slow payment there are no files, and when it is done there are', async () => {
  const shop = shared()
  const order = await shop.checkout()
  const release = await holdBank(shop, order)
  const answer = await shop.confirm(order, 'delayed', 'bank_transfer')
  assert.deepEqual(answer.body, { status: 'processing' })
  const waiting = await shop.until(order.orderId, ({ status }) => status !== 'pending')
  assert.deepEqual([waiting.status, waiting.paid, waiting.downloads], ['processing', false, []])
  assert.equal(typeof waiting.nextPollMs, 'number')
  assertProblem(await shop.confirm(order), 409, 'payment_in_progress')
  assert.deepEqual(await shop.transfers(order.orderId), [], 'nothing is booked before the money is there')
  await release()
  const paid = await shop.until(order.orderId, ({ status }) => status !== 'processing')
  assert.deepEqual([paid.status, paid.rail, paid.downloads.length], ['paid', 'bank_transfer', 1])
  assert.deepEqual(what(paid), ['created', 'payment_processing', 'paid'])
})

test('a declined payment gives no files', async () => {
  const shop = shared()
  const order = await shop.checkout()
  await shop.confirm(order, 'decline')
  const status = await shop.until(order.orderId, (now) => now.timeline!.length > 1)
  assert.deepEqual([status.status, status.paid, status.downloads], ['pending', false, []])
})

test('money that comes after the order has ended still brings the files, and the page says so', async () => {
  const shop = shared()
  const order = await shop.checkout()
  await sql`update orders set expires_at = now(), due_at = now() where id = ${order.orderId}`.execute(shop.db)
  await shop.syncDue()
  assert.equal((await shop.status(order.orderId)).status, 'expired')
  assertProblem(await shop.confirm(order), 409, 'payment_closed')

  const payment = await shop.sandboxPayment(order.orderId)
  payment.state = 'captured'
  payment.captures.push({ id: `late_${order.orderId}`, amountMinor: 1900, currency: 'USD', rail: 'upi', capturedAt: new Date().toISOString() }) // oxfmt-ignore
  assert.equal((await shop.notify({ payment })).status, 200)
  const status = await shop.status(order.orderId, EMAIL)
  assert.deepEqual([status.status, status.downloads.length], ['paid', 1])
  assert.deepEqual(what(status), ['created', 'expired', 'paid'])
})

test('a part of the money back leaves the files, all of it takes them', async () => {
  const shop = shared()
  const order = await shop.paid()
  await refund(shop, order.clientSecret, 900)
  const part = await shop.until(order.orderId, ({ status }) => status === 'partially_refunded')
  assert.deepEqual([part.paid, part.refundedAmount, part.downloads.length, part.nextPollMs], [true, 900, 1, null])
  await refund(shop, order.clientSecret)
  const all = await shop.until(order.orderId, ({ status }) => status === 'refunded')
  assert.deepEqual([all.paid, all.refundedAmount, all.downloads, all.nextPollMs], [false, 1900, [], null])
  assert.deepEqual(what(all), ['created', 'paid', 'partially_refunded', 'refunded'])
})

test('refunds never exceed the payment', async () => {
  const shop = shared()
  const order = await shop.paid()
  for (const amount of [1901, 0, -1])
    assertProblem(await shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, amount }), 409, 'payment_not_captured') // oxfmt-ignore
  for (const amount of [1.5, '5', null, [5], 1e300])
    assert.equal((await shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, amount })).status, 400 + (amount === 1e300 ? 9 : 0)) // oxfmt-ignore
  assert.equal((await shop.status(order.orderId, EMAIL)).refundedAmount, 0)
})

test('a dispute takes the files until it is won, and for good when it is lost', async () => {
  const shop = shared()
  const [won, lost] = await Promise.all([shop.paid(), shop.paid()])
  for (const { orderId, clientSecret } of [won!, lost!]) {
    await dispute(shop, clientSecret, 'open')
    const open = await shop.until(orderId, ({ status }) => status === 'disputed')
    assert.deepEqual([open.paid, open.downloads], [false, []])
  }
  await dispute(shop, won!.clientSecret, 'won')
  const back = await shop.until(won!.orderId, ({ status }) => status === 'paid')
  assert.equal(back.downloads.length, 1)
  assert.deepEqual(what(back), ['created', 'paid', 'disputed', 'dispute_won'])

  await dispute(shop, lost!.clientSecret, 'lost')
  const gone = await shop.until(lost!.orderId, ({ status }) => status === 'charged_back')
  assert.deepEqual([gone.paid, gone.downloads], [false, []])
  assert.deepEqual(what(gone), ['created', 'paid', 'disputed', 'charged_back'])
})

async function receiptsOf(t: TestContext, limits: string) {
  const shop = await startTestShop(t, { env: { LIMITS: limits } })
  const send = (orderId: string, email: string) => shop.call('POST', `/api/checkout/${orderId}/receipt`, { email })
  return { shop, send }
}

test('a lost receipt is sent again only to the order’s address, and the response does not reveal that address', async (t) => {
  const { shop, send } = await receiptsOf(t, 'receipt=5/3600')
  const { orderId } = await shop.paid()
  await eventually(
    () => shop.mails(),
    ({ length }) => length === 1,
  )
  const right = await send(orderId, ' BOB@example.com ')
  const wrong = await send(orderId, 'eve@example.com')
  const unpaid = await send((await shop.checkout()).orderId, EMAIL)
  for (const answer of [right, wrong, unpaid]) {
    assert.deepEqual([answer.status, answer.body], [202, {}])
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  }
  // mails go out in the order of the requests, so all are there when the last one is
  await shop.paid({ email: 'eve@example.com' })
  await eventually(
    () => shop.mails('eve@example.com'),
    ({ length }) => length > 0,
  )
  const mails = await eventually(
    () => shop.mails(),
    ({ length }) => length >= 2,
  )
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    Array(2).fill('Your receipt: A book'),
  )
  assert.equal((await shop.mails('eve@example.com')).length, 1)
})

test('requests for receipts cannot fill a mailbox', async (t) => {
  const { shop, send } = await receiptsOf(t, 'receipt=2/3600')
  const [{ orderId }, other] = [await shop.paid(), await shop.paid({ email: 'eve@example.com' })]
  for (let at = 0; at < 2; at++) assert.equal((await send(orderId, EMAIL)).status, 202)
  const refused = await send(orderId, EMAIL)
  assertProblem(refused, 429, 'rate_limited')
  assert(Number(refused.headers.get('retry-after')) > 3000)
  assert.equal((await send(other.orderId, 'eve@example.com')).status, 202)
})

test('requests for receipts from many networks, at two instances, cannot fill a mailbox', async (t) => {
  const env = { LIMITS: 'receipt=2/3600', TRUST_PROXY: '1' }
  const shop = await startTestShop(t, { env })
  const instances = [shop, await startTestShop(t, { env, databaseUrl: shop.databaseUrl })]
  const [{ orderId }, other] = [await shop.paid(), await shop.paid({ email: 'eve@example.com' })]
  let asked = 0
  const send = (id: string, email: string) =>
    instances[(asked += 1) % 2]!.call('POST', `/api/checkout/${id}/receipt`, { email }, { 'x-forwarded-for': newAddress() }) // oxfmt-ignore
  // requests without the order's address send nothing, and use up nothing of the buyer's
  for (let at = 0; at < 3; at++) assert.equal((await send(orderId, 'eve@example.com')).status, 202)
  for (let at = 0; at < 2; at++) assert.equal((await send(orderId, EMAIL)).status, 202)
  for (let at = 0; at < 2; at++) {
    const refused = await send(orderId, EMAIL)
    assertProblem(refused, 429, 'rate_limited')
    assert(Number(refused.headers.get('retry-after')) > 3000)
  }
  assert.equal((await send(other.orderId, 'eve@example.com')).status, 202)
})

test('a request for a receipt needs an address, and nothing else', async () => {
  const shop = shared()
  const { orderId } = await shop.paid()
  for (const body of [
    {},
    { email: null },
    { email: ['bob@example.com'] },
    { email: 'bob' },
    { email: '' },
    [],
    null,
    'x',
  ]) {
    const answer = await shop.call('POST', `/api/checkout/${orderId}/receipt`, body)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
  }
})

test('a plus sign in the address that a client forgot to encode still matches', async (t) => {
  const shop = await startTestShop(t)
  const { orderId } = await shop.checkout({ email: 'bob+books@example.com' })
  const { body } = await shop.call('GET', `/api/checkout/${orderId}/status?email=bob+books@example.com`)
  assert.equal(body.product.name, 'A book')
})

test('a client that tries unknown order ids is stopped, across all of them', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'status=3/60' } })
  const miss = () => shop.call('GET', `/api/checkout/${newId('ord')}/status`)
  for (let tries = 0; tries < 3; tries++) assertProblem(await miss(), 404, 'order_not_found')
  const stopped = await miss()
  assertProblem(stopped, 429, 'rate_limited')
  assert.match(stopped.headers.get('retry-after')!, /^[1-9][0-9]*$/)
})
