import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { newLog } from '../../src/kit/log.ts'
import { DISPUTED } from '../../src/ledger/transfers.ts'
import { syncDue } from '../../src/payments/sync/sync.ts'
import { attemptKeeper } from '../../src/payments/attempts/attempts.ts'
import type { Capture, DisputeFact, PaymentSnapshot, Processor } from '../../src/processors/processor.ts'
import {
  RECEIPT,
  captureOf,
  changeSandbox,
  mailsAbout,
  query,
  sharedPair,
  snapshotOf,
  times,
  watchAsking,
} from '../stand-ins/processor.ts'
import { startDatabaseProxy } from '../support/service.ts'
import { type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'

// Events without a notification, and the effects of the clock. No test waits for a clock: it moves an order's times instead.

const SCHEMA = path.join(import.meta.dirname, '../../schema')
const shared = sharedPair()
const HOUR_MS = 3_600_000
const about = (hours: number, ms: number) => assert.ok(Math.abs(ms - hours * HOUR_MS) < 5 * 60_000, `${ms / HOUR_MS} h`)

/** Moves an order's times: made `ageHours` ago, its time over or not, and to be looked at now. */
async function due(
  shop: TestShop,
  { orderId }: { orderId: string },
  { ageHours = 0, over = false } = {},
): Promise<void> {
  await sql`
    update orders set due_at = now() - interval '1 second',
      created_at = created_at - make_interval(hours => ${ageHours}),
      expires_at = case when ${over} then now() - interval '1 second' else expires_at - make_interval(hours => ${ageHours}) end
    where id = ${orderId}`.execute(shop.db)
}

interface Row {
  state: string
  now: Date
  createdAt: Date
  expiresAt: Date
  dueAt: Date | null
}
async function rowOf(shop: TestShop, { orderId }: { orderId: string }): Promise<Row> {
  const [row] = await query<Row>(
    shop.db,
    sql`select state, now() as now, created_at as "createdAt", expires_at as "expiresAt", due_at as "dueAt" from orders where id = ${orderId}`,
  )
  return row!
}

/** Looks at all that is due until the order is due later: again when a notification had the order just then. */
async function lookUntilLater(shop: TestShop, order: { orderId: string }): Promise<Row> {
  return eventually(
    async () => {
      await shop.syncDue()
      return rowOf(shop, order)
    },
    ({ dueAt, now }) => dueAt === null || dueAt > now,
  )
}

/** A payment that the bank works on and does not finish. */
async function bankAtWork(shop: TestShop, order: Created, rail: 'card' | 'upi' | 'bank_transfer'): Promise<void> {
  await changeSandbox(shop, order.orderId, { state: 'processing', rail })
  assert.equal(
    (await shop.notify({ type: 'payment.processing', payment: await shop.sandboxPayment(order.orderId) })).status,
    200,
  )
}

/** The bank says yes, without a notification. */
const captured = (shop: TestShop, order: Created) =>
  changeSandbox(shop, order.orderId, { state: 'captured', captures: [captureOf(order)] })

test('a payment whose every notification was lost is found, and the files and the receipt come', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await shop.confirm(order, 'lost_webhook')
  assert.equal((await shop.status(order.orderId)).status, 'pending')
  await due(shop, order)
  const row = await lookUntilLater(shop, order)
  assert.equal(row.state, 'paid')
  assert.equal((await shop.status(order.orderId, 'bob@example.com')).downloads.length, 1)
  assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
})

test('a new order is looked at within a minute, and then less and less often as it grows old', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const fresh = await rowOf(shop, order)
  assert.ok(fresh.dueAt!.getTime() - fresh.createdAt.getTime() <= 60_000)
  for (const [ageHours, nextHours] of [
    [0, 0],
    [1, 1],
    [2, 3],
    [5, 6],
  ] as const) {
    await due(shop, order, { ageHours })
    const { state, dueAt, now } = await lookUntilLater(shop, order)
    assert.equal(state, 'pending')
    // as long as it is old: 0, then 1, 1 + 2 = 3, and 3 + 5 = 8, which is more than the longest pause of 6
    about(nextHours, dueAt!.getTime() - now.getTime())
    assert.ok(dueAt!.getTime() > now.getTime())
  }
})

