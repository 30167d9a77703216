import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Tx } from '../../src/kit/database.ts'
import { DropJob, type Jobs, type NewJob, TryLater } from '../../src/kit/jobs.ts'
import { type Log, newLog } from '../../src/kit/log.ts'
import type { Syncing } from '../../src/payments/sync/sync.ts'
import { backfill as walkLists } from '../../src/payments/sync/backfill.ts'
import { registerSyncLater } from '../../src/payments/sync/later.ts'
import type { PaymentSnapshot, Processor, ProcessorEvent } from '../../src/processors/processor.ts'
import { PaymentUnknown, ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { recordWithoutEffect } from '../../src/payments/settle/unseen-events.ts'
import type { Fact, Outcome } from '../../src/payments/settle/fact.ts'
import { RECEIPT, mailsAbout, query, times } from '../stand-ins/processor.ts'
import { razorpaySettings, startRazorpayShop } from '../support/razorpay-shop.ts'
import { razorpayProcessor } from '../../src/processors/razorpay/razorpay.ts'
import { ACCOUNT } from '../support/razorpay-setup.ts'
import { copyOf } from '../support/databases.ts'
import { type TestShop, eventually, startTestShop } from '../support/shop.ts'
import { adapter } from '../support/stripe-setup.ts'
import { type StripeShop, intentOf, startStripeShop, stripeSettings } from '../support/stripe-shop.ts'

// A shop that was down while events happened at its processor, without any notification.

const BOB = 'bob@example.com'
const HOUR_MS = 3_600_000
const NO_JOBS = {} as Jobs

interface Cursor {
  seenUntil: Date
  dueAt: Date
}
async function cursorOf(shop: TestShop, processor = 'stripe'): Promise<Cursor | undefined> {
  const [row] = await query<Cursor>(
    shop.db,
    sql`select seen_until as "seenUntil", due_at as "dueAt" from processor_cursors where processor = ${processor}`,
  )
  return row
}

/** The shop was last up this many hours ago, and starts now. */
async function wasDown(shop: TestShop, hours: number, processor = 'stripe'): Promise<void> {
  await sql`
    insert into processor_cursors values (${processor}, now() - make_interval(hours => ${hours}), now())
    on conflict (processor) do update set seen_until = excluded.seen_until, due_at = now()`.execute(shop.db)
}
const isDue = (shop: TestShop) => sql`update processor_cursors set due_at = now()`.execute(shop.db)

/** Runs the backfill, and waits for one that runs just now: by the service's own clock, or another instance. */
async function backfill(shop: TestShop, processor = 'stripe'): Promise<void> {
  await shop.backfill()
  await eventually(
    () => cursorOf(shop, processor),
    (cursor) => cursor!.dueAt.getTime() > Date.now() + HOUR_MS / 2,
  )
}

const statusOf = async (shop: TestShop, { orderId }: { orderId: string }) => (await shop.status(orderId, BOB)).status

/** Moves the bank's next events this many hours into the past, without notifications. */
function hoursAgo({ server, bank }: Pick<StripeShop, 'server' | 'bank'>, hours: number): void {
  server.knobs.notify = 'never'
  bank.now = () => Date.now() - hours * HOUR_MS
}

const fetches = ({ server }: Pick<StripeShop, 'server'>) =>
  server.calls.filter(({ method, path }) => method === 'GET' && /^\/v1\/payment_intents\/pi_\w+$/.test(path))

async function bookedTwice(shop: TestShop): Promise<unknown[]> {
  return query(
    shop.db,
    sql`select order_id from transfers where kind = 'sale' group by order_id having count(*) > 1
      union all select cause from transfers where kind = 'refund' group by cause having count(*) > 1`,
  )
}

describe('stripe', () => {
  test('after a day of downtime: sales, refunds and disputes are all booked, with one request for each payment', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, bank } = stripe
    hoursAgo(stripe, 23)
    const productId = await shop.product()
    const orders = await times(9, () => shop.checkout({ productId }))
    const [paid, part, whole, open, won, lost, declined, expired, untouched] = orders as (typeof orders)[number][] &
      [any, any, any, any, any, any, any, any, any]
    await sql`update orders set state = 'expired', expires_at = now() - interval '1 hour', due_at = null where id = ${expired.orderId}`.execute(
      shop.db,
    )
    for (const order of [paid, part, whole, open, won, lost, expired]) bank.confirm(intentOf(order))
    bank.confirm(intentOf(declined), { outcome: 'decline' })
    hoursAgo(stripe, 9)
    bank.refundInDashboard(intentOf(part), 500)
    bank.refundInDashboard(intentOf(whole))
    bank.openDispute(intentOf(open))
    bank.closeDispute(bank.openDispute(intentOf(won))['id'], 'won')
    hoursAgo(stripe, 1)
    bank.closeDispute(bank.openDispute(intentOf(lost))['id'], 'lost')

    await wasDown(shop, 24)
    const before = fetches(stripe).length
    await backfill(shop)
    assert.deepEqual(await Promise.all(orders.map((order) => statusOf(shop, order))), [
      'paid',
      'partially_refunded',
      'refunded',
      'disputed',
      'paid',
      'charged_back',
      'pending',
      'paid',
      'pending',
    ])
    assert.equal(fetches(stripe).length - before, 8, 'one request for each payment with an event')
    assert.deepEqual(await mailsAbout(shop, paid), [RECEIPT])
    assert.deepEqual(await bookedTwice(shop), [])
    assert.equal((await shop.status(untouched.orderId, BOB)).canPay, true)

    const { seenUntil } = (await cursorOf(shop))!
    assert(Math.abs(Date.now() - seenUntil.getTime()) < 60_000, 'seen until the walk began')
    await isDue(shop)
    await backfill(shop)
    assert.equal(fetches(stripe).length - before, 8, 'known payments are not asked about again')
  })

  test('a payment that is on several pages is asked about once, unless something may have happened since', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, bank } = stripe
    hoursAgo(stripe, 5)
    const productId = await shop.product()
    const orders = await times(56, () => shop.checkout({ productId }))
    for (const order of orders) bank.confirm(intentOf(order))
    const [early, late] = orders as any
    bank.refundInDashboard(intentOf(early), 100)
    hoursAgo(stripe, 0)
    bank.refundInDashboard(intentOf(late), 100)
    await wasDown(shop, 6)
    await backfill(shop)
    assert.equal(fetches(stripe).length, 56 + 1)
    assert.deepEqual(
      [await statusOf(shop, early), await statusOf(shop, late)],
      ['partially_refunded', 'partially_refunded'],
    )
    const counted = await query<{ events: number }>(
      shop.db,
      sql`select count(*) as events from processor_events where processor = 'stripe'`,
    )
    assert.deepEqual(counted, [{ events: 56 * 2 + 4 }])
  })

  test('a backfill begins with the shop’s own start in an account that served others before', async (t) => {
    const { shop, server, bank } = await startStripeShop(t)
    bank.now = () => Date.now() - 20 * 24 * HOUR_MS
    bank.confirm(bank.createIntent({ amount: '900', currency: 'usd' })['id'])
    await shop.backfill()
    const { dueAt } = (await cursorOf(shop))!
    assert(dueAt.getTime() > Date.now() + HOUR_MS / 2, 'nothing of ours can have happened yet')
    await isDue(shop)
    await backfill(shop)
    const begins = server.calls.filter(({ path }) => path === '/v1/events').map(({ params }) => params['created'].gte)
    assert(begins.length > 0 && begins.every((gte) => Date.now() / 1000 - gte < 1200), String(begins))
  })

  test('orders from before there was a cursor are found from the oldest open one on', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, bank } = stripe
    hoursAgo(stripe, 60)
    const order = await shop.checkout()
    bank.confirm(intentOf(order))
    await sql`update payments set created_at = now() - interval '61 hours' where order_id = ${order.orderId}`.execute(
      shop.db,
    )
    assert.equal(await cursorOf(shop), undefined)
    await backfill(shop)
    assert.equal(await statusOf(shop, order), 'paid')
  })

  test('a payment that cannot be read delays neither the others nor the cursor, and gets a job of its own', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, server, bank } = stripe
    hoursAgo(stripe, 5)
    const productId = await shop.product()
    const orders = await times(6, () => shop.checkout({ productId }))
    for (const order of orders) bank.confirm(intentOf(order))
    await wasDown(shop, 6)
    bank.refundInDashboard(intentOf(orders[2]!), 100)
    const ofThird = fetches(stripe).length
    server.fail('503 html', { match: ({ path }) => path.endsWith(intentOf(orders[2]!)) })
    await backfill(shop)
    assert(Date.now() - (await cursorOf(shop))!.seenUntil.getTime() < 60_000)
    await shop.until(orders[2]!.orderId, ({ status }) => status === 'partially_refunded')
    const states = await Promise.all(orders.map((order) => statusOf(shop, order)))
    assert.deepEqual(states, ['paid', 'paid', 'partially_refunded', 'paid', 'paid', 'paid'])
    assert.deepEqual(await bookedTwice(shop), [])
    await isDue(shop)
    await backfill(shop)
    assert.equal(fetches(stripe).length - ofThird, 6 + 1, 'once more, and by no further backfill')
  })

  test('many payments that can never be settled are left to jobs one by one, and none is skipped', async (t) => {
    const { shop } = await startStripeShop(t)
    let dead: (payment: number) => boolean
    const [settled, left] = [new Set<string>(), [] as string[]]
    const processor = {
      name: 'elsewhere',
      async *eventsSince(since: Date): AsyncGenerator<ProcessorEvent> {
        for (let n = 0; n < 240; n++) {
          const at = new Date(start + n * 60_000)
          if (at >= since)
            yield { id: `evt_${n}`, type: 'charge.succeeded', paymentId: `pi_${n >> 1}`, at: at.toISOString() }
        }
      },
      async fetchPayment(id: string) {
        if (dead(Number(id.slice(3)))) throw new ProcessorUnavailable('an answer that nobody understands')
        return { processorPaymentId: id } as PaymentSnapshot
      },
    } as unknown as Processor
    const asking = {
      db: shop.db,
      processors: new Map([['elsewhere', processor]]),
      log: newLog('silent'),
      settle: async ({ payment, event }: Fact) => {
        settled.add(payment.processorPaymentId)
        await recordWithoutEffect(shop.db, 'elsewhere', [event!], 'repeat')
        return 'repeat' as const
      },
      jobs: {
        add: async (_: Tx, __: string, jobs: NewJob[]) =>
          void left.push((jobs[0]!.data as { paymentId: string }).paymentId),
      } as unknown as Jobs,
    }
    const start = Date.now() - 5 * HOUR_MS
    const walks = async (count: number) => {
      for (let walk = 0; walk < count; walk++) {
        await isDue(shop)
        await walkLists(asking)
      }
      return (await cursorOf(shop, 'elsewhere'))!.seenUntil.getTime()
    }
    await wasDown(shop, 6, 'elsewhere')

    const begin = (await cursorOf(shop, 'elsewhere'))!.seenUntil.getTime()
    dead = () => true
    assert.equal(await walks(1), begin, 'an outage is waited for')
    assert(left.length >= 5 && left.length <= 8 && settled.size === 0, String(left))
    const { add } = asking.jobs
    asking.jobs.add = async () => Promise.reject(new Error('the database is away'))
    const noted = () => query(shop.db, sql`select event_id from processor_events where processor = 'elsewhere'`)
    const before = await noted()
    assert.equal(await walks(1), begin)
    assert.deepEqual(await noted(), before, 'events without a job are not stored')
    asking.jobs.add = add

    dead = (payment) => payment >= 20 && payment < 40
    assert(Date.now() - (await walks(6)) < 60_000, 'the end is reached')
    const all = Array.from({ length: 120 }, (_, n) => `pi_${n}`)
    assert.deepEqual([...settled, ...left].sort(), all.sort(), 'each is settled or left, and none both or twice')
  })

  test('a left payment is asked about until there is an answer, and given up with an error after days', async () => {
    let handler: (data: object) => Promise<void>
    const jobs = { on: async (_: string, __: object, its: typeof handler) => void (handler = its) } as unknown as Jobs
    let failure: Error | undefined = new ProcessorUnavailable('away')
    let outcome: Outcome = 'too_early'
    const processor = {
      async fetchPayment() {
        if (failure) throw failure
      },
    } as unknown as Processor
    const errors: object[] = []
    const log = { ...newLog('silent'), error: (what: object) => void errors.push(what) } as unknown as Log
    await registerSyncLater(jobs, {
      processors: new Map([['elsewhere', processor]]),
      settle: async () => outcome,
      log,
    } as unknown as Syncing)
    const ask = (daysAgo: number, name = 'elsewhere') =>
      handler({
        processor: name,
        paymentId: 'pi_1',
        since: new Date(Date.now() - daysAgo * 24 * HOUR_MS).toISOString(),
      })
    await assert.rejects(ask(12), ProcessorUnavailable)
    await assert.rejects(ask(12, 'removed'), /not configured/)
    assert.deepEqual(errors, [])
    await assert.rejects(ask(14), DropJob)
    assert.equal(errors.length, 1)
    failure = undefined
    await assert.rejects(ask(1), TryLater)
    outcome = 'applied'
    await ask(1)
    failure = new PaymentUnknown('no such payment')
    await ask(1)
  })

  test('an outage in the middle of the list keeps the finished part, and the next round continues', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, server, bank } = stripe
    const productId = await shop.product()
    const [early, late] = (await times(2, () => shop.checkout({ productId }))) as any
    hoursAgo(stripe, 30)
    bank.confirm(intentOf(early))
    hoursAgo(stripe, 2)
    bank.confirm(intentOf(late))
    await wasDown(shop, 31)
    const before = Date.now() / 1000 - 20 * 3600
    server.fail('503 html', {
      times: 9,
      match: ({ path, params }) => path === '/v1/events' && params['created'].gte > before,
    })
    await shop.backfill()
    assert.deepEqual([await statusOf(shop, early), await statusOf(shop, late)], ['paid', 'pending'])
    const { seenUntil, dueAt } = (await cursorOf(shop))!
    const behindHours = (Date.now() - seenUntil.getTime()) / HOUR_MS
    assert(Math.abs(behindHours - 30) < 0.1, `the cursor is ${behindHours} h behind`)
    assert(dueAt.getTime() < Date.now() + 6 * 60_000, 'it goes on in some minutes')
    server.works()
    const asked = fetches(stripe).length
    await isDue(shop)
    await backfill(shop)
    assert.equal(await statusOf(shop, late), 'paid')
    assert.equal(fetches(stripe).length - asked, 1, 'only what was new is asked about')
  })

  test('two simultaneous backfills, with late notifications, book once and mail once', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, server, bank } = stripe
    const other = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: stripeSettings(server) })
    hoursAgo(stripe, 3)
    server.knobs.notify = 'held'
    const productId = await shop.product()
    const orders = await times(10, () => shop.checkout({ productId }))
    for (const order of orders) bank.confirm(intentOf(order))
    for (const order of orders.slice(0, 4)) bank.refundInDashboard(intentOf(order), 400)
    await wasDown(shop, 4)
    server.knobs.delayMs = 30
    const first = shop.backfill()
    await eventually(
      async () => fetches(stripe).length,
      (count) => count >= 3,
    )
    await isDue(shop)
    await Promise.all([first, other.backfill(), server.release()])
    server.knobs.delayMs = 0
    const states = await Promise.all(orders.map((order) => statusOf(shop, order)))
    assert.deepEqual(states, [...Array(4).fill('partially_refunded'), ...Array(6).fill('paid')])
    assert.deepEqual(await bookedTwice(shop), [])
    assert.deepEqual(await mailsAbout(shop, orders[9]!), [RECEIPT])
    assert.deepEqual((await shop.transfers(orders[0]!.orderId)).map(({ kind }) => kind).sort(), [
      'fee',
      'fee_refund',
      'refund',
      'sale',
    ])
  })

  test('only one of many instances runs a backfill at a time', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, server } = stripe
    await wasDown(shop, 1)
    const lists = () => server.calls.filter(({ path }) => path === '/v1/events').length
    const before = lists()
    await times(8, () => shop.backfill())
    assert.equal(lists() - before, 1)
  })

  test('the log names events that are too old for the list, with the days in which they can be found', async (t) => {
    const { shop, server } = await startStripeShop(t)
    const errors: string[] = []
    const log = { ...newLog('silent'), error: (_: object, text: string) => void errors.push(text) } as unknown as Log
    // not by the name that the service's own clock walks
    const processors = new Map([['elsewhere', { ...adapter(server), name: 'elsewhere' }]])
    const asking = { db: shop.db, processors, settle: async () => 'repeat' as const, log, jobs: NO_JOBS }
    await wasDown(shop, 29 * 24, 'elsewhere')
    await walkLists(asking)
    assert.deepEqual(errors, [])
    await wasDown(shop, 45 * 24, 'elsewhere')
    const from = (await cursorOf(shop, 'elsewhere'))!.seenUntil.toISOString().slice(0, 10)
    for (let walks = 0; walks < 2; walks++) {
      await walkLists(asking)
      await isDue(shop)
    }
    assert.deepEqual(errors, [
      `the processor does not list events of more than 30 days ago: npm run reconcile -- --from ${from} finds what was missed`,
    ])
  })

  test('no other backfill begins between the pages of one', async (t) => {
    const { shop } = await startStripeShop(t)
    await wasDown(shop, 1)
    const next = Promise.withResolvers<void>()
    let walks = 0
    const processor = {
      name: 'stripe',
      async *eventsSince(): AsyncGenerator<ProcessorEvent> {
        const walk = ++walks
        for (let n = 0; n < 100; n++)
          yield { id: `evt_${n}`, type: 'plan.created', at: new Date(Date.now() - HOUR_MS + n).toISOString() }
        if (walk === 1) await next.promise
      },
    } as unknown as Processor
    const asking = { db: shop.db, processors: new Map([['stripe', processor]]), settle: async () => 'repeat' as const, log: newLog('silent'), jobs: NO_JOBS } // oxfmt-ignore
    const before = (await cursorOf(shop))!.seenUntil
    const first = walkLists(asking)
    // the first page is behind it, and it waits for the second
    await eventually(
      () => cursorOf(shop),
      (cursor) => cursor!.seenUntil > before,
    )
    await walkLists(asking)
    next.resolve()
    await first
    assert.equal(walks, 1)
  })

  test('payments of others are asked about once, noted, and delay nothing', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, bank } = stripe
    hoursAgo(stripe, 2)
    const stranger = bank.createIntent({ amount: '900', currency: 'usd' })['id']
    bank.confirm(stranger)
    bank.refundInDashboard(stranger)
    await wasDown(shop, 3)
    await backfill(shop)
    const noted = await query<{ outcome: string }>(shop.db, sql`select distinct outcome from processor_events`)
    assert.deepEqual(noted, [{ outcome: 'unknown_payment' }])
    assert.equal(fetches(stripe).length, 1)
    assert(Date.now() - (await cursorOf(shop))!.seenUntil.getTime() < 60_000)
    await isDue(shop)
    await backfill(shop)
    assert.equal(fetches(stripe).length, 1)
  })

  test('a clock that is behind the processor’s, or ahead of it, loses nothing', async (t) => {
    const stripe = await startStripeShop(t)
    const { shop, server, bank } = stripe
    server.knobs.notify = 'never'
    const productId = await shop.product()
    for (const minutes of [-10, 10]) {
      bank.now = () => Date.now() + minutes * 60_000
      const order = await shop.checkout({ productId })
      await wasDown(shop, 0)
      await backfill(shop)
      bank.confirm(intentOf(order))
      const walk = async () => {
        await isDue(shop)
        await backfill(shop)
      }
      await walk()
      // events “in the future” are listed once our own clock is there
      if (minutes > 0) bank.events.forEach((event) => (event['created'] -= minutes * 60))
      await walk()
      assert.equal(await statusOf(shop, order), 'paid', `${minutes} minutes`)
    }
  })

  test('the cursor never goes back', async (t) => {
    const { shop } = await startStripeShop(t)
    await sql`insert into processor_cursors values ('stripe', now() + interval '2 hours', now())`.execute(shop.db)
    const before = (await cursorOf(shop))!.seenUntil
    await backfill(shop)
    assert.deepEqual((await cursorOf(shop))!.seenUntil, before)
  })

  test('a backup that is an hour old is brought to the processor’s truth: no second charge, one mail', async (t) => {
    const stripe = await startStripeShop(t)
    const { server, bank } = stripe
    const productId = await stripe.shop.product()
    const orders = await times(4, () => stripe.shop.checkout({ productId }))
    const [waited, refunded, disputed] = orders as any
    for (const order of [refunded, disputed]) bank.confirm(intentOf(order))
    await server.delivered()
    await isDue(stripe.shop)
    await backfill(stripe.shop)
    await stripe.shop.close()
    const backup = await copyOf(t, stripe.shop.databaseUrl)

    const later = await startTestShop(t, { databaseUrl: stripe.shop.databaseUrl, env: stripeSettings(server) })
    server.knobs.webhookUrl = `${later.url}/api/webhooks/stripe`
    bank.confirm(intentOf(waited))
    bank.refundInDashboard(intentOf(refunded))
    bank.openDispute(intentOf(disputed))
    const lost = await later.checkout({ productId: await later.product() })
    bank.confirm(intentOf(lost))
    await server.delivered()
    assert.equal(await statusOf(later, waited), 'paid')
    await later.close()

    const restored = await startTestShop(t, { databaseUrl: backup, env: stripeSettings(server) })
    await sql`update processor_cursors set seen_until = now() - interval '1 hour', due_at = now()`.execute(restored.db)
    assert.equal(await statusOf(restored, waited), 'pending')
    await backfill(restored)
    assert.deepEqual(await Promise.all(orders.map((order) => statusOf(restored, order))), [
      'paid',
      'refunded',
      'disputed',
      'pending',
    ])
    assert.deepEqual(await mailsAbout(restored, waited), [RECEIPT])
    assert.equal(bank.charges.length, 4)
    assert.equal(bank.refunds.length, 1)
  })
})

