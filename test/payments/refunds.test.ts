import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { FEES, sellerAccount } from '../../src/ledger/transfers.ts'
import {
  RECEIPT,
  captureOf,
  holdBank,
  mailsAbout,
  query,
  sharedPair,
  snapshotOf,
  times,
} from '../stand-ins/processor.ts'
import { SEED, sample } from '../support/seed.ts'
import { type Browser, newBrowser } from '../support/seller.ts'
import { type Answer, type TestShop, assertProblem, eventually } from '../support/shop.ts'

const shared = sharedPair()
let signedIn: Promise<Browser> | undefined
/** The seller's browser, signed in once for all tests. */
const ann = (): Promise<Browser> =>
  (signedIn ??= (async () => {
    const browser = newBrowser(shared()[0])
    await browser.signInByCode('ann@shop.test')
    return browser
  })())
const call = async (...request: Parameters<Browser['call']>) => (await ann()).call(...request)

const pathOf = ({ orderId }: { orderId: string }) => `/api/orders/${orderId}/refunds`
const refund = (order: Created, body: unknown = {}, headers: Record<string, string | undefined> = {}) =>
  call('POST', pathOf(order), body, headers)
const list = async (order: Created): Promise<any[]> => (await call('GET', pathOf(order))).body.items
const full = (shop: TestShop, { orderId }: Created) => shop.status(orderId, 'bob@example.com')
const whats = async (shop: TestShop, order: Created) => (await full(shop, order)).timeline!.map(({ what }) => what)
const codes = (answers: Answer[]) => answers.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim()).sort()

/** A paid order whose bank behaves so. */
async function paid(shop: TestShop, scenario = 'success', product: Parameters<TestShop['product']>[0] = {}) {
  const order = await shop.checkout({ productId: await shop.product(product) })
  assert.equal((await shop.confirm(order, scenario)).status, 200)
  await shop.until(order.orderId, (status) => status.paid)
  return order
}

/** All refunds of the order have ended: as they are then. */
const ended = (order: Created) =>
  eventually(
    () => list(order),
    (items) => items.every(({ status }) => status !== 'pending'),
  )

/** The balance of an account for one order. */
async function balanceOf(shop: TestShop, { orderId }: Created, account: string): Promise<number> {
  const transfers = await shop.transfers(orderId)
  return transfers.reduce(
    (sum, { debit, credit, amountMinor }) =>
      sum + (credit === account ? amountMinor : 0) - (debit === account ? amountMinor : 0),
    0,
  )
}

const jobsOf = (shop: TestShop, refundId: string, ...states: string[]) =>
  query(
    shop.db,
    sql`select 1 from pgboss.job where name = 'refund' and data->>'refundId' = ${refundId} and state::text = any(${states})`,
  )

/** Waits for a try to fail, and lets the pause before the next one be over; on a slow machine that has begun by itself. */
async function tryAgainNow(shop: TestShop, refundId: string): Promise<void> {
  await eventually(
    () => jobsOf(shop, refundId, 'created', 'active'),
    (underWay) => underWay.length === 0,
  )
  await sql`update refunds set asked_at = asked_at - interval '2 minutes' where id = ${refundId}`.execute(shop.db)
  await sql`
    update pgboss.job set start_after = now() - interval '1 second'
    where name = 'refund' and data->>'refundId' = ${refundId} and state = 'retry'`.execute(shop.db)
  await sql`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'refund')`.execute(shop.db)
}

/** A try has begun and failed since the last pause was over. */
const tried = async (shop: TestShop, refundId: string): Promise<boolean> => {
  const [found] = await query<{ again: boolean }>(
    shop.db,
    sql`select exists (select from refunds where id = ${refundId} and asked_at > now() - interval '1 minute') and exists (
      select from pgboss.job where name = 'refund' and data->>'refundId' = ${refundId} and state = 'retry') as again`,
  )
  return found!.again
}