test('the last look before an order’s end is at its end', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await due(shop, order, { ageHours: 22 })
  const { dueAt, expiresAt } = await lookUntilLater(shop, order)
  assert.equal(dueAt!.getTime(), expiresAt.getTime())
})

test('an expired order is synced before it ends: a buyer who paid gets the files', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await captured(shop, order)
  await due(shop, order, { over: true })
  assert.equal((await lookUntilLater(shop, order)).state, 'paid')
  const { timeline } = await shop.status(order.orderId, 'bob@example.com')
  assert.deepEqual(
    timeline!.map(({ what }) => what),
    ['created', 'paid'],
  )
})

test('an unpaid order expires, and its payment can no longer be made; a new order can', async () => {
  const [shop] = shared()
  const productId = await shop.product()
  const order = await shop.checkout({ productId })
  await shop.confirm(order, 'decline')
  await due(shop, order, { ageHours: 24, over: true })
  const { dueAt, now } = await lookUntilLater(shop, order)
  about(72, dueAt!.getTime() - now.getTime())
  const status = await shop.status(order.orderId, 'bob@example.com')
  assert.deepEqual([status.status, status.nextPollMs, status.timeline!.at(-1)!.what], ['expired', null, 'expired'])
  assert.equal((await shop.sandboxPayment(order.orderId)).state, 'canceled')
  assertProblem(await shop.confirm(order), 409, 'payment_closed')
  assert.deepEqual(await shop.transfers(order.orderId), [])
  assert.equal((await shop.paid({ productId })).status, 'pending')
})

test('an expired order gives no new way to pay it, for any repeated request', async () => {
  const [shop] = shared()
  const productId = await shop.product()
  const key = { 'idempotency-key': randomBytes(12).toString('hex') }
  const order = await shop.checkout({ productId }, key)
  await due(shop, order, { over: true })
  await lookUntilLater(shop, order)
  const { clientSecret, status, orderId } = await shop.checkout({ productId }, key)
  assert.deepEqual(
    { clientSecret, status, orderId },
    { clientSecret: undefined, status: 'expired', orderId: order.orderId },
  )
})

test('money that comes days after the order expired still delivers: by notification, by the buyer’s sync, by the reconciler', async () => {
  const [shop] = shared()
  const ways: ((order: Created) => Promise<unknown>)[] = [
    async (order) => shop.notify({ payment: await shop.sandboxPayment(order.orderId) }),
    (order) => shop.status(order.orderId, 'bob@example.com', true),
    async (order) => {
      await due(shop, order)
      await lookUntilLater(shop, order)
    },
  ]
  for (const way of ways) {
    const order = await shop.checkout()
    await due(shop, order, { over: true })
    assert.equal((await lookUntilLater(shop, order)).state, 'expired')
    await captured(shop, order)
    await way(order)
    const status = await shop.status(order.orderId, 'bob@example.com')
    assert.deepEqual([status.status, status.downloads.length], ['paid', 1])
    assert.deepEqual(
      status.timeline!.map(({ what }) => what),
      ['created', 'expired', 'paid'],
    )
    assert.equal((await shop.transfers(order.orderId)).length, 2)
    assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
  }
})

test('an expired order is looked at once more, and then left alone', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await due(shop, order, { over: true })
  assert.equal((await lookUntilLater(shop, order)).state, 'expired')
  await due(shop, order)
  const { state, dueAt } = await lookUntilLater(shop, order)
  assert.deepEqual([state, dueAt], ['expired', null])
})

test('an order whose bank works on the payment does not expire, and its payment stays', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await bankAtWork(shop, order, 'card')
  await due(shop, order, { ageHours: 24, over: true })
  const { state, dueAt, now } = await lookUntilLater(shop, order)
  assert.equal(state, 'processing')
  about(1, dueAt!.getTime() - now.getTime())
  assert.equal((await shop.sandboxPayment(order.orderId)).state, 'processing')

  await captured(shop, order)
  await due(shop, order)
  assert.equal((await lookUntilLater(shop, order)).state, 'paid')
})

test('a bank that began before our first sync is found at work too, and the order does not expire', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await changeSandbox(shop, order.orderId, { state: 'processing', rail: 'debit' })
  await due(shop, order, { over: true })
  assert.equal((await lookUntilLater(shop, order)).state, 'processing')
})

