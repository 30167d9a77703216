import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { type Jobs, startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import type { PaymentSnapshot } from '../../src/processors/processor.ts'
import { PaymentUnknown, ProcessorRefused, ProcessorUnavailable, RefundTaken } from '../../src/processors/refusals.ts'
import { resumeRefunds } from '../../src/payments/refunds/refund.ts'
import { atEnd } from '../support/ends.ts'
import {
  BOB,
  elevenDaysAgo,
  jobs,
  refundJob,
  refundUnderWay,
  refunds,
  triedAgain,
  tryAgainNow,
} from '../support/aged-orders.ts'
import { query } from '../stand-ins/processor.ts'
import { type TestShop, eventually, startTestShop } from '../support/shop.ts'
import { intentOf } from '../support/stripe-shop.ts'

// When a refund counts as made or failed: with a slow bank, changed settings, and a processor that is down.

test('a refund at a processor that was removed from the settings ends, and the files come back', async (t) => {
  const before = await startTestShop(t)
  const order = await before.paid()
  await before.close()
  const shop = await startTestShop(t, { databaseUrl: before.databaseUrl, env: { PROCESSORS: 'none' } })
  const seller = await refunds(shop)
  assert.equal((await seller.ask(order)).status, 201)
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
  )
  assert.deepEqual(await seller.statuses(order), ['pending'])
  await elevenDaysAgo(shop)
  await tryAgainNow(shop)
  await eventually(
    () => seller.statuses(order),
    (all) => all[0] === 'failed',
  )
  assert.equal((await shop.status(order.orderId, BOB)).paid, true)
})

test('a refund that the processor has taken is not called failed when a dispute opens: the seller would send it twice', async (t) => {
  const { shop, bank, server, order, seller } = await refundUnderWay(t)
  const { id } = bank.openDispute(intentOf(order))
  await server.delivered()
  await triedAgain(shop, await tryAgainNow(shop))
  assert.deepEqual(await seller.statuses(order), ['pending'])
  assert.deepEqual(await query(shop.db, sql`select type from events where type = 'refund.failed'`), [])
  bank.closeDispute(id, 'won')
  await server.delivered()
  bank.settleRefund(bank.refunds[0]!['id'])
  await server.delivered()
  assert.deepEqual(await seller.statuses(order), ['succeeded'])
  assert.equal((await shop.status(order.orderId, BOB)).refundedAmount, 900)
})

test('a refund that a bank has had for eleven days is not called failed since the processor is away for a moment', async (t) => {
  const { shop, server, order, seller } = await refundUnderWay(t)
  await elevenDaysAgo(shop)
  server.fail('500', { times: 50 })
  await tryAgainNow(shop)
  await eventually(
    () => jobs(shop, 'completed'),
    (done) => done.length > 0,
  )
  assert.deepEqual(await seller.statuses(order), ['pending'])
})

test('a refund that lost its job during weeks of downtime is requested again', async (t) => {
  const { shop, bank, server, order, seller } = await refundUnderWay(t)
  server.knobs.notify = 'never'
  bank.settleRefund(bank.refunds[0]!['id'])
  await sql`delete from pgboss.job where name = 'refund'`.execute(shop.db)
  await elevenDaysAgo(shop)
  const queue = await startJobs({ connectionString: shop.databaseUrl }, newLog('silent'))
  atEnd(t, () => queue.stop())
  await resumeRefunds(shop.db, queue)
  await eventually(
    () => seller.statuses(order),
    (all) => all[0] === 'succeeded',
  )
})

/** A paid order, of which a refund of 700 is wanted by no job but ours. */
async function wantedRefund(shop: TestShop, { asked = '4 hours', taken = false, age = '11 days' } = {}) {
  const { orderId } = await shop.paid()
  const payment: PaymentSnapshot = await shop.sandboxPayment(orderId)
  const captureId = payment.captures[0]!.id
  const id = newId('ref')
  await sql`
    insert into refunds (id, processor, processor_capture_id, order_id, amount_minor, reason, state, created_at, asked_at, taken_at)
    values (${id}, 'sandbox', ${captureId}, ${orderId}, 700, 'seller', 'requested', now() - ${age}::interval,
      now() - ${asked || null}::interval, ${taken ? new Date() : null})`.execute(shop.db)
  const standing = async (): Promise<string> =>
    (
      await query<{ as: string }>(
        shop.db,
        sql`select concat_ws(', ', state, case when taken_at is not null then 'taken' end,
          case when told_at is not null then 'told' end) as as from refunds where id = ${id}`,
      )
    )[0]!.as
  return { id, payment, captureId, standing }
}

const says =
  <T>(answer: T | Error) =>
  async () => {
    if (answer instanceof Error) throw answer
    return answer
  }