test('invalid amounts, and other wrong bodies, are refused before any processor is asked', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  for (const amount of [0, -1, 1.5, '5', true, null, [5], {}, 1e12, 1e300, Number.MAX_SAFE_INTEGER])
    assertProblem(await refund(order, { amount }), 400, 'validation_failed')
  for (const reason of ['', 7, null, 'x'.repeat(501), 'a\u0000b', ['x']])
    assertProblem(await refund(order, { reason }), 400, 'validation_failed')
  for (const body of [[], 'null', '7', '"all"']) assertProblem(await refund(order, body), 400, 'validation_failed')
  for (const body of ['{"amount":1e', '{"amount":1,"amount":1900}'])
    assertProblem(await refund(order, body), 400, 'malformed_body')
  assertProblem(await call('POST', pathOf(order)), 400, 'validation_failed')
  assertProblem(await refund(order, 'amount=5', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
  for (const key of ['short', 'x'.repeat(256), 'with a space in it'])
    assertProblem(await refund(order, {}, { 'idempotency-key': key }), 400, 'validation_failed')
  assertProblem(await refund(order, { amount: 1901 }), 409, 'refund_too_large')
  assert.deepEqual(await list(order), [])
  assert.equal((await full(shop, order)).paid, true)
})

test('only the order’s seller, on our own pages, can refund it or see its refunds', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  const [nobody, other] = [newBrowser(shop), newBrowser(shop)]
  await other.signInByCode()
  for (const method of ['POST', 'GET']) {
    const body = method === 'POST' ? {} : undefined
    assertProblem(await nobody.call(method, pathOf(order), body), 401, 'not_signed_in')
    assertProblem(await other.call(method, pathOf(order), body), 404, 'order_not_found')
    const unknown = { orderId: `${order.orderId.slice(0, -6)}zzzzzz` }
    assertProblem(await call(method, pathOf(unknown), body), 404, 'order_not_found')
    assertProblem(await call(method, '/api/orders/x/refunds', body), 404, 'order_not_found')
  }
  for (const origin of ['https://evil.example', 'null', undefined, 'http://shop.test.evil.example'])
    assertProblem(await refund(order, {}, { origin }), 403, 'origin_not_allowed')
  assert.deepEqual(await list(order), [])
})

test('an order without money to return cannot be refunded: 409, with the reason', async () => {
  const [shop] = shared()
  const dispute = (order: Created, outcome: string) =>
    shop.call('POST', '/api/sandbox/dispute', { clientSecret: order.clientSecret, outcome })
  const open = await shop.checkout()
  const [disputed, lost, gone] = [await paid(shop), await paid(shop), await paid(shop)]
  const review = await shop.checkout()
  await shop.confirm(review, 'wrong_amount')
  await dispute(disputed, 'open')
  await dispute(lost, 'lost')
  assert.equal((await refund(gone)).status, 201)
  for (const [order, state, why] of [
    [open, 'pending', /not paid/],
    [disputed, 'disputed', /bank is deciding/],
    [lost, 'charged_back', /taken the money back/],
    [review, 'needs_review', /operator of this service decides/],
    [gone, 'refunded', /already refunded/],
  ] as const) {
    await shop.until(order.orderId, ({ status }) => status === state)
    const answer = await refund(order, { amount: 1 })
    assertProblem(answer, 409, 'order_not_refundable')
    assert.match(answer.body.detail, why)
  }
})