test('a bank transfer and a UPI payment have seven days, a card has one', async () => {
  const [shop] = shared()
  const rupees = await shop.product({ currency: 'INR' })
  for (const [rail, hours] of [
    ['card', 24],
    ['bank_transfer', 168],
    ['upi', 168],
  ] as const) {
    const order = await shop.checkout({ productId: rupees })
    const before = await rowOf(shop, order)
    about(24, before.expiresAt.getTime() - before.createdAt.getTime())
    await bankAtWork(shop, order, rail)
    const { createdAt, expiresAt } = await rowOf(shop, order)
    about(hours, expiresAt.getTime() - createdAt.getTime())
  }
})

test('a payment that we started and never noted is found by its key, paid or not', async () => {
  const [shop] = shared()
  for (const paid of [false, true]) {
    const order = await shop.checkout()
    const { processorPaymentId } = await shop.sandboxPayment(order.orderId)
    if (paid) await shop.confirm(order, 'lost_webhook')
    await sql`update payments set state = 'starting', processor_payment_id = null where order_id = ${order.orderId}`.execute(
      shop.db,
    )
    await due(shop, order)
    assert.equal((await lookUntilLater(shop, order)).state, paid ? 'paid' : 'pending')
    const attempts = await query(
      shop.db,
      sql`select processor_payment_id as id, state from payments where order_id = ${order.orderId}`,
    )
    assert.deepEqual(attempts, [{ id: processorPaymentId, state: paid ? 'captured' : 'open' }])
    const started = await query(
      shop.db,
      sql`select 1 from sandbox_payments where payment->>'orderId' = ${order.orderId}`,
    )
    assert.equal(started.length, 1)
  }
})

test('an attempt that never reached the processor is ended with its order', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await sql`delete from sandbox_payments where payment->>'orderId' = ${order.orderId}`.execute(shop.db)
  await sql`update payments set state = 'starting', processor_payment_id = null where order_id = ${order.orderId}`.execute(
    shop.db,
  )
  await due(shop, order, { over: true })
  assert.equal((await lookUntilLater(shop, order)).state, 'expired')
  assert.equal((await shop.sandboxPayment(order.orderId)).state, 'canceled')
})

test('an order that the processor gives no answer about is left as it is, looked at again, and holds up no other', async () => {
  const [shop] = shared()
  const [lost, found] = [await shop.checkout(), await shop.checkout()]
  await sql`delete from sandbox_payments where payment->>'orderId' = ${lost.orderId}`.execute(shop.db)
  await captured(shop, found)
  await due(shop, lost, { ageHours: 1, over: true })
  await due(shop, found)
  assert.equal((await lookUntilLater(shop, found)).state, 'paid')
  const { state, dueAt, now } = await lookUntilLater(shop, lost)
  assert.equal(state, 'pending', 'an order that may be paid does not expire without a sync')
  about(1, dueAt!.getTime() - now.getTime())
})

test('two services that look at the same time ask about each order once, however many there are', async (t) => {
  const shop = await startTestShop(t)
  const other = await startTestShop(t, { databaseUrl: shop.databaseUrl })
  const productId = await shop.product()
  const orders = await times(45, () => shop.checkout({ productId }))
  for (const order of orders.slice(0, 20)) await captured(shop, order)
  const asked = await watchAsking(shop)
  await sql`update orders set due_at = now() - interval '1 second'`.execute(shop.db)
  await Promise.all([shop.syncDue(), other.syncDue(), shop.syncDue()])
  for (const [i, order] of orders.entries()) {
    const { state } = await rowOf(shop, order)
    assert.equal(state, i < 20 ? 'paid' : 'pending')
    assert.equal((await asked(order.orderId)).length, 1)
  }
})

/** Makes as much time pass for all orders as a claim of the reconciler lasts. */
const claimsEnd = (shop: TestShop) =>
  sql`update orders set due_at = due_at - interval '2 minutes', created_at = created_at - interval '2 minutes'`.execute(
    shop.db,
  )

