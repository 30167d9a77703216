import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { sweepEvents } from '../../src/payments/settle/unseen-events.ts'
import { recordJobs } from '../support/jobs.ts'
import { captureOf, mailsAbout, newEventId, query, snapshotOf } from '../stand-ins/processor.ts'
import { startMailServer } from '../stand-ins/mail-server.ts'
import { type TestShop, eventually, startTestShop } from '../support/shop.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

/** The tables that say how orders and money stand. */
const BOOKS = ['orders', 'order_events', 'payments', 'captures', 'refunds', 'disputes', 'transfers'] as const

/** All rows about orders and money, and the number of mails and refunds that were enqueued. */
async function books(shop: TestShop): Promise<unknown> {
  const tables = await Promise.all(
    BOOKS.map(async (table) => [
      table,
      await query(shop.db, sql`select * from ${sql.table(table)} t order by t::text`),
    ]),
  )
  const jobs = await query(
    shop.db,
    sql`select queue, count(*)::int as count from added_jobs where queue in ('mail', 'refund', 'close_payment') group by 1 order by 1`,
  )
  return { ...Object.fromEntries(tables), jobs }
}

/** Makes all stored notifications older. */
const ageEvents = (shop: TestShop, days: number) =>
  sql`update processor_events set received_at = received_at - make_interval(days => ${days}::int)`.execute(shop.db)

const outcomes = (shop: TestShop) =>
  query<{ id: string; outcome: string }>(
    shop.db,
    sql`select event_id as id, outcome from processor_events order by event_id`,
  )

/** Runs a scheduled job now, by its queue, as the clock would. */
async function runJob(shop: TestShop, queue: string): Promise<void> {
  const scheduled = await query(shop.db, sql`select 1 from pgboss.schedule where name = ${queue}`)
  assert.equal(scheduled.length, 1, `${queue} has a schedule`)
  const id = randomUUID()
  await sql`insert into pgboss.job (id, name) values (${id}, ${queue})`.execute(shop.db)
  await sql`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), ${queue})`.execute(shop.db)
  await eventually(
    () => query<{ state: string }>(shop.db, sql`select state from pgboss.job where id = ${id}`),
    ([job]) => job?.state === 'completed',
  )
}

test('notifications that the processor repeats after their retention change nothing', async (t) => {
  const shop = await startTestShop(t)
  await recordJobs(shop.db)
  const productId = await shop.product()
  const [sold, returned, disputed] = [
    await shop.checkout({ productId }),
    await shop.checkout({ productId }),
    await shop.checkout({ productId }),
  ]
  const notifications: { id: string; type: string; payment: unknown }[] = []
  for (const order of [sold, returned, disputed]) {
    const capture = captureOf(order)
    const paid = await snapshotOf(shop, order, { state: 'captured', captures: [capture] })
    const partOf = { captureId: capture.id, amountMinor: 500 }
    notifications.push({ id: newEventId(), type: 'payment.captured', payment: paid })
    if (order === returned) {
      const refunds = [{ id: `re_${order.orderId}`, ...partOf }]
      notifications.push({ id: newEventId(), type: 'refund', payment: { ...paid, refunds } })
    }
    if (order === disputed) {
      const dispute = { id: `dp_${order.orderId}`, ...partOf }
      for (const state of ['open', 'lost'])
        notifications.push({ id: newEventId(), type: state, payment: { ...paid, disputes: [{ ...dispute, state }] } })
    }
  }
  const sendAll = async () => {
    for (const one of notifications) assert.equal((await shop.notify(one)).status, 200)
    for (const order of [sold, returned, disputed]) await mailsAbout(shop, order)
  }
  await sendAll()
  const before = await books(shop)
  const stored = await outcomes(shop)
  assert.deepEqual([stored.length, stored.every(({ outcome }) => outcome === 'applied')], [notifications.length, true])

  await ageEvents(shop, 91)
  await runJob(shop, 'sweep_events')
  assert.deepEqual(await outcomes(shop), [])
  assert.deepEqual(await books(shop), before, 'the sweep touches no order and no money')

  await sendAll()
  assert.deepEqual(await books(shop), before)
  assert.deepEqual(
    await outcomes(shop),
    stored.map(({ id }) => ({ id, outcome: 'repeat' })),
    'they are stored again',
  )
})

test('a backfill over events that were removed too early asks about their payment once more, and changes nothing', async (t) => {
  const { shop, server, bank } = await startStripeShop(t)
  await recordJobs(shop.db)
  const order = await shop.checkout()
  bank.confirm(intentOf(order))
  await shop.until(order.orderId, ({ paid }) => paid)
  bank.refundInDashboard(intentOf(order), 500)
  await shop.until(order.orderId, ({ status }) => status === 'partially_refunded')
  await server.delivered()
  await mailsAbout(shop, order)
  const before = await books(shop)
  const count = (await outcomes(shop)).length
  assert(count > 0)

  await ageEvents(shop, 1)
  assert.equal(await sweepEvents(shop.db, 0), count)
  const asked = () => server.calls.filter(({ path }) => path === `/v1/payment_intents/${intentOf(order)}`).length
  const askedBefore = asked()
  await sql`
    insert into processor_cursors values ('stripe', now() - interval '1 hour', now())
    on conflict (processor) do update set seen_until = excluded.seen_until, due_at = now()`.execute(shop.db)
  await shop.backfill()
  assert.equal(asked() - askedBefore, 1)
  assert.deepEqual(await books(shop), before)
  assert((await outcomes(shop)).every(({ outcome }) => outcome !== 'applied'))
})

test('the settings decide how many days of notifications and mails are kept, and the metrics show the oldest', async (t) => {
  const server = await startMailServer(t)
  // the outbox was filled before the service had a mail server
  const env = { EVENT_RETENTION_DAYS: '40', OUTBOX_RETENTION_DAYS: '2', SMTP_URL: server.url }
  const shop = await startTestShop(t, { env })
  await sql`
    insert into processor_events (processor, event_id, type, outcome, received_at)
    select 'stripe', 'evt_' || days, 'charge.succeeded', 'ignored', now() - make_interval(days => days)
    from unnest(array[39, 41, 400]) days`.execute(shop.db)
  await sql`
    insert into outbox (id, recipient, subject, text, html, sent_at)
    select gen_random_uuid(), 'bob@example.com', days::text, '', '', now() - make_interval(days => days)
    from unnest(array[0, 1, 3, 300]) days`.execute(shop.db)
  const oldestDays = async () => {
    const { body } = await shop.call<string>('GET', '/metrics')
    const found = [...body.matchAll(/^till_oldest_row_seconds\{table="(\w+)"\} (\S+)$/gm)]
    return Object.fromEntries(found.map(([, table, seconds]) => [table, Math.floor(Number(seconds) / 86_400)]))
  }
  assert.deepEqual(await oldestDays(), { processor_events: 400, outbox: 300 })
  await runJob(shop, 'sweep_events')
  await runJob(shop, 'sweep_outbox')
  assert.deepEqual(
    (await outcomes(shop)).map(({ id }) => id),
    ['evt_39'],
  )
  const mails = await query<{ subject: string }>(shop.db, sql`select subject from outbox order by sent_at desc`)
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['0', '1'],
  )
  assert.deepEqual(await oldestDays(), { processor_events: 39, outbox: 1 })
})