test('a refund of the whole price ends existing links at once, before the processor has made it', async () => {
  const [shop, other] = shared()
  const order = await paid(shop, 'slow_refund')
  const { downloads } = await full(shop, order)
  const link = new URL(downloads[0]!.url).pathname
  assert.equal((await shop.call('GET', link)).status, 200)
  const release = await holdBank(shop, order)
  const answer = await refund(order, { reason: 'They asked kindly.' })
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const { id, createdAt, ...said } = answer.body
  assert.match(id, /^ref_[0-9a-hjkmnp-tv-z]{26}$/)
  assert(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000)
  assert.deepEqual(said, {
    orderId: order.orderId,
    amount: 1900,
    currency: 'USD',
    status: 'pending',
    origin: 'api',
    reason: 'They asked kindly.',
  })
  for (const one of [shop, other]) assertProblem(await one.call('GET', link), 403, 'download_not_available')
  const waiting = await full(shop, order)
  assert.deepEqual([waiting.status, waiting.paid, waiting.downloads, waiting.refundedAmount], ['paid', false, [], 0])
  assert.equal(waiting.timeline!.at(-1)!.what, 'refund_requested')
  assert(waiting.nextPollMs! > 0, 'it will change by itself')
  assert.equal((await shop.status(order.orderId)).paid, false)

  await release()
  const status = await shop.until(order.orderId, (one) => one.status === 'refunded')
  assert.deepEqual([status.paid, status.refundedAmount, status.nextPollMs], [false, 1900, null])
  assert.deepEqual(await whats(shop, order), ['created', 'paid', 'refund_requested', 'refunded'])
  assert.deepEqual(await list(order), [{ id, createdAt, ...said, status: 'succeeded' }])
  for (const account of [FEES, sellerAccount(shop.sellerId)]) assert.equal(await balanceOf(shop, order, account), 0)
})

test('no receipt that promises the files is sent again once all of the money is on its way back', async () => {
  const [shop] = shared()
  const order = await paid(shop, 'slow_refund')
  const release = await holdBank(shop, order)
  assert.equal((await refund(order)).status, 201)
  const asked = await shop.call('POST', `/api/checkout/${order.orderId}/receipt`, { email: 'bob@example.com' })
  assert.equal(asked.status, 202, 'the answer tells nothing')
  assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
  await release()
  await shop.until(order.orderId, ({ status }) => status === 'refunded')
  assert.deepEqual(await mailsAbout(shop, order), [RECEIPT, 'Your refund: A book'])
})

test('a partial refund leaves the files; the rest can be refunded, also while a refund is pending', async () => {
  const [shop] = shared()
  const order = await paid(shop, 'slow_refund')
  const release = await holdBank(shop, order)
  assert.deepEqual((await refund(order, { amount: 900 })).body.amount, 900)
  assert.deepEqual([(await full(shop, order)).paid, (await full(shop, order)).downloads.length], [true, 1])
  const tooMuch = await refund(order, { amount: 1001 })
  assertProblem(tooMuch, 409, 'refund_too_large')
  assert.match(tooMuch.body.detail, /\$10\.00 \(1000 in minor units\) is left/)
  assert.equal((await refund(order)).body.amount, 1000)
  const nothing = await refund(order)
  assertProblem(nothing, 409, 'refund_too_large')
  assert.match(nothing.body.detail, /on its way/)
  assert.equal((await full(shop, order)).paid, false)
  await release()
  await shop.until(order.orderId, ({ status }) => status === 'refunded')
  assert.deepEqual(
    (await list(order)).map(({ amount, status }) => [amount, status]),
    [
      [1000, 'succeeded'],
      [900, 'succeeded'],
    ],
  )
})

test('currencies without and with three decimals go back to the last unit', async () => {
  const [shop] = shared()
  for (const [currency, priceMinor, part] of [
    ['JPY', 501, 1],
    ['KWD', 12_345, 12_344],
  ] as const) {
    const order = await paid(shop, 'success', { currency, priceMinor })
    const { body } = await refund(order, { amount: part })
    assert.deepEqual([body.amount, body.currency], [part, currency])
    await refund(order)
    const status = await shop.until(order.orderId, (one) => one.status === 'refunded')
    assert.equal(status.refundedAmount, priceMinor)
    assert.equal(await balanceOf(shop, order, FEES), 0)
  }
})