test('a process that dies while it looks leaves its orders to the others within minutes, however old they are', async (t) => {
  const shop = await startTestShop(t)
  const wire = await startDatabaseProxy(t, shop.databaseUrl)
  const doomed = await startTestShop(t, { databaseUrl: wire.url })
  const [paid, unpaid, sold] = [await shop.checkout(), await shop.checkout(), await shop.paid()]
  await captured(shop, paid)
  await due(shop, paid, { ageHours: 6 })
  await due(shop, unpaid, { over: true })
  await due(shop, sold)
  await shop.db.transaction().execute(async (tx) => {
    // the sandbox answers no one
    await sql`lock table sandbox_payments in access exclusive mode`.execute(tx)
    const looks = doomed.syncDue()
    looks.catch(() => {})
    await eventually(
      () =>
        query(
          shop.db,
          sql`select 1 from pg_locks where not granted and relation = 'sandbox_payments'::regclass
            and database = (select oid from pg_database where datname = current_database())`,
        ),
      (waiting) => waiting.length === 3,
    )
    // the service is gone for the database: nothing that it still does arrives
    await wire.cut()
    await assert.rejects(looks)
  })
  assert.equal(await shop.syncDue(), 0, 'a claim keeps others away while the look may be under way')
  for (const order of [paid, unpaid, sold]) {
    const { dueAt, now } = await rowOf(shop, order)
    assert.ok(dueAt!.getTime() - now.getTime() <= 120_000, `it waits for ${dueAt!.getTime() - now.getTime()} ms`)
  }
  await claimsEnd(shop)
  assert.equal(await shop.syncDue(), 3)
  assert.equal((await rowOf(shop, paid)).state, 'paid')
  assert.equal((await rowOf(shop, unpaid)).state, 'expired')
  const { dueAt, now } = await rowOf(shop, sold)
  about(24, dueAt!.getTime() - now.getTime())
  await wire.mend()
})

