import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import {
  RECEIPT,
  captureOf,
  changeSandbox,
  mailsAbout,
  sharedPair,
  times,
  watchAsking,
} from '../stand-ins/processor.ts'
import { atEnd } from '../support/ends.ts'
import { eventually, sharedShop, startTestShop } from '../support/shop.ts'

const HOUR_MS = 3_600_000

/** On every machine, a test ends before the pause between two syncs of an order does. */
const shared = sharedPair({ deadlines: { syncPauseMs: HOUR_MS, syncBudgetMs: 60_000 } })
/** On a database of its own, where nothing else may wait for the processor. */
const alone = sharedShop({ deadlines: { syncBudgetMs: HOUR_MS, syncPauseMs: 50 } })

test('a hundred clients on two services that sync at once, again and again, make one call to the processor until the pause is over', async () => {
  const pair = shared()
  const [shop] = pair
  const order = await shop.checkout()
  const asked = await watchAsking(shop)
  const ask = async (i: number) => {
    const { status, body } = await pair[i % 2]!.call('GET', `/api/checkout/${order.orderId}/status?sync=1`)
    assert.deepEqual([status, body.status], [200, 'pending'])
    return body.synced as boolean
  }
  for (const [calls, clients] of [
    [1, 100],
    [2, 10],
  ] as const) {
    const synced = [...(await times(clients, ask)), ...(await times(10, ask))].filter(Boolean).length
    assert.equal(synced, 1, 'only the request that synced has `synced: true`')
    assert.equal((await asked(order.orderId)).length, calls)
    await sql`update orders set sync_after = sync_after - interval '1 hour' where id = ${order.orderId}`.execute(
      shop.db,
    )
  }
})

test('orders do not wait for each other: each can be synced', async () => {
  const [shop] = shared()
  const orders = await times(8, () => shop.checkout())
  const answers = await Promise.all(orders.map(({ orderId }) => shop.status(orderId, undefined, true)))
  assert.deepEqual(
    answers.map(({ synced }) => synced),
    Array(8).fill(true),
  )
})

test('without sync=1 the service does not ask the processor, and the response has no `synced`', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  await changeSandbox(shop, order.orderId, { state: 'captured', captures: [captureOf(order)] })
  for (const query of ['', '?sync=', '?sync=0', '?sync=true', '?sync=01']) {
    const { status, body } = await shop.call('GET', `/api/checkout/${order.orderId}/status${query}`)
    assert.deepEqual([status, body.status, 'synced' in body], [200, 'pending', false], query)
  }
})

test('a buyer’s sync, the notification, its copies and the reconciler at the same moment: one sale, one mail', async () => {
  const [shop, other] = shared()
  for (let round = 0; round < 5; round++) {
    const order = await shop.checkout()
    await changeSandbox(shop, order.orderId, { state: 'captured', captures: [captureOf(order)] })
    const payment = await shop.sandboxPayment(order.orderId)
    await sql`update orders set due_at = now() where id = ${order.orderId}`.execute(shop.db)
    const [one, two] = await Promise.all([
      shop.status(order.orderId, 'bob@example.com', true),
      other.status(order.orderId, 'bob@example.com', true),
      shop.syncDue(),
      ...[shop, other, shop, other].map((each) => each.notify({ payment })),
    ])
    assert.ok(one.paid || two.paid, 'the request that synced has the processor’s state')
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

test('a finished order is not synced', async () => {
  const [shop] = shared()
  const order = await shop.paid()
  assert.equal((await shop.status(order.orderId, undefined, true)).synced, false)
})

test('a processor that does not know the payment, or never got a request, changes nothing for the buyer', async () => {
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

test('a processor that hangs costs the buyer its time limit, and the response still comes', async (t) => {
  const shop = alone()
  const impatient = await startTestShop(t, {
    databaseUrl: shop.databaseUrl,
    deadlines: { syncBudgetMs: 100, syncPauseMs: 50 },
  })
  const [order, other] = [await shop.checkout(), await shop.checkout()]
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  atEnd(t, () => client.end())
  await client.query('begin; lock table sandbox_payments in access exclusive mode')

  let isAsking = true
  const asking = shop.status(order.orderId, 'bob@example.com', true).finally(() => (isAsking = false))
  // a simultaneous request does not wait for the one that syncs
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
  // the lock is still held: this answer has not waited for it
  const givenUp = await impatient.status(other.orderId, 'bob@example.com', true)
  assert.deepEqual([givenUp.status, givenUp.synced], ['pending', false])
  assert(isAsking, 'only the deadline ends the wait')

  await client.query('rollback')
  const status = await asking
  assert.deepEqual([status.status, status.synced], ['pending', true])
  // and the failure does not delay the next request
  const again = await eventually(
    () => shop.status(other.orderId, undefined, true),
    ({ synced }) => synced === true,
  )
  assert.equal(again.status, 'pending')
})