test('refunds over the total, requested at the same moment at two services: the last ones are refused without a request to the processor', async () => {
  const [shop, other] = shared()
  for (const scenario of ['success', 'slow_refund']) {
    const order = await paid(shop, scenario)
    const at = [await ann(), (await ann()).through(other)]
    const answers = await times(6, (i) => at[i % 2]!.call('POST', pathOf(order), { amount: 700 }))
    assert.deepEqual(codes(answers), ['201', '201', ...Array.from({ length: 4 }, () => '409 refund_too_large')])
    const refunds = await ended(order)
    assert.deepEqual(
      refunds.map(({ amount, status }) => [amount, status]),
      [
        [700, 'succeeded'],
        [700, 'succeeded'],
      ],
    )
    assert.equal((await full(shop, order)).refundedAmount, 1400)
    assert.equal((await shop.sandboxPayment(order.orderId)).refunds.length, 2)
  }
})

test('the same key is the same refund, however often, at once and later; for anything else it is refused', async () => {
  const [shop, other] = shared()
  const [order, another] = [await paid(shop), await paid(shop)]
  const key = { 'idempotency-key': `a-key-of-${order.orderId}` }
  const at = [await ann(), (await ann()).through(other)]
  const ask = (i: number) => at[i % 2]!.call('POST', pathOf(order), { amount: 500, reason: 'a' }, key)
  const answers = await times(10, ask)
  assert.deepEqual([...new Set(codes(answers))], ['201'])
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  await ended(order)
  const later = await ask(0)
  assert.deepEqual([later.status, later.body.id, later.body.status], [201, answers[0]!.body.id, 'succeeded'])
  for (const body of [{ amount: 501, reason: 'a' }, { amount: 500 }, { amount: 500, reason: 'b' }, {}])
    assertProblem(await refund(order, body, key), 409, 'idempotency_key_reused')
  assertProblem(await refund(another, { amount: 500, reason: 'a' }, key), 409, 'idempotency_key_reused')
  assert.equal((await full(shop, order)).refundedAmount, 500)
  assert.deepEqual(await list(another), [])

  // two orders at the same moment: one of them has the key
  const fresh = { 'idempotency-key': `another-key-of-${order.orderId}` }
  const both = await Promise.all([refund(order, {}, fresh), refund(another, {}, fresh)])
  assert.deepEqual(codes(both), ['201', '409 idempotency_key_reused'])

  // and another seller's key is independent
  const zoe = newBrowser(shop)
  const { body } = await zoe.signInByCode()
  const hers = await shop.paid({ productId: await shop.product({ sellerId: body.seller.id }) })
  assert.equal((await zoe.call('POST', pathOf(hers), { amount: 5 }, key)).status, 201)
})

test('a failed refund books nothing, gives the files back, and can be requested again', async () => {
  const [shop] = shared()
  const order = await paid(shop, 'failed_refund')
  const before = await shop.transfers(order.orderId)
  const release = await holdBank(shop, order)
  assert.equal((await refund(order)).body.status, 'pending')
  assert.equal((await full(shop, order)).paid, false)
  await release()
  const status = await shop.until(order.orderId, ({ timeline }) => timeline!.at(-1)!.what === 'refund_failed')
  assert.deepEqual([status.status, status.paid, status.downloads.length, status.refundedAmount], ['paid', true, 1, 0])
  assert.equal((await shop.call('GET', new URL(status.downloads[0]!.url).pathname)).status, 200)
  assert.deepEqual(await shop.transfers(order.orderId), before)
  assert.deepEqual(
    (await list(order)).map((one) => one.status),
    ['failed'],
  )
  const { rows: told } = await sql<{ refund: object }>`
    select data->'refund' as refund from events where order_id = ${order.orderId} and type = 'refund.failed'`.execute(
    shop.db,
  )
  assert.deepEqual(told, [{ refund: { id: (await list(order))[0].id, amountMinor: 1900 } }])
  await holdBank(shop, order)
  assert.equal((await refund(order)).status, 201)
  assert.deepEqual(await whats(shop, order), [
    'created',
    'paid',
    'refund_requested',
    'refund_failed',
    'refund_requested',
  ])
})