describe('razorpay', () => {
  test('after a day of downtime: late captures, refunds and a dispute are found, and known ones are not asked about again', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    const productId = await rupees()
    const orders = await times(5, () => shop.checkout({ productId }))
    const [known, paid, refunded, disputed, late] = orders as any
    bank.pay(known.clientSecret!, { method: 'upi' })
    const failed = bank.pay(late.clientSecret!, { method: 'upi', outcome: 'failed' })
    await bank.delivered()
    bank.notifying.when = 'never'
    bank.pay(paid.clientSecret!, { method: 'upi' })
    bank.refundInDashboard(bank.pay(refunded.clientSecret!).id, { amount: 10_000 })
    bank.openDispute(bank.pay(disputed.clientSecret!).id)
    bank.authorize(failed.id)
    await wasDown(shop, 24, 'razorpay')
    await backfill(shop, 'razorpay')
    assert.deepEqual(await Promise.all(orders.map((order) => statusOf(shop, order))), [
      'paid',
      'paid',
      'partially_refunded',
      'disputed',
      'paid',
    ])
    assert.deepEqual(await bookedTwice(shop), [])
    const asked = bank.requestsTo(/^GET \/v1\/orders\/order_\w+$/).length
    await isDue(shop)
    await backfill(shop, 'razorpay')
    assert.equal(bank.requestsTo(/^GET \/v1\/orders\/order_\w+$/).length, asked)
  })

  test('no other backfill begins while one reads its lists, however long they are', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    bank.notifying.when = 'never'
    const order = await shop.checkout({ productId: await rupees() })
    for (let i = 0; i < 150; i++) bank.pay(order.clientSecret!, { outcome: 'failed' })
    bank.refundInDashboard(bank.pay(order.clientSecret!).id, { amount: 500 })
    await wasDown(shop, 2, 'razorpay')
    const razorpay = razorpayProcessor({ ...ACCOUNT, webhookSecrets: [ACCOUNT.webhookSecret], apiUrl: bank.url })
    let [walks, pages] = [0, 0]
    const processor: Processor = {
      ...razorpay,
      eventsSince(since, onPage) {
        walks++
        return razorpay.eventsSince!(since, async () => {
          pages++
          // as if the claim had just ended
          await isDue(shop)
          await onPage!()
          await walkLists(asking)
        })
      },
    }
    const asking = { db: shop.db, processors: new Map([['razorpay', processor]]), settle: async () => 'repeat' as const, log: newLog('silent'), jobs: NO_JOBS } // oxfmt-ignore
    await walkLists(asking)
    assert.deepEqual([walks, pages], [1, 3])
  })

  test('its list breaks off: nothing is lost, and two instances book once', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    const other = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: razorpaySettings(bank) })
    bank.notifying.when = 'never'
    const order = await shop.checkout({ productId: await rupees() })
    bank.pay(order.clientSecret!, { method: 'upi' })
    await wasDown(shop, 2, 'razorpay')
    bank.break(/GET \/v1\/refunds$/, 'html_error')
    const before = (await cursorOf(shop, 'razorpay'))!.seenUntil
    await shop.backfill()
    assert.deepEqual((await cursorOf(shop, 'razorpay'))!.seenUntil, before)
    bank.delayMs = 30
    await isDue(shop)
    const first = shop.backfill()
    await eventually(
      async () => bank.requestsTo(/GET \/v1\/orders\/order_\w+$/).length,
      (count) => count > 0,
    )
    await isDue(shop)
    await Promise.all([first, other.backfill()])
    assert.equal(await statusOf(shop, order), 'paid')
    assert.equal((await shop.transfers(order.orderId)).length, 2)
    assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
  })
})
