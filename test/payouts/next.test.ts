import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { sellerAccount } from '../../src/ledger/transfers.ts'
import { balanceDaysOf } from '../../src/payouts/history.ts'
import { hasRun, nextRunOn } from '../../src/payouts/next.ts'
import { owedOf } from '../../src/payouts/owed.ts'
import { proposeRun } from '../../src/payouts/runs.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { newBrowser, newMailbox } from '../support/seller.ts'
import { assertProblem, eventually, sharedShop } from '../support/shop.ts'

const shared = sharedShop({ env: { PAYOUT_MINIMUM: '20 USD', PAYOUT_HOLD_DAYS: '0' } })

test('the next run is on the next Monday, or on the first day of the next month', () => {
  for (const [now, weekly, monthly] of [
    ['2026-11-23T00:00:00Z', '2026-11-30', '2026-12-01'],
    ['2026-11-29T23:59:59Z', '2026-11-30', '2026-12-01'],
    ['2026-12-31T12:00:00Z', '2027-01-04', '2027-01-01'],
    ['2028-02-29T12:00:00Z', '2028-03-06', '2028-03-01'],
  ] as const)
    assert.deepEqual(
      [nextRunOn('weekly', new Date(now), true), nextRunOn('monthly', new Date(now), true)],
      [weekly, monthly],
      now,
    )
})

test('the first day of a week or a month has the next run until its hour, which the schedule keeps', async () => {
  const [early, late] = [new Date('2027-02-01T04:36:59Z'), new Date('2027-02-01T04:37:00Z')]
  for (const schedule of ['weekly', 'monthly'] as const) {
    assert.equal(nextRunOn(schedule, new Date('2027-02-01T00:00:00Z'), false), '2027-02-01')
    assert.deepEqual([early, late].map((now) => nextRunOn(schedule, now, false)), ['2027-02-01', '2027-02-02']) // oxfmt-ignore
    assert.equal(nextRunOn(schedule, early, true), { weekly: '2027-02-08', monthly: '2027-03-01' }[schedule])
  }
  const { rows } = await sql`select cron, timezone from pgboss.schedule where name = 'payout_schedule'`.execute(shared().db) // oxfmt-ignore
  assert.deepEqual(rows, [{ cron: '37 4 * * *', timezone: 'UTC' }])
})

test('after the hour of the run, a week or a month without one has it tomorrow, and then in the next week or month', async () => {
  const { db } = shared()
  const now = new Date('2026-11-30T12:00:00Z')
  assert.deepEqual([nextRunOn('weekly', now, false), nextRunOn('monthly', now, false)], ['2026-12-01', '2026-12-01'])
  assert.equal(nextRunOn('weekly', new Date('2026-12-31T23:00:00Z'), false), '2027-01-01')
  const [tuesday, sunday, later] = ['2026-11-24', '2026-11-29', '2026-11-30'].map((day) => new Date(day)) as [
    Date,
    Date,
    Date,
  ]
  assert.equal(await hasRun(db, 'weekly', tuesday), false)
  await sql`
    insert into payout_runs (id, period, cutoff_at, created_by) values (${newId('run')}, '2026-W48', now(), 'schedule')`.execute(
    db,
  )
  assert.deepEqual([await hasRun(db, 'weekly', tuesday), await hasRun(db, 'weekly', sunday)], [true, true])
  assert.deepEqual([await hasRun(db, 'weekly', later), await hasRun(db, 'monthly', tuesday)], [false, false])
})

