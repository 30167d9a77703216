import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction } from '../src/kit/database.ts'
import { proveBooks } from '../src/ledger/prove.ts'
import { forgetIdempotencyKeys } from '../src/orders/create.ts'
import { newId } from '../src/kit/ids.ts'
import { type Jobs, startJobs } from '../src/kit/jobs.ts'
import { newLog } from '../src/kit/log.ts'
import {
  type PaymentSnapshot,
  PaymentUnknown,
  ProcessorRefused,
  ProcessorUnavailable,
  RefundTaken,
} from '../src/payments/processor.ts'
import { proveRows } from '../src/payments/prove/rows.ts'
import { resumeRefunds } from '../src/payments/refunds/refund.ts'
import {
  BOB,
  KEY,
  due,
  dueOf,
  elevenDaysAgo,
  jobs,
  look,
  refundJob,
  refundUnderWay,
  refunds,
  tryAgainNow,
} from './corners.ts'
import { changeSandbox, query } from './processor.ts'
import { razorpaySettings, startRazorpayShop } from './razorpay-shop.ts'
import { type TestShop, assertProblem, eventually, startTestShop } from './shop.ts'
import { intentOf, startStripeShop } from './stripe-shop.ts'

// Where money could be lost, sent twice, or an order stay for ever: what two instances, a change of settings, a slow bank
// and a processor that is away make of each other.

test('a double click starts one payment, also where the processor makes two of it: the one we know is the one that is paid', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const other = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: razorpaySettings(bank) })
  bank.receipts = 'ignored'
  bank.delayMs = 300
  const productId = await rupees()
  const started = await Promise.all([shop, shop, other].map((one) => one.checkout({ productId }, KEY)))
  bank.delayMs = 0
  assert.equal(new Set(started.map(({ orderId }) => orderId)).size, 1)
  assert.equal(new Set(started.map(({ clientSecret }) => clientSecret)).size, 1)
  bank.pay(started.at(-1)!.clientSecret!)
  await bank.told()
  assert.equal((await shop.status(started[0]!.orderId, BOB)).status, 'paid')
})

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
  await tryAgainNow(shop)
  await eventually(
    () => jobs(shop, 'active'),
    (active) => active.length === 0,
  )
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
    5,
  ).catch(() => {})
  assert.deepEqual(await seller.statuses(order), ['pending'])
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
    20,
  )
  assert.deepEqual(await seller.statuses(order), ['pending'])
})