describe('the end of a refund that failed', () => {
  const ends: (() => unknown)[] = []
  let shop: TestShop
  before(async () => void (shop = await startTestShop({ after: (end) => void ends.push(end) })))
  after(async () => {
    for (const end of ends.reverse()) await end()
  })

  test('a refund is failed only when its processor said no and has none of it', async () => {
    const { run, mails } = await refundJob(shop)
    const [lost, no] = [new ProcessorUnavailable('the answer was lost'), new ProcessorRefused('too little is there')]
    const untold = new RefundTaken('nothing could be read of it')
    type Case = [Error, object | Error, string, Parameters<typeof wantedRefund>[1]?]
    const underWay = (id: string) => ({ refundKeysUnderWay: [id] })
    const cases: Record<string, (id: string) => Case> = {
      'its answer was lost': () => [lost, {}, 'requested, told'],
      'its answer was lost, and it was made': (id) => [lost, underWay(id), 'requested, taken'],
      'it is away': () => [lost, lost, 'requested, told'],
      'it is away, since yesterday': () => [lost, lost, 'requested', { age: '1 day' }],
      'it is away, and has taken it before': () => [lost, lost, 'requested, taken, told', { taken: true }],
      'it refuses, and cannot be read': () => [no, lost, 'requested, told'],
      'it refuses, and is another account by now': () => [no, new PaymentUnknown('whose?'), 'requested, told'],
      'it refuses what it has taken before': (id) => [no, underWay(id), 'requested, taken'],
      'it has taken it, and tells nothing': () => [untold, {}, 'requested, taken'],
      'it refuses, beside a try that hangs': () => [no, {}, 'requested', { asked: '30 seconds' }],
      'it refuses, since yesterday': () => [no, {}, 'requested', { age: '1 day' }],
      'it refuses': () => [no, {}, 'failed'],
      'it refuses, at the first try': () => [no, {}, 'failed', { asked: '' }],
    }
    for (const [name, make] of Object.entries(cases)) {
      const earlier = mails.length
      const [, , , how] = make('')
      const { id, payment, standing } = await wantedRefund(shop, how)
      const [refund, fetched, expected] = make(id)
      const fetchPayment = says(fetched instanceof Error ? fetched : { ...payment, ...fetched })
      const outcome = await run(id, { refund: says<PaymentSnapshot>(refund), fetchPayment })
      assert.equal(await standing(), expected, name)
      assert.equal(mails.length - earlier, /failed|told/.test(expected) ? 1 : 0, name)
      assert(!/^requested(, told)?$/.test(expected) || outcome instanceof Error, `${name}: it is tried again`)
    }
  })

  test('a dispute does not end a refund that the processor has accepted without a notification', async () => {
    const { run } = await refundJob(shop)
    const { id, payment, captureId, standing } = await wantedRefund(shop, { age: '1 hour', asked: '5 minutes' })
    const disputes = [{ id: 'dp_1', captureId, amountMinor: 1900, state: 'open' as const }]
    const refund = says<PaymentSnapshot>(new ProcessorUnavailable('the answer was lost'))
    await run(id, { refund, fetchPayment: says({ ...payment, disputes }) })
    assert.equal(await standing(), 'requested', 'its request was sent a moment ago')
    await sql`update refunds set asked_at = now() - interval '2 minutes' where id = ${id}`.execute(shop.db)
    await run(id, { refund, fetchPayment: says({ ...payment, disputes, refundKeysUnderWay: [id] }) })
    assert.equal(await standing(), 'requested, taken')
  })

  test('without its processor a refund ends only if no processor was ever asked for it', async () => {
    const { run, mails } = await refundJob(shop)
    for (const [how, expected] of [
      [{ taken: true }, 'requested, taken, told'],
      [{}, 'requested, told'],
      [{ asked: '' }, 'failed'],
    ] as const) {
      const { id, standing } = await wantedRefund(shop, how)
      for (let day = 0; day < 2; day++)
        assert.equal(await run(id), undefined, 'there is no further try before tomorrow')
      assert.equal(await standing(), expected)
    }
    assert.equal(mails.length, 3)

    const resumed: unknown[] = []
    const queue = { add: async (_tx: unknown, _name: string, added: { data: object }[]) => void resumed.push(...added) }
    const waiting = await Promise.all(['4 hours', '', '1 hour'].map((asked) => wantedRefund(shop, { asked })))
    await resumeRefunds(shop.db, queue as unknown as Jobs)
    const ours = waiting.map(({ id }) => resumed.some((one) => JSON.stringify(one).includes(id)))
    assert.deepEqual(ours, [true, true, false], 'a refund with a try an hour ago has a job')
  })

  test('of two simultaneous tries neither gives up a refund that the other may get, and none begins after the end', async () => {
    const [one, other] = [await refundJob(shop), await refundJob(shop)]
    const no = new ProcessorRefused('too little is there')
    const { id, payment, standing } = await wantedRefund(shop)
    const hanging = Promise.withResolvers<PaymentSnapshot>()
    let second: Promise<unknown> | undefined
    const began = Promise.withResolvers<void>()
    // while the first one is refused, another instance asks, and its request is on the way
    await one.run(id, {
      async refund() {
        second = other.run(id, { refund: () => (began.resolve(), hanging.promise), fetchPayment: says(payment) })
        await began.promise
        throw no
      },
      fetchPayment: says(payment),
    })
    assert.equal(await standing(), 'requested')
    hanging.resolve({ ...payment, refundKeysUnderWay: [id] })
    await second
    assert.equal(await standing(), 'requested, taken')

    // one that has read the refund before it ended, and was slow
    const late = await wantedRefund(shop)
    let sent = 0
    let slow: Promise<unknown> | undefined
    await shop.db.transaction().execute(async (tx) => {
      await sql`select from refunds where id = ${late.id} for update`.execute(tx)
      slow = one.run(late.id, { refund: async () => (sent++, late.payment), fetchPayment: says(late.payment) })
      await eventually(
        () =>
          query(
            shop.db,
            sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%asked_at%'`,
          ),
        (waiting) => waiting.length > 0,
      )
      await sql`update refunds set state = 'failed' where id = ${late.id}`.execute(tx)
    })
    await slow
    assert.equal(sent, 0)
  })
})