test('a seller reads what the next payout would be, or why there is none, one obstacle after the other', async () => {
  const { db } = shared()
  const email = newMailbox()
  const sellerId = await ensureSeller(db, { name: 'Ann', email, trusted: true })
  const browser = newBrowser(shared())
  assertProblem(await browser.call('GET', '/api/payouts/next'), 401, 'not_signed_in')
  await browser.signInByCode(email)
  const next = async () => {
    const { status, body } = await browser.call('GET', '/api/payouts/next')
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.by, body.schedule, body.holdDays], ['manual', 'weekly', 0])
    assert.match(body.runOn, /^\d{4}-\d\d-\d\d$/)
    return body.items.map(({ currency, expected, minimum, blocked }: any) => [currency, expected, minimum, blocked])
  }
  const sell = async (priceMinor: number, currency: string) =>
    shared().paid({ productId: await shared().product({ sellerId, priceMinor, currency }) })

  assert.deepEqual(await next(), [])
  await sell(1000, 'USD')
  assert.deepEqual(await next(), [['USD', 980, 2000, 'below_minimum']])
  await sell(5000, 'USD')
  assert.deepEqual(await next(), [['USD', 5880, 2000, 'no_details']])
  const details = { kind: 'other', name: 'Ann', country: 'US', lines: ['Bank of Ann', '000123456789'] }
  assert.equal((await browser.call('PUT', '/api/payout-details/USD', details)).status, 200)
  await sql`update payout_details set payable_from = now() + interval '8 days' where seller_id = ${sellerId}`.execute(
    db,
  )
  assert.deepEqual(await next(), [['USD', 5880, 2000, 'details_changed']])
  await sql`update payout_details set payable_from = now() - interval '1 day' where seller_id = ${sellerId}`.execute(db)
  assert.deepEqual(await next(), [['USD', 5880, 2000, null]])
  await sql`update sellers set suspended_at = now() where id = ${sellerId}`.execute(db)
  assert.deepEqual(await next(), [['USD', 5880, 2000, 'suspended']])
  await sql`update sellers set suspended_at = null where id = ${sellerId}`.execute(db)

  const order = await sell(1000, 'EUR')
  const refund = { 'idempotency-key': newId('ref') }
  assert.equal((await browser.call('POST', `/api/orders/${order.orderId}/refunds`, {}, refund)).status, 201)
  // the processor confirms the refund a moment later
  const [first] = await eventually(next, ([[, expected]]) => expected === 0)
  assert.deepEqual(first, ['EUR', 0, 1, 'nothing_available'])
})

test('money of a refund under way is neither available nor in the next payout nor in a run, to the cent', async () => {
  const { db } = shared()
  const email = newMailbox()
  const sellerId = await ensureSeller(db, { name: 'Ann', email, trusted: true })
  const browser = newBrowser(shared())
  await browser.signInByCode(email)
  const productId = await shared().product({ sellerId, priceMinor: 3350 })
  const orders = [await shared().paid({ productId }), await shared().paid({ productId })]
  const parts = async () => {
    const [owed] = (await browser.call('GET', '/api/balance')).body.items
    const [next] = (await browser.call('GET', '/api/payouts/next')).body.items
    const runId = await proposeRun(db, { holdDays: 0, minimumMinor: {} }, { by: 'machine' })
    const { rows } = await sql<{ amount: number }>`
      select amount_minor as amount from payout_run_lines where run_id = ${runId} and seller_id = ${sellerId}`.execute(
      db,
    )
    return { ...owed, expected: next.expected, run: rows[0]!.amount }
  }
  let left = 2 * (3350 - 67)
  assert.deepEqual(picked(await parts()), [left, 0, left, 0, left, left])
  // by then 0.5, 2, 33.5 and 67 of the fee of 67 belong to the buyer: half to even
  for (const amount of [25, 75, 1575, 1675]) {
    const order = orders[0]!.orderId
    await sql`
      insert into refunds (id, processor, processor_capture_id, order_id, amount_minor, reason, state)
      select ${newId('ref')}, processor, processor_capture_id, order_id, ${amount}, 'seller', 'requested'
      from captures where order_id = ${order}`.execute(db)
    const before = await parts()
    const [held] = await owedOf(db, sellerId, 7)
    assert.deepEqual([held!.available, held!.pending, held!.refunding], [0, before.available, before.refunding])
    assert.deepEqual(held!.pendingBy.map((one) => one.amount), [before.available]) // oxfmt-ignore
    await sql`delete from refunds where order_id = ${order} and state = 'requested'`.execute(db)
    const refund = { 'idempotency-key': newId('ref') }
    assert.equal((await browser.call('POST', `/api/orders/${order}/refunds`, { amount }, refund)).status, 201)
    const after = await eventually(parts, ({ balance }) => balance < left)
    assert.deepEqual(picked(before), [left, left - after.balance, after.available, 0, after.expected, after.run])
    assert.deepEqual(picked(after), [after.balance, 0, after.balance, 0, after.balance, after.balance])
    left = after.balance
  }
  assert.equal(left, 3350 - 67)
})