test('a refund whose job is gone, since the service was down for weeks, is asked about again', async (t) => {
  const { shop, bank, server, order, seller } = await refundUnderWay(t)
  server.knobs.notify = 'never'
  bank.settleRefund(bank.refunds[0]!['id'])
  await sql`delete from pgboss.job where name = 'refund'`.execute(shop.db)
  await elevenDaysAgo(shop)
  const queue = await startJobs({ connectionString: shop.databaseUrl }, newLog('silent'))
  t.after(() => queue.stop())
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

describe('the end of a refund that was not made', () => {
  const ends: (() => unknown)[] = []
  let shop: TestShop
  before(async () => void (shop = await startTestShop({ after: (end) => void ends.push(end) })))
  after(async () => {
    for (const end of ends.reverse()) await end()
  })

  test('a refund is called failed where its processor said no to it and has none of it, and nowhere else', async () => {
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

  test('a dispute ends no refund that the processor has taken and nobody was told of', async () => {
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

  test('without its processor a refund ends only if nobody was ever asked for it', async () => {
    const { run, mails } = await refundJob(shop)
    for (const [how, expected] of [
      [{ taken: true }, 'requested, taken, told'],
      [{}, 'requested, told'],
      [{ asked: '' }, 'failed'],
    ] as const) {
      const { id, standing } = await wantedRefund(shop, how)
      for (let day = 0; day < 2; day++) assert.equal(await run(id), undefined, 'nobody tries again before tomorrow')
      assert.equal(await standing(), expected)
    }
    assert.equal(mails.length, 3)

    const resumed: unknown[] = []
    const queue = { add: async (_tx: unknown, _name: string, added: { data: object }[]) => void resumed.push(...added) }
    const waiting = await Promise.all(['4 hours', '', '1 hour'].map((asked) => wantedRefund(shop, { asked })))
    await resumeRefunds(shop.db, queue as unknown as Jobs)
    const ours = waiting.map(({ id }) => resumed.some((one) => JSON.stringify(one).includes(id)))
    assert.deepEqual(ours, [true, true, false], 'what was asked about an hour ago has a job')
  })

  test('of two tries at once neither gives up what the other may get, and none begins after the end', async () => {
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
          query(shop.db, sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%asked_at%'`),
        (waiting) => waiting.length > 0,
      )
      await sql`update refunds set state = 'failed' where id = ${late.id}`.execute(tx)
    })
    await slow
    assert.equal(sent, 0)
  })
})

test('a second payment that the buyer disputes before it went back is left to the bank, which would return it once more', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  bank.pay(order.clientSecret!)
  await bank.told()
  bank.break(/POST .*refund/, 'server_error')
  const second = bank.pay(order.clientSecret!, { evenIfPaid: true })
  await bank.told()
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
  )
  bank.openDispute(second.id)
  await bank.told()
  await tryAgainNow(shop)
  await eventually(
    () => query<{ state: string }>(shop.db, sql`select state from refunds`),
    ([refund]) => refund?.state !== 'requested',
  )
  assert.equal(bank.refunds.size, 0)
  assert.deepEqual(await query(shop.db, sql`select state from refunds`), [{ state: 'failed' }])
})

test('of two payments of an order both are asked about, also when a bank is at work on the first', async (t) => {
  const shop = await startTestShop(t)
  const productId = await shop.product()
  const order = await shop.checkout({ productId }, KEY)
  await sql`update payments set state = 'canceled' where order_id = ${order.orderId}`.execute(shop.db)
  await changeSandbox(shop, order.orderId, { state: 'processing', rail: 'card' })
  const again = await shop.checkout({ productId }, KEY)
  assert.notEqual(again.clientSecret, order.clientSecret)
  await shop.confirm(again, 'lost_webhook')
  await due(shop, order)
  await look(shop, order)
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('an order at a price that cannot be charged ends at its time, like any that nobody paid', async (t) => {
  const { shop } = await startStripeShop(t)
  const productId = await shop.product({ priceMinor: 10 })
  assert.equal((await shop.call('POST', '/api/checkout', { productId, email: BOB })).status, 422)
  const [order] = await query<{ orderId: string }>(shop.db, sql`select id as "orderId" from orders`)
  await due(shop, order!, { over: true })
  await look(shop, order!)
  assert.equal((await shop.status(order!.orderId)).status, 'expired')
})

test('the last look at a paid order is made again when the processor is away', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const order = await shop.checkout()
  bank.confirm(intentOf(order))
  await server.delivered()
  server.knobs.notify = 'never'
  bank.refundInDashboard(intentOf(order))
  await due(shop, order, { ageHours: 31 * 24 })
  server.fail('500', { times: 3 })
  await look(shop, order)
  server.works()
  assert.notEqual(await dueOf(shop, order), null)
  await due(shop, order)
  await look(shop, order)
  assert.equal((await shop.status(order.orderId)).status, 'refunded')
  assert.equal(await dueOf(shop, order), null)
})

test('a processor that is put first later leaves an order with the payment it has', async (t) => {
  const { shop, server } = await startStripeShop(t)
  const productId = await shop.product()
  const stripe = await shop.checkout({ productId }, KEY)
  const env = {
    PROCESSORS: 'sandbox,stripe',
    STRIPE_SECRET_KEY: server.secretKey,
    STRIPE_PUBLISHABLE_KEY: server.secretKey.replace('sk_', 'pk_'),
    STRIPE_WEBHOOK_SECRET: server.webhookSecret,
    STRIPE_API_URL: server.url,
  }
  const later = await startTestShop(t, { databaseUrl: shop.databaseUrl, env })
  const again = await later.checkout({ productId }, KEY)
  assert.deepEqual(
    [again.orderId, again.clientSecret, again.processor],
    [stripe.orderId, stripe.clientSecret, 'stripe'],
  )
  assert.equal((await later.checkout({ productId })).processor, 'sandbox')
})

test('a payment that was declined too often is closed also when a bank was at work on one more try just then', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const order = await shop.checkout()
  server.knobs.notify = 'held'
  for (let i = 0; i < 10; i++) bank.confirm(intentOf(order), { outcome: 'decline' })
  bank.confirm(intentOf(order), { outcome: 'processing' })
  await server.release()
  assert.equal((await shop.status(order.orderId)).status, 'processing')
  bank.finish(intentOf(order), 'fail')
  await server.release()
  await eventually(
    async () => bank.paymentIntents[0]!['status'],
    (status) => status === 'canceled',
  )
})

test('while a bank is at work on an order its key is good, however long that takes: a reload pays no second one', async (t) => {
  const shop = await startTestShop(t)
  const productId = await shop.product()
  const order = await shop.checkout({ productId }, KEY)
  await changeSandbox(shop, order.orderId, { state: 'processing', rail: 'debit' })
  await shop.notify({ type: 'payment.processing', payment: await shop.sandboxPayment(order.orderId) })
  await due(shop, order, { ageHours: 60 })
  await forgetIdempotencyKeys(shop.db)
  assert.equal((await shop.checkout({ productId }, KEY)).orderId, order.orderId)
})

test('what was reserved and went back by itself is no bank at work: the buyer can pay again', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  const reserved = bank.pay(order.clientSecret!, { outcome: 'authorized', amount: 100 })
  await bank.told()
  assert.equal((await shop.status(order.orderId)).canPay, false)
  bank.autoRefund(reserved.id)
  await bank.told()
  assert.equal((await shop.status(order.orderId)).canPay, true)
})

test('a voucher that the buyer carries to a shop is not cancelled after a day', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const productId = await shop.product()
  const order = await shop.checkout({ productId }, KEY)
  bank.confirm(intentOf(order), { method: 'oxxo', outcome: 'requires_action' })
  await server.delivered()
  await due(shop, order)
  await look(shop, order)
  await due(shop, order, { ageHours: 30 })
  await sql`update orders set expires_at = expires_at - interval '30 hours' where id = ${order.orderId}`.execute(
    shop.db,
  )
  await look(shop, order)
  assert.equal((await shop.status(order.orderId)).status, 'pending')
  await forgetIdempotencyKeys(shop.db)
  assert.equal((await shop.checkout({ productId }, KEY)).orderId, order.orderId, 'a reload makes no second order')
  bank.confirm(intentOf(order), { method: 'oxxo' })
  await server.delivered()
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('who asks again how to pay what was paid meanwhile, and nobody told, hears that it is paid', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  server.knobs.notify = 'never'
  const productId = await shop.product()
  const order = await shop.checkout({ productId }, KEY)
  bank.confirm(intentOf(order))
  const { status, clientSecret } = await shop.checkout({ productId }, KEY)
  assert.deepEqual([status, clientSecret], ['paid', undefined])
})

test('what was refunded and is disputed all the same: the books have what the account has, whether it comes back at once, later or never', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const productId = await shop.product()
  const wholly = { refunded: undefined, end: 'refunded' }
  const partly = { refunded: 700, end: 'charged_back' }
  const ways = (['before closed', 'after closed', 'never'] as const).flatMap((when) =>
    [wholly, partly].map((part) => ({ when, ...part })),
  )
  await Promise.all(
    ways.map(async ({ when, refunded, end }) => {
      const what = `${refunded ?? 'all'}, ${when}`
      const order = await shop.checkout({ productId })
      const id = intentOf(order)
      const booked = async () => {
        await server.delivered()
        const seller = await query<{ minor: number }>(
          shop.db,
          sql`select coalesce(sum(case when debit_account like 'processor:%' then amount_minor when credit_account like 'processor:%' then -amount_minor end), 0)::bigint as minor
            from transfers where order_id = ${order.orderId}`,
        )
        return seller[0]!.minor
      }
      /** The seller's account at Stripe: by its own balance transactions. */
      const account = () => {
        const of = (one: Record<string, any>) => one['payment_intent'] === id
        const sum = (amounts: number[]) => amounts.reduce((all, one) => all + one, 0)
        return (
          sum(bank.charges.filter(of).map((one) => one['amount_captured'])) -
          sum(bank.refunds.filter(of).map((one) => (one['status'] === 'failed' ? 0 : one['amount']))) +
          sum(bank.disputes.filter(of).flatMap((one) => one['balance_transactions'].map((moved: any) => moved.amount)))
        )
      }
      bank.confirm(id)
      await server.delivered()
      const refund = bank.refundInDashboard(id, refunded)
      await server.delivered()
      const { id: dispute } = bank.openDispute(id)
      await server.delivered()
      bank.returnsRefunded = when
      bank.closeDispute(dispute, 'lost')
      assert.equal(await booked(), account(), `${what}: when it is closed`)
      bank.returnLate(dispute)
      assert.equal(await booked(), account(), `${what}: in the end`)
      assert.equal(account(), when === 'never' ? -(refunded ?? 1900) : 0, what)
      assert.equal((await shop.status(order.orderId)).status, end, what)
      bank.failRefund(refund['id'])
      assert.equal(await booked(), account(), `${what}: when the refund has failed`)
      // who has the money has no files
      const now = when !== 'never' && refunded === undefined ? 'paid' : 'charged_back'
      assert.equal((await shop.status(order.orderId)).status, now, what)
    }),
  )
  assert.deepEqual(await inTransaction(shop.db, (tx) => proveBooks(tx)), [])
  assert.deepEqual(await inTransaction(shop.db, (tx) => proveRows(tx)), [])
})