test('a refund that comes back after it was done leaves order and books as they were', async () => {
  const [shop] = shared()
  const order = await paid(shop, 'bounced_refund')
  const release = await holdBank(shop, order)
  await refund(order, { amount: 333 })
  await refund(order)
  await shop.until(order.orderId, ({ status }) => status === 'refunded')
  await release()
  const status = await shop.until(order.orderId, (one) => one.refundedAmount === 0)
  assert.deepEqual([status.status, status.paid, status.downloads.length], ['paid', true, 1])
  assert.deepEqual(
    (await list(order)).map((one) => one.status),
    ['failed', 'failed'],
  )
  assert.deepEqual(
    [await balanceOf(shop, order, FEES), await balanceOf(shop, order, sellerAccount(shop.sellerId))],
    [38, 1862],
  )
})

test('a refund in the dashboard at the moment of ours: no more goes back than came in, and each is booked once', async () => {
  const [shop, other] = shared()
  for (const [mine, theirs] of [
    [undefined, undefined],
    [undefined, 1000],
    [1000, undefined],
    [950, 950],
    [1000, 1000],
  ]) {
    for (let round = 0; round < 3; round++) {
      const order = await paid(shop)
      const dashboard = () =>
        other.call('POST', '/api/sandbox/refund', {
          clientSecret: order.clientSecret,
          ...(theirs && { amount: theirs }),
        })
      await Promise.all([refund(order, mine ? { amount: mine } : {}), dashboard()])
      await ended(order)
      const { refunds: made } = await shop.sandboxPayment(order.orderId)
      const total = made.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
      assert(total <= 1900)
      const status = await shop.until(order.orderId, ({ refundedAmount }) => refundedAmount === total)
      assert.equal(status.status, total === 1900 ? 'refunded' : 'partially_refunded')
      const booked = (await shop.transfers(order.orderId)).filter(({ kind }) => kind === 'refund')
      assert.deepEqual(booked.map(({ amountMinor }) => amountMinor).sort(), made.map((one) => one.amountMinor).sort())
      // read now: that of the dashboard can have been noted after ours had ended
      const refunds = (await list(order)).filter((one) => one.status === 'succeeded')
      assert.equal(refunds.length, made.length)
      assert((await balanceOf(shop, order, FEES)) >= 0)
    }
  }
})

test('ten jobs and ten notifications for one refund, whose booking fails twice, book it once', async () => {
  const [shop, other] = shared()
  const order = await paid(shop)
  await sql`
    create table if not exists refusals (order_id text);
    create sequence if not exists refusals_made;
    create or replace function refuse_booking() returns trigger language plpgsql as $$ begin
      if new.kind = 'refund' and exists (select from refusals r where r.order_id = new.order_id) and nextval('refusals_made') <= 2
      then raise exception 'killed between two lines'; end if;
      return new;
    end $$;
    create or replace trigger refuse_booking before insert on transfers for each row execute function refuse_booking()`.execute(
    shop.db,
  )
  await sql`insert into refusals values (${order.orderId})`.execute(shop.db)
  const { body } = await refund(order, { amount: 700 })
  await sql`
    insert into pgboss.job (name, data, policy, retry_limit, retry_delay, retry_backoff, expire_seconds, deletion_seconds)
    select name, data, policy, retry_limit, 1, false, expire_seconds, deletion_seconds from pgboss.job, generate_series(1, 9)
    where name = 'refund' and data->>'refundId' = ${body.id}`.execute(shop.db)
  await eventually(
    () => shop.sandboxPayment(order.orderId),
    ({ refunds }) => refunds.length > 0,
  )
  const payment = await shop.sandboxPayment(order.orderId)
  await times(10, (i) => (i % 2 ? other : shop).notify({ payment }))
  await ended(order)
  await eventually(
    () => jobsOf(shop, body.id, 'created', 'active', 'retry'),
    (left) => left.length === 0,
  )
  const [made] = await query<{ made: number }>(shop.db, sql`select last_value as made from refusals_made`)
  assert(made!.made > 2, 'the booking failed on the way')
  assert.equal((await shop.sandboxPayment(order.orderId)).refunds.length, 1)
  assert.equal((await full(shop, order)).refundedAmount, 700)
  assert.deepEqual((await shop.transfers(order.orderId)).map(({ kind }) => kind).sort(), [
    'fee',
    'fee_refund',
    'refund',
    'sale',
  ])
  assert.equal((await list(order)).length, 1)
})