const picked = (of: Record<string, number>) =>
  ['balance', 'refunding', 'available', 'pending', 'expected', 'run'].map((name) => of[name])

test('the balance of each of the last days is what the transfers until its end add up to', async () => {
  const { db } = shared()
  const email = newMailbox()
  const sellerId = await ensureSeller(db, { name: 'Ann', email, trusted: true })
  const browser = newBrowser(shared())
  assertProblem(await browser.call('GET', '/api/balance/history'), 401, 'not_signed_in')
  await browser.signInByCode(email)
  const history = async (query = '') => (await browser.call('GET', `/api/balance/history${query}`)).body.items
  assert.deepEqual(await history(), [])
  for (const days of ['0', '367', '-1', 'x'])
    assertProblem(await browser.call('GET', `/api/balance/history?days=${days}`), 400, 'validation_failed')

  const { rows } = await sql<{ today: string }>`select (now() at time zone 'UTC')::date::text as today`.execute(db)
  const { today } = rows[0]!
  const book = async (daysAgo: number, amountMinor: number, out: boolean, currency = 'USD') => {
    const [debit, credit] = out ? [`seller:${sellerId}`, 'adjustments'] : ['adjustments', `seller:${sellerId}`]
    await sql`
      insert into transfers (kind, cause, debit_account, credit_account, amount_minor, currency, created_at)
      values ('adjustment', ${newId('adj')}, ${debit}, ${credit}, ${amountMinor}, ${currency},
        (${today}::date - ${daysAgo}::int) at time zone 'UTC')`.execute(db)
  }
  await book(40, 1000, false)
  await book(2, 300, true)
  await book(2, 50, false)
  await book(0, 2000, true)
  await book(1, 7, false, 'EUR')
  // midnight may have come meanwhile: one day more, and the days until that of the bookings
  const [eur, usd] = await history('?days=5')
  const last4 = ({ days }: any) => days.filter(({ on }: any) => on <= today).slice(-4).map((day: any) => day.balance) // oxfmt-ignore
  assert.deepEqual([eur.currency, last4(eur)], ['EUR', [0, 0, 7, 7]])
  assert.deepEqual([usd.currency, last4(usd)], ['USD', [1000, 750, 750, -1250]])
  assert.equal(usd.days.length, 5)
  assert.equal((await history())[1].days.length, 30)
  assert.deepEqual(
    (await history('?days=1'))[1].days.map((day: any) => day.balance),
    [-1250],
  )
})

/** Summer time begins at midnight in three of them. */
const ZONES = ['UTC', 'Africa/Cairo', 'America/Santiago', 'Asia/Beirut', 'America/Los_Angeles']

test('the balance of each day is there in every time zone of the database, also where summer time begins at midnight', async () => {
  const { db } = shared()
  const sellerId = await ensureSeller(db, { name: 'Ann', email: newMailbox(), trusted: true })
  await sql`
    insert into transfers (kind, cause, debit_account, credit_account, amount_minor, currency)
    values ('adjustment', ${newId('adj')}, 'adjustments', ${sellerAccount(sellerId)}, 500, 'USD')`.execute(db)
  await db.connection().execute(async (session) => {
    // one transaction is at one moment, and its end sets the time zone back
    await sql`begin`.execute(session)
    const { rows } = await sql<{ on: string }>`select (now() at time zone 'UTC')::date::text as "on"`.execute(session)
    const found: unknown[] = []
    for (const zone of ZONES) {
      await sql`select set_config('timezone', ${zone}, true)`.execute(session)
      // more than a year has every beginning of summer time
      const [usd] = await balanceDaysOf(session, sellerId, 400)
      found.push([zone, usd?.days.length, usd?.days.at(-1)])
    }
    await sql`rollback`.execute(session)
    assert.deepEqual(
      found,
      ZONES.map((zone) => [zone, 400, { ...rows[0], balanceMinor: 500 }]),
    )
  })
})