test('a look that ends after its claim changes nothing about when the order is due', async (t) => {
  const shop = await startTestShop(t)
  const other = await startTestShop(t, { databaseUrl: shop.databaseUrl })
  const [open, sold] = [await shop.checkout(), await shop.paid()]
  await due(shop, open, { ageHours: 2 })
  await due(shop, sold)
  await sql`update orders set paid_at = now() - interval '31 days' where id = ${sold.orderId}`.execute(shop.db)
  // the first two answers of the sandbox take as long as the test wants
  await sql`
    create sequence answers;
    create function hold_answer() returns boolean language plpgsql as $$ begin
      if nextval('answers') <= 2 then perform pg_advisory_xact_lock_shared(4711); end if;
      return true;
    end $$;
    create policy held on sandbox_payments using (hold_answer()) with check (true);
    alter table sandbox_payments enable row level security;
    alter table sandbox_payments force row level security`.execute(shop.db)
  const { late, before } = await shop.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(4711)`.execute(tx)
    const late = other.syncDue()
    late.catch(() => {})
    await eventually(
      () =>
        query(
          shop.db,
          sql`select 1 from pg_locks where locktype = 'advisory' and not granted and objid = 4711
            and database = (select oid from pg_database where datname = current_database())`,
        ),
      (waiting) => waiting.length === 2,
    )
    await claimsEnd(shop)
    assert.equal(await shop.syncDue(), 2)
    // something else sets a time again for the order that was looked at for the last time
    assert.equal((await rowOf(shop, sold)).dueAt, null)
    await sql`update orders set due_at = now() + interval '1 hour' where id = ${sold.orderId}`.execute(shop.db)
    return { late, before: [await rowOf(shop, open), await rowOf(shop, sold)] }
  })
  assert.equal(await late, 2)
  about(2, before[0]!.dueAt!.getTime() - before[0]!.now.getTime())
  for (const [i, order] of [open, sold].entries()) assert.deepEqual((await rowOf(shop, order)).dueAt, before[i]!.dueAt)
})

test('a processor that never answers is given up, and asked again after the same pause as one that fails', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.checkout()
  await due(shop, order, { ageHours: 3 })
  const never = { name: 'sandbox', fetchPayment: () => new Promise(() => {}) } as unknown as Processor
  const asking = {
    db: shop.db,
    processors: new Map([['sandbox', never]]),
    settle: () => Promise.reject(new Error('settled nothing')),
    log: newLog('silent'),
    attempts: attemptKeeper(shop.db),
  }
  assert.equal(await syncDue(asking, { lookMs: 50 }), 1)
  const { state, dueAt, now } = await rowOf(shop, order)
  assert.equal(state, 'pending')
  about(3, dueAt!.getTime() - now.getTime())
})

test('an order that an earlier payment has paid gives no buyer the payment that is still open', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.checkout()
  const attempts = attemptKeeper(shop.db)
  const first = await snapshotOf(shop, order, { state: 'canceled' })
  await shop.notify({ payment: first })
  const again = { orderId: order.orderId, processor: 'sandbox' }
  const second = await attempts.liveFor(again)
  assert.equal((await attempts.liveFor(again))?.id, second!.id)
  await shop.notify({ payment: { ...first, state: 'captured', captures: [captureOf(order)] } })
  assert.equal((await rowOf(shop, order)).state, 'paid')
  assert.equal(await attempts.liveFor(again), undefined)
})

test('an order does not expire while its buyer begins another payment, and the next look closes that one', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.checkout()
  await due(shop, order, { ageHours: 30, over: true })
  const attempts = attemptKeeper(shop.db)
  const payment = await snapshotOf(shop, order, { state: 'canceled' })
  const fetchPayment = async () => {
    // the processor has closed the payment, and the buyer's request is faster than the look
    await shop.notify({ payment })
    assert(await attempts.liveFor({ orderId: order.orderId, processor: 'sandbox' }))
    return payment
  }
  const asking = {
    db: shop.db,
    processors: new Map([['sandbox', { name: 'sandbox', fetchPayment } as unknown as Processor]]),
    settle: () => Promise.resolve('repeat' as const),
    log: newLog('silent'),
    attempts,
  }
  assert.equal(await syncDue(asking), 1)
  assert.equal((await rowOf(shop, order)).state, 'pending')
  await due(shop, order)
  await shop.syncDue()
  assert.equal((await rowOf(shop, order)).state, 'expired')
  const left = await query(shop.db, sql`select from payments where order_id = ${order.orderId} and state <> 'canceled'`)
  assert.equal(left.length, 0)
})

test('an order whose buyer gets more time at the bank does not end with that look, however long the look takes', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.checkout()
  await due(shop, order, { ageHours: 30, over: true })
  const payment = { ...(await snapshotOf(shop, order, { state: 'open' })), atBank: true }
  const cancelled: string[] = []
  const cancelPayment = async (id: string) => {
    cancelled.push(id)
    return { ...payment, state: 'canceled' }
  }
  const processor = { name: 'sandbox', fetchPayment: async () => payment, cancelPayment } as unknown as Processor
  const asking = {
    db: shop.db,
    processors: new Map([['sandbox', processor]]),
    // the process is stopped for a day, and goes on
    settle: async () => {
      await sql`update orders set expires_at = now() - interval '1 second' where id = ${order.orderId}`.execute(shop.db)
      return 'repeat' as const
    },
    log: newLog('silent'),
    attempts: attemptKeeper(shop.db),
  }
  for (const [state, closed] of [
    ['pending', 0],
    ['expired', 1],
  ] as const) {
    assert.equal(await syncDue(asking), 1)
    assert.equal((await rowOf(shop, order)).state, state)
    assert.equal(cancelled.length, closed)
    await due(shop, order, { over: true })
  }
})

test('a paid order is synced less and less often, and a refunded one is not', async () => {
  const [shop] = shared()
  const paid = await shop.paid()
  const refunded = await shop.paid()
  await shop.call('POST', '/api/sandbox/refund', { clientSecret: refunded.clientSecret })
  await shop.until(refunded.orderId, ({ status }) => status === 'refunded')
  const strange = await shop.checkout()
  const payment = await snapshotOf(shop, strange, {
    state: 'captured',
    captures: [captureOf(strange, { amountMinor: 1 })],
  })
  await shop.notify({ payment })
  assert.equal((await rowOf(shop, refunded)).dueAt, null)
  const hours = 3_600_000
  for (const order of [paid, strange]) {
    const { dueAt, now } = await rowOf(shop, order)
    assert.equal(Math.round((dueAt!.getTime() - now.getTime()) / hours), 1)
  }
  for (const [paidDaysAgo, nextInDays] of [
    [0, 1],
    [2, 7],
    [8, 30],
    [31, undefined],
  ] as const) {
    await sql`update orders set paid_at = now() - make_interval(days => ${paidDaysAgo}), due_at = now() where id = ${paid.orderId}`.execute(
      shop.db,
    )
    const { dueAt, now } = await lookUntilLater(shop, paid)
    assert.equal(dueAt && Math.round((dueAt.getTime() - now.getTime()) / (24 * hours)), nextInDays ?? null)
  }
})

test('a dispute is synced each week until the bank has decided, however long that takes and without any notification', async () => {
  const [shop] = shared()
  const order = await shop.paid()
  await shop.call('POST', '/api/sandbox/dispute', { clientSecret: order.clientSecret, outcome: 'open' })
  await shop.until(order.orderId, ({ status }) => status === 'disputed')
  const look = async (paidDaysAgo: number) => {
    await sql`update orders set paid_at = now() - make_interval(days => ${paidDaysAgo}), due_at = now() where id = ${order.orderId}`.execute(
      shop.db,
    )
    const { state, dueAt, now } = await lookUntilLater(shop, order)
    return [state, dueAt && Math.round((dueAt.getTime() - now.getTime()) / HOUR_MS)]
  }
  for (const paidDaysAgo of [2, 20, 31, 400]) assert.deepEqual(await look(paidDaysAgo), ['disputed', 7 * 24])
  const { disputes } = await shop.sandboxPayment(order.orderId)
  await changeSandbox(shop, order.orderId, { disputes: [{ ...disputes[0]!, state: 'won' }] })
  assert.deepEqual(await look(400), ['paid', 1])
  assert.deepEqual(await look(400), ['paid', null])
})

test('an open dispute is synced each week in every state of its order, and in the end its held money is booked', async () => {
  const [shop] = shared()
  const capturedAt = new Date(Date.now() - 40 * 24 * HOUR_MS).toISOString()
  const back = ({ id, amountMinor }: Capture) => [{ id: `re_${id}`, captureId: id, amountMinor }]
  const dispute = ({ id }: Capture, state: DisputeFact['state'], amountMinor = 1900): DisputeFact => {
    return { id: `dp_${id}_${amountMinor}`, captureId: id, amountMinor, state }
  }
  type Steps = (sale: Capture, second: Capture) => [Partial<PaymentSnapshot>, Partial<PaymentSnapshot>]
  const twice: Steps = (sale, second) => {
    const told = { captures: [sale, second], refunds: back(second) }
    return [told, { ...told, disputes: [dispute(second, 'open')] }]
  }
  const ways: [what: string, is: string, isTold: boolean, steps: Steps][] = [
    [
      'refunded while it was disputed',
      'refunded',
      true,
      (sale) => {
        const disputes = [dispute(sale, 'open')]
        return [{ disputes }, { disputes, refunds: back(sale) }]
      },
    ],
    [
      'disputed when it had been refunded',
      'refunded',
      true,
      (sale) => [{ refunds: back(sale) }, { refunds: back(sale), disputes: [dispute(sale, 'open')] }],
    ],
    [
      'disputed once more after a loss',
      'charged_back',
      true,
      (sale) => {
        const lost = dispute(sale, 'lost', 1900)
        return [{ disputes: [lost] }, { disputes: [lost, dispute(sale, 'open', 900)] }]
      },
    ],
    ['disputed in what came twice', 'paid', true, twice],
    ['disputed in what came twice, and its last look finds that', 'paid', false, twice],
  ]
  const upgrade = sql.raw(await readFile(path.join(SCHEMA, '021_open_disputes.sql'), 'utf8'))
  for (const [what, is, isTold, steps] of ways) {
    const order = await shop.checkout()
    const sale = captureOf(order, { capturedAt })
    const payment = await snapshotOf(shop, order, { state: 'captured', captures: [sale] })
    const [first, last] = steps(sale, captureOf(order, { capturedAt }))
    const happen = async (facts: Partial<PaymentSnapshot>, tell: boolean) => {
      await changeSandbox(shop, order.orderId, { ...payment, ...facts })
      if (tell) assert.equal((await shop.notify({ payment: { ...payment, ...facts } })).status, 200)
    }
    const look = async () => {
      await sql`update orders set due_at = now() where id = ${order.orderId} and due_at is not null`.execute(shop.db)
      const { state, dueAt, now } = await lookUntilLater(shop, order)
      assert.equal(state, is, what)
      return dueAt && Math.round((dueAt.getTime() - now.getTime()) / HOUR_MS)
    }
    await happen(first, true)
    await happen(last, isTold)
    assert.equal(await look(), isTold ? 7 * 24 : 1, what)
    // as orders were left before disputes were looked at to their end
    await sql`update orders set due_at = null where id = ${order.orderId}`.execute(shop.db)
    await upgrade.execute(shop.db)
    assert.equal(await look(), 7 * 24, what)
    await happen({ ...last, disputes: last.disputes!.map((one) => ({ ...one, state: 'won' })) }, false)
    await look()
    const disputed = (await shop.transfers(order.orderId)).map(({ debit, credit, amountMinor }) =>
      credit === DISPUTED ? amountMinor : debit === DISPUTED ? -amountMinor : 0,
    )
    assert(disputed.some((minor) => minor !== 0) && disputed.reduce((sum, minor) => sum + minor, 0) === 0, what)
    assert.equal(await look(), null, `${what}: nothing more is to be expected`)
    await upgrade.execute(shop.db)
    assert.equal((await rowOf(shop, order)).dueAt, null, what)
  }
})

test('the reconciler finds a lost payment by the clock, without any request', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.checkout()
  await captured(shop, order)
  await due(shop, order)
  await sql`update pgboss.version set cron_on = null`.execute(shop.db)
  await startTestShop(t, { databaseUrl: shop.databaseUrl })
  await shop.until(order.orderId, ({ paid }) => paid)
})

test('schedules run again at once after the clock of the database was set back by hours', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.checkout()
  await captured(shop, order)
  await due(shop, order)
  // as the old clock has left it
  await sql`
    insert into pgboss.job (name, singleton_key, singleton_on, state, completed_on)
    select '__pgboss__send-it', replace(s.name, '_', chr(92) || '_') || '__', date_trunc('minute', now() at time zone 'UTC') + make_interval(mins => m),
      'completed', now()
    from pgboss.schedule s, generate_series(1, 180) m`.execute(shop.db)
  await sql`update pgboss.queue set maintain_on = now() + interval '3 hours', monitor_claim_on = now() + interval '3 hours'`.execute(shop.db) // oxfmt-ignore
  await sql`update pgboss.version set cron_on = now() + interval '3 hours'`.execute(shop.db)
  const ahead = () => query<{ what: string }>(shop.db, sql`
    select 'cron' as what from pgboss.version where cron_on > now() union all
    select name from pgboss.queue where greatest(maintain_on, monitor_claim_on) > now() union all
    select 'minute' from pgboss.job where name = '__pgboss__send-it' and singleton_on > now() at time zone 'UTC'`) // oxfmt-ignore
  assert((await ahead()).length > 180)
  await startTestShop(t, { databaseUrl: shop.databaseUrl })
  await eventually(ahead, ({ length }) => length === 0)
  // its first look is at its start; the others look again within half a minute
  await startTestShop(t, { databaseUrl: shop.databaseUrl })
  await shop.until(order.orderId, ({ paid }) => paid)
})

test('a second capture without a notification is found and sent back', async (t) => {
  const shop = await startTestShop(t)
  const order = await shop.paid()
  await sql`
    update sandbox_payments set payment = jsonb_set(payment, '{captures,1}', payment->'captures'->0 || '{"id": "sbx_ch_second"}')
    where payment->>'orderId' = ${order.orderId}`.execute(shop.db)
  const { rows } = await sql<{ soon: boolean }>`
    select due_at <= now() + interval '1 hour' as soon from orders where id = ${order.orderId}`.execute(shop.db)
  assert.equal(rows[0]!.soon, true, 'a paid order is looked at once more')
  await sql`update orders set due_at = now() where id = ${order.orderId}`.execute(shop.db)
  await shop.syncDue()
  await shop.until(order.orderId, ({ timeline }) => timeline!.some(({ what }) => what === 'duplicate_refunded'))
})