test('a payment that is disputed before the refund was made is left to the bank', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  const payment = await shop.sandboxPayment(order.orderId)
  // the processor answers nonsense once, so the refund waits for its next try
  const keep = (captures: unknown) =>
    sql`update sandbox_payments set payment = jsonb_set(payment, '{captures}', ${JSON.stringify(captures)}::jsonb)
      where payment->>'orderId' = ${order.orderId}`.execute(shop.db)
  await keep([])
  const { body } = await refund(order, { amount: 100 })
  const disputes = [{ id: `dp_${order.orderId}`, captureId: payment.captures[0]!.id, amountMinor: 1900, state: 'open' }]
  await eventually(
    () => jobsOf(shop, body.id, 'retry'),
    (waiting) => waiting.length > 0,
  )
  assert.equal((await shop.notify({ payment: { ...payment, disputes } })).status, 200)
  await keep(payment.captures)
  await tryAgainNow(shop, body.id)
  assert.deepEqual(
    (await ended(order)).map((one) => one.status),
    ['failed'],
  )
  assert.deepEqual((await shop.sandboxPayment(order.orderId)).refunds, [])
  assert.equal((await full(shop, order)).status, 'disputed')
})

test('an order with a dispute that was lost over nothing is refunded like any other', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  const payment = await shop.sandboxPayment(order.orderId)
  const dispute = { id: `dp_${order.orderId}`, captureId: payment.captures[0]!.id, amountMinor: 1900 }
  for (const told of [{ state: 'open' }, { state: 'lost', lostMinor: 0 }])
    assert.equal((await shop.notify({ payment: { ...payment, disputes: [{ ...dispute, ...told }] } })).status, 200)
  assert.equal((await full(shop, order)).status, 'paid')
  assert.equal((await refund(order, {})).status, 201)
  assert.deepEqual(
    (await ended(order)).map((one) => one.status),
    ['succeeded'],
  )
  assert.equal((await full(shop, order)).status, 'refunded')
})

test('a refund that its processor refuses for ten days has failed; if it was made all the same, it is booked', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  const payment = await shop.sandboxPayment(order.orderId)
  const captureId = payment.captures[0]!.id
  const holdBack = (refundsUnderWay: unknown[]) =>
    sql`update sandbox_payments set payment = payment || ${JSON.stringify({ refundsUnderWay })}::jsonb
      where payment->>'orderId' = ${order.orderId}`.execute(shop.db)
  // a refund in the dashboard is on its way without a notification, so there is no room for ours
  await holdBack([{ id: 're_dashboard', captureId, amountMinor: 1 }])
  const { body } = await refund(order)
  await tryAgainNow(shop, body.id)
  await eventually(
    () => tried(shop, body.id),
    (again) => again,
  )
  assert.deepEqual([(await list(order))[0].status, (await full(shop, order)).paid], ['pending', false])
  await sql`update refunds set created_at = now() - interval '11 days' where id = ${body.id}`.execute(shop.db)
  await tryAgainNow(shop, body.id)
  assert.equal((await ended(order))[0].status, 'failed')
  assert.equal((await full(shop, order)).paid, true)
  await holdBack([])
  const late = { id: 're_late', captureId, amountMinor: 1900, key: body.id }
  await shop.notify({ payment: { ...payment, refunds: [late] } })
  assert.equal((await full(shop, order)).status, 'refunded')
  assert.equal((await ended(order))[0].status, 'succeeded')
})