test('a dispute in another currency than was paid holds what was paid, and never more', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  const paid = bank.pay(order.clientSecret!)
  await bank.told()
  const held = async () =>
    (await shop.transfers(order.orderId)).filter(({ kind }) => kind === 'dispute_hold').map((one) => one.amountMinor)
  bank.telling.when = 'held'
  Object.assign(bank.openDispute(paid.id, { amount: 590 }), { currency: 'USD' })
  await bank.tellHeld()
  assert.deepEqual(await held(), [49_900])
})

test('an order whose processor was removed from the settings ends some day', async (t) => {
  const before = await startTestShop(t)
  const order = await before.checkout()
  await before.close()
  const shop = await startTestShop(t, { databaseUrl: before.databaseUrl, env: { PROCESSORS: 'none' } })
  await due(shop, order, { ageHours: 40 * 24, over: true })
  await look(shop, order)
  assert.equal(
    (await shop.status(order.orderId)).status,
    'pending',
    'it may be back tomorrow, and the buyer may have paid',
  )
  await sql`update orders set expires_at = now() - interval '15 days', due_at = now()`.execute(shop.db)
  await look(shop, order)
  assert.equal((await shop.status(order.orderId)).status, 'expired')
})

test('an order that was begun with another account’s keys is no outage for its buyer', async (t) => {
  const { shop } = await startStripeShop(t)
  const productId = await shop.product()
  await shop.checkout({ productId }, KEY)
  const { server: another } = await startStripeShop(t)
  const env = {
    STRIPE_SECRET_KEY: another.secretKey,
    STRIPE_PUBLISHABLE_KEY: another.secretKey.replace('sk_', 'pk_'),
    STRIPE_WEBHOOK_SECRET: another.webhookSecret,
    STRIPE_API_URL: another.url,
  }
  const later = await startTestShop(t, { databaseUrl: shop.databaseUrl, env })
  const answer = await later.call('POST', '/api/checkout', { productId, email: BOB }, KEY)
  assertProblem(answer, 409, 'payment_closed')
})
