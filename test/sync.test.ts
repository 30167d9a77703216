import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { newLog } from '../src/kit/log.ts'
import { syncOrder } from '../src/payments/asking/ask.ts'
import type { Processor } from '../src/payments/processor.ts'
import { RECEIPT, captureOf, changeSandbox, mailsAbout, sharedPair, times, watchAsking } from './processor.ts'
import { eventually, realLengthOf, sharedShop } from './shop.ts'

const shared = sharedPair()
/** On a database of its own, where nothing else may wait for the processor. */
const alone = sharedShop()

const PAUSE_MS = 3_000

test('a hundred clients on two services that ask at once, and go on asking, make one call to the processor in three seconds', async () => {
  const pair = shared()
  const [shop] = pair
  const order = await shop.checkout()
  const asked = await watchAsking(shop)
  const ask = (i: number) => pair[i % 2]!.call('GET', `/api/checkout/${order.orderId}/status?sync=1`)
  const began = Date.now()
  let synced = 0
  for (let round = 0; (await asked(order.orderId)).length < 2; round++) {
    for (const { status, body } of await times(round === 0 ? 100 : 10, ask)) {
      assert.deepEqual([status, body.status], [200, 'pending'])
      if (body.synced) synced++
    }
  }
  const at = await asked(order.orderId)
  assert.equal(synced, at.length, 'who is told that the processor was asked is who asked it')
  for (const [i, time] of at.entries()) {
    assert.ok(time.getTime() - began >= i * PAUSE_MS, `call ${i + 1} came after ${time.getTime() - began} ms`)
  }
})

test('orders do not wait for each other: each may be asked about', async () => {
  const [shop] = shared()
  const orders = await times(8, () => shop.checkout())
  const answers = await Promise.all(orders.map(({ orderId }) => shop.status(orderId, undefined, true)))
  assert.deepEqual(
    answers.map(({ synced }) => synced),
    Array(8).fill(true),
  )
})

test('without sync=1 the processor is not asked, and the answer does not say whether it was', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await changeSandbox(shop, order.orderId, { state: 'captured', captures: [captureOf(order)] })
  for (const query of ['', '?sync=', '?sync=0', '?sync=true', '?sync=01']) {
    const { status, body } = await shop.call('GET', `/api/checkout/${order.orderId}/status${query}`)
    assert.deepEqual([status, body.status, 'synced' in body], [200, 'pending', false], query)
  }
})

test('a buyer who asks, the notification, its copies and the reconciler at the same moment: one sale, one mail', async () => {
  const [shop, other] = shared()
  for (let round = 0; round < 5; round++) {
    const order = await shop.checkout()
    await changeSandbox(shop, order.orderId, { state: 'captured', captures: [captureOf(order)] })
    const payment = await shop.sandboxPayment(order.orderId)
    await sql`update orders set due_at = now() where id = ${order.orderId}`.execute(shop.db)
    const [one, two] = await Promise.all([
      shop.status(order.orderId, 'bob@example.com', true),
      other.status(order.orderId, 'bob@example.com', true),
      shop.reconcile(),
      ...[shop, other, shop, other].map((each) => each.notify({ payment })),
    ])
    assert.ok(one.paid || two.paid, 'who asked the processor is told what it said')
    assert.deepEqual(
      (await shop.transfers(order.orderId)).map(({ kind }) => kind),
      ['sale', 'fee'],
    )
    const status = await shop.until(order.orderId, ({ paid }) => paid)
    assert.deepEqual(
      status.timeline!.map(({ what }) => what),
      ['created', 'paid'],
    )
    assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
  }
})

test('an order that is done is not asked about', async () => {
  const [shop] = shared()
  const order = await shop.paid()
  assert.equal((await shop.status(order.orderId, undefined, true)).synced, false)
})

test('a processor that does not know the payment, or was never asked for one, changes nothing for the buyer', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await sql`delete from sandbox_payments where payment->>'orderId' = ${order.orderId}`.execute(shop.db)
  const status = await shop.status(order.orderId, 'bob@example.com', true)
  assert.deepEqual([status.status, status.synced], ['pending', false])

  const starting = await shop.checkout()
  await sql`update payments set state = 'starting', processor_payment_id = null where order_id = ${starting.orderId}`.execute(
    shop.db,
  )
  assert.equal((await shop.status(starting.orderId, undefined, true)).synced, false)
})

test('a processor that hangs costs the buyer four seconds, and not the answer', async (t) => {
  const shop = alone()
  const [order, other] = [await shop.checkout(), await shop.checkout()]
  const never = { name: 'sandbox', fetchPayment: () => new Promise(() => {}) } as unknown as Processor
  const parts = { db: shop.db, processors: new Map([['sandbox', never]]), log: newLog('silent') }
  const limit = realLengthOf(4_000)
  const begun = performance.now()
  const givenUp = syncOrder(
    { ...parts, settle: () => Promise.reject(new Error('settled nothing')) },
    other.orderId,
  ).then((isAsked) => ({ isAsked, tookMs: performance.now() - begun }))
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  t.after(() => client.end())
  await client.query('begin; lock table sandbox_payments in access exclusive mode')
  const began = performance.now()
  let isAsking = true
  const asking = shop.status(order.orderId, 'bob@example.com', true).finally(() => (isAsking = false))
  // who comes meanwhile is not kept waiting by the one who asks
  await eventually(
    () =>
      client.query(
        `select 1 from pg_locks where not granted and relation = 'sandbox_payments'::regclass
        and database = (select oid from pg_database where datname = current_database())`,
      ),
    ({ rowCount }) => rowCount! > 0,
  )
  const meanwhile = await shop.status(order.orderId, undefined, true)
  assert.equal(meanwhile.synced, false)
  assert(isAsking, 'it waited for the other')
  const status = await asking
  const tookMs = performance.now() - began
  assert.deepEqual([status.status, status.synced], ['pending', false])
  // the lock is still held: it has not waited for that
  assert.ok(tookMs >= 3_900, `it took ${tookMs} ms`)
  await client.query('rollback')
  const ended = await Promise.race([givenUp, sleep(20_000, undefined, { ref: false })])
  assert(ended, 'it waits for ever')
  assert.equal(ended.isAsked, false)
  assert(ended.tookMs < (await limit) + 1_500, `it was given up after ${ended.tookMs} ms`)
  // and the next one who asks is not held up by what happened
  const again = await eventually(
    () => shop.status(order.orderId, undefined, true),
    ({ synced }) => synced === true,
  )
  assert.equal(again.status, 'pending')
})