test('a refund without an answer of its processor is never failed: its seller gets one mail, and it is made when there is an answer', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  const { processorPaymentId } = await shop.sandboxPayment(order.orderId)
  const rename = (from: string, to: string) =>
    sql`update sandbox_payments set id = ${to} where id = ${from}`.execute(shop.db)
  await rename(processorPaymentId, 'away')
  const { body } = await refund(order, { amount: 700 })
  await eventually(
    () => jobsOf(shop, body.id, 'retry'),
    (waiting) => waiting.length > 0,
  )
  assert.deepEqual(await mailsAbout(shop, order, 'seller'), [])
  await sql`update refunds set created_at = now() - interval '11 days' where id = ${body.id}`.execute(shop.db)
  for (let i = 0; i < 3; i++) {
    await tryAgainNow(shop, body.id)
    await eventually(
      () => tried(shop, body.id),
      (again) => again,
    )
    assert.deepEqual(await whats(shop, order), ['created', 'paid', 'refund_requested'])
    assert.deepEqual(await mailsAbout(shop, order, 'seller'), ['A refund is not confirmed: A book'])
  }
  await rename('away', processorPaymentId)
  await tryAgainNow(shop, body.id)
  await shop.until(order.orderId, ({ refundedAmount }) => refundedAmount === 700)
  assert.equal((await shop.sandboxPayment(order.orderId)).refunds.length, 1)
})

test('a duplicate capture that went back is no refund of the order, and leaves the whole price to refund', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await shop.confirm(order, 'double_capture')
  await shop.until(order.orderId, ({ timeline }) => timeline!.some(({ what }) => what === 'duplicate_refunded'))
  assert.deepEqual(await list(order), [])
  assert.equal((await refund(order)).body.amount, 1900)
  await shop.until(order.orderId, ({ status }) => status === 'refunded')
  assert.equal((await list(order)).length, 1)
})

test('refunds of the dashboard are listed beside ours, newest first, and add up to the order’s total', async () => {
  const [shop] = shared()
  const order = await paid(shop)
  await shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, amount: 300 })
  await shop.until(order.orderId, ({ refundedAmount }) => refundedAmount === 300)
  await refund(order, { amount: 500 })
  const refunds = await ended(order)
  assert.deepEqual(
    refunds.map(({ amount, origin, status }) => [amount, origin, status]),
    [
      [500, 'api', 'succeeded'],
      [300, 'dashboard', 'succeeded'],
    ],
  )
  assert.equal((await full(shop, order)).refundedAmount, 800)
})

test(`a refund of all in many odd parts, a few at once, returns exactly the fee that was taken (seed ${SEED})`, async () => {
  const [shop] = shared()
  const prices = fc.integer({ min: 2, max: 99_999 })
  const shares = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 })
  for (const [priceMinor, percents] of sample(fc.tuple(prices, shares), 8)) {
    const order = await paid(shop, 'success', { priceMinor })
    const amounts = percents.map((percent) => Math.max(1, Math.floor((priceMinor * percent) / 100)))
    await Promise.all(amounts.map((amount) => refund(order, { amount })))
    await refund(order)
    const status = await shop.until(order.orderId, (one) => one.status === 'refunded')
    assert.equal(status.refundedAmount, priceMinor)
    for (const account of [FEES, sellerAccount(shop.sellerId), 'processor:sandbox'])
      assert.equal(await balanceOf(shop, order, account), 0, `${priceMinor} ${amounts}`)
  }
})

test('an expired order that was paid late is refunded like any other', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await sql`update orders set state = 'expired' where id = ${order.orderId}`.execute(shop.db)
  const capture = captureOf(order)
  await shop.notify({ payment: await snapshotOf(shop, order, { state: 'captured', captures: [capture] }) })
  await sql`update sandbox_payments set payment = payment || ${JSON.stringify({ state: 'captured', captures: [capture] })}::jsonb
    where payment->>'orderId' = ${order.orderId}`.execute(shop.db)
  assert.equal((await refund(order)).status, 201)
  await shop.until(order.orderId, ({ status }) => status === 'refunded')
})
