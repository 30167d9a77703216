import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { Created } from '../../src/checkout/schema.ts'
import { inTransaction } from '../../src/kit/database.ts'
import { moveOrderIfAllowed, moveOrders } from '../../src/orders/move.ts'
import type { PaymentSnapshot } from '../../src/processors/processor.ts'
import {
  RECEIPT,
  captureOf,
  changeSandbox,
  mailsAbout,
  newEventId,
  query,
  sharedPair,
  snapshotOf,
  times,
} from '../stand-ins/processor.ts'
import { SEED, sample } from '../support/seed.ts'
import { type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'

const shared = sharedPair()
const kinds = async (shop: TestShop, { orderId }: Created) =>
  (await shop.transfers(orderId)).map(({ kind }) => kind).sort()
const full = (shop: TestShop, { orderId }: Created) => shop.status(orderId, 'bob@example.com')
const statuses = (answers: { status: number }[]) => [...new Set(answers.map(({ status }) => status))]
const count = async (shop: TestShop, table: string, { orderId }: Created): Promise<number> =>
  (await query(shop.db, sql`select 1 from ${sql.table(table)} where order_id = ${orderId}`)).length

/** The event happens at the processor, and the notification arrives. */
async function happens(shop: TestShop, order: Created, change: Partial<PaymentSnapshot>): Promise<void> {
  await changeSandbox(shop, order.orderId, change)
  assert.equal((await shop.notify({ payment: await shop.sandboxPayment(order.orderId) })).status, 200)
}

/** The database refuses to book for these orders, the first `times` times, with the SQLSTATE `code`. */
async function trouble(shop: TestShop, { orderId }: Created, code: string, failures = 1_000_000, kind = '%') {
  await sql`
    create table if not exists trouble (order_id text primary key, code text, tries text, failures int, kind text);
    create or replace function make_trouble() returns trigger language plpgsql as $$
    declare t trouble;
    begin
      select * into t from trouble where order_id = new.order_id and new.kind like kind;
      -- a sequence, since it is the one thing that a rollback leaves as it is
      if found and nextval(t.tries) <= t.failures then raise exception 'trouble' using errcode = t.code; end if;
      return new;
    end $$;
    create or replace trigger make_trouble before insert on transfers for each row execute function make_trouble()`.execute(
    shop.db,
  )
  const tries = `tries_${randomBytes(4).toString('hex')}`
  await sql`create sequence ${sql.table(tries)}`.execute(shop.db)
  await sql`insert into trouble values (${orderId}, ${code}, ${tries}, ${failures}, ${kind})`.execute(shop.db)
  return async () => {
    await sql`delete from trouble where order_id = ${orderId}`.execute(shop.db)
    const [row] = await query<{ tries: number }>(shop.db, sql`select last_value as tries from ${sql.table(tries)}`)
    return row!.tries
  }
}

test('ten copies of one confirmation book the sale once', async () => {
  const [shop, other] = shared()
  const order = await shop.paid()
  const payment = await shop.sandboxPayment(order.orderId)
  const answers = await times(10, (i) => (i % 2 ? other : shop).notify({ payment }))
  assert.deepEqual(statuses(answers), [200])
  assert.deepEqual(await shop.transfers(order.orderId), [
    { kind: 'sale', debit: 'processor:sandbox', credit: `seller:${shop.sellerId}`, amountMinor: 1900 },
    { kind: 'fee', debit: `seller:${shop.sellerId}`, credit: 'fees', amountMinor: 38 },
  ])
})

test(`a whole history, reported out of order, all at once and at two services, ends the same every time (seed ${SEED})`, async () => {
  const [shop, other] = shared()
  const ends = new Set<string>()
  for (let round = 0; round < 6; round++) {
    const order = await shop.checkout()
    const history = await historyOf(shop, order)
    const orderings = fc.shuffledSubarray([...history, ...history], { minLength: history.length * 2 })
    const [notifying] = sample(orderings, 1, round)
    const answers = await Promise.all(notifying!.map((payment, i) => (i % 2 ? other : shop).notify({ payment })))
    assert.deepEqual(statuses(answers), [200])
    const { status, paid, refundedAmount, downloads } = await full(shop, order)
    const transfers = (await shop.transfers(order.orderId)).filter(({ kind }) => kind !== 'fee_refund')
    const lines = transfers.map(({ kind, debit, credit, amountMinor }) => `${kind} ${debit} ${credit} ${amountMinor}`)
    ends.add(JSON.stringify({ status, paid, refundedAmount, downloads, lines: lines.sort() }))
    const mails = await mailsAbout(shop, order)
    assert.equal(mails.filter((subject) => subject === RECEIPT).length, 1)
  }
  assert.equal(ends.size, 1, [...ends].join('\n'))
  assert.match([...ends][0]!, /"status":"charged_back","paid":false,"refundedAmount":900,"downloads":\[\]/)
})

/** All that a processor can say of one payment, step by step. */
async function historyOf(shop: TestShop, order: Created): Promise<PaymentSnapshot[]> {
  const [first, second] = [captureOf(order), captureOf(order)]
  const part = { id: `re_${randomBytes(8).toString('hex')}`, captureId: first.id, amountMinor: 400 }
  const rest = { id: `re_${randomBytes(8).toString('hex')}`, captureId: first.id, amountMinor: 500 }
  const back = { id: `re_${randomBytes(8).toString('hex')}`, captureId: second.id, amountMinor: second.amountMinor }
  const dispute = { id: `dp_${randomBytes(8).toString('hex')}`, captureId: first.id, amountMinor: 1000 }
  const steps: Partial<PaymentSnapshot>[] = [
    { declines: 1 },
    { state: 'processing', rail: 'card' },
    { state: 'captured', captures: [first] },
    { refunds: [part] },
    { captures: [first, second] },
    { refunds: [part, back] },
    { disputes: [{ ...dispute, state: 'open' }] },
    { refunds: [part, back, rest] },
    { disputes: [{ ...dispute, state: 'lost' }] },
  ]
  let now = await snapshotOf(shop, order)
  return steps.map((step) => (now = { ...now, ...step }))
}

test('a report that is older than the known state takes nothing back: a paid order stays paid', async () => {
  const [shop] = shared()
  const order = await shop.paid()
  const older: Partial<PaymentSnapshot>[] = [
    { state: 'open', declines: 1 },
    { state: 'processing', rail: 'upi' },
    { state: 'canceled' },
    { state: 'open' },
  ]
  for (const facts of older) {
    assert.equal((await shop.notify({ payment: await snapshotOf(shop, order, facts) })).status, 200)
    const status = await full(shop, order)
    assert.deepEqual([status.status, status.paid, status.downloads.length, status.nextPollMs], ['paid', true, 1, null])
  }
  assert.deepEqual(await kinds(shop, order), ['fee', 'sale'])
})

test('created, declined or at the bank is not paid: no links, no mail, nothing in the books', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const told: Partial<PaymentSnapshot>[] = [
    {},
    { declines: 3 },
    { state: 'processing', rail: 'card' },
    { state: 'canceled' },
  ]
  for (const facts of told) {
    await shop.notify({ payment: await snapshotOf(shop, order, facts) })
    const { paid, downloads, paidAt } = await full(shop, order)
    assert.deepEqual([paid, downloads, paidAt], [false, [], null])
  }
  assert.deepEqual(await kinds(shop, order), [])
  assert.deepEqual(await mailsAbout(shop, order), [])
})

test('the order’s own price counts, whatever the product costs by now', async () => {
  const [shop] = shared()
  const productId = await shop.product({ priceMinor: 1900 })
  const [agreed, changed] = [await shop.checkout({ productId }), await shop.checkout({ productId })]
  await sql`update products set price_minor = 2900 where id = ${productId}`.execute(shop.db)
  await happens(shop, agreed, { state: 'captured', captures: [captureOf(agreed)] })
  assert.equal((await full(shop, agreed)).status, 'paid')
  await happens(shop, changed, { state: 'captured', captures: [captureOf(changed, { amountMinor: 2900 })] })
  assert.equal((await full(shop, changed)).status, 'needs_review')
})

test('money is recorded in every state of the order, sold at most once, and the rest is sent back or held', async () => {
  const [shop] = shared()
  const first = (order: Created) => ({ state: 'captured' as const, captures: [captureOf(order)] })
  const dispute = (order: Created, captureId: string, state: 'open' | 'lost') => ({
    disputes: [{ id: `dp_${order.orderId}`, captureId, amountMinor: order.amount, state }],
  })
  const ways: [state: string, after: string, (order: Created) => Promise<unknown>][] = [
    ['pending', 'paid', async () => {}],
    ['processing', 'paid', (order) => happens(shop, order, { state: 'processing', rail: 'card' })],
    ['expired', 'paid', ({ orderId }) => inTransaction(shop.db, (tx) => moveOrderIfAllowed(tx, orderId, 'expire'))],
    [
      'needs_review',
      'needs_review',
      (order) => happens(shop, order, { state: 'captured', captures: [captureOf(order, { amountMinor: 5 })] }),
    ],
    ['paid', 'paid', (order) => happens(shop, order, first(order))],
    [
      'refunded',
      'refunded',
      async (order) => {
        await happens(shop, order, first(order))
        await shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret })
        await shop.until(order.orderId, ({ status }) => status === 'refunded')
      },
    ],
    ...(['disputed', 'charged_back'] as const).map((state): (typeof ways)[number] => [
      state,
      state,
      async (order) => {
        const facts = first(order)
        await happens(shop, order, {
          ...facts,
          ...dispute(order, facts.captures[0]!.id, state === 'disputed' ? 'open' : 'lost'),
        })
      },
    ]),
  ]
  for (const [state, after, prepare] of ways) {
    const order = await shop.checkout()
    await prepare(order)
    assert.equal((await full(shop, order)).status, state)
    const before = (await shop.sandboxPayment(order.orderId)).captures
    const late = captureOf(order)
    await happens(shop, order, { state: 'captured', captures: [...before, late] })
    assert.equal((await full(shop, order)).status, after)
    assert.equal(await count(shop, 'captures', order), before.length + 1)
    const sold = (await kinds(shop, order)).filter((kind) => kind === 'sale').length
    assert.equal(sold, state === 'needs_review' ? 0 : 1)
    if (before.length > 0 && sold === 1) {
      const isBack = ({ captureId, amountMinor }: { captureId: string; amountMinor: number }) =>
        captureId === late.id && amountMinor === late.amountMinor
      await eventually(
        async () => (await shop.sandboxPayment(order.orderId)).refunds.filter(isBack).length,
        (returned) => returned === 1,
      )
      assert.equal((await full(shop, order)).status, after)
    }
  }
})

test('two attempts at one order that both succeed at the same moment: one is the sale, the other is sent back', async () => {
  const [shop, other] = shared()
  for (let round = 0; round < 4; round++) {
    const productId = await shop.product()
    const key = { 'idempotency-key': randomBytes(12).toString('hex') }
    const order = await shop.checkout({ productId }, key)
    await happens(shop, order, { state: 'canceled' })
    const again = await shop.checkout({ productId }, key)
    assert.equal(again.orderId, order.orderId)
    assert.notEqual(again.clientSecret, order.clientSecret, 'a payment that was closed is not offered again')

    // a bank that was slow says yes to the closed one, while the buyer pays the new one
    const payments = await query<{ id: string; payment: PaymentSnapshot }>(
      shop.db,
      sql`select id, payment from sandbox_payments where payment->>'orderId' = ${order.orderId}`,
    )
    assert.equal(payments.length, 2)
    for (const one of payments) {
      Object.assign(one.payment, { state: 'captured', captures: [captureOf(order)] })
      await sql`update sandbox_payments set payment = ${JSON.stringify(one.payment)} where id = ${one.id}`.execute(
        shop.db,
      )
    }
    // at one service, where they may share a round, and at two
    const answers = await times(8, (i) =>
      (round % 2 && i % 2 ? other : shop).notify({ payment: payments[Math.floor(i / 2) % 2]!.payment }),
    )
    assert.deepEqual(statuses(answers), [200])
    const status = await shop.until(order.orderId, (one) =>
      one.timeline!.some(({ what }) => what === 'duplicate_refunded'),
    )
    assert.deepEqual([status.status, status.refundedAmount, status.downloads.length], ['paid', 0, 1])
    assert.deepEqual(await kinds(shop, order), ['fee', 'held', 'returned', 'sale'])
    const mails = await mailsAbout(shop, order)
    assert.equal(mails.length, 2)
  }
})

test('a booking that fails leaves nothing behind, so that the same notification counts when it comes again', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const id = newEventId()
  const payment = await snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order)] })
  const mend = await trouble(shop, order, 'XX000')
  for (let i = 0; i < 2; i++) assertProblem(await shop.notify({ id, payment }), 500, 'internal_error')
  assert.equal((await full(shop, order)).status, 'pending')
  for (const table of ['captures', 'transfers', 'order_events']) assert.equal(await count(shop, table, order), 0, table)
  assert.deepEqual(await query(shop.db, sql`select 1 from processor_events where event_id = ${id}`), [])
  assert.deepEqual(await mailsAbout(shop, order), [])
  await mend()
  assert.equal((await shop.notify({ id, payment })).status, 200)
  assert.equal((await full(shop, order)).status, 'paid')
  assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
})

test('statements that PostgreSQL wants repeated are repeated unseen: a deadlock and a serialization failure', async () => {
  const [shop] = shared()
  for (const code of ['40P01', '40001']) {
    const order = await shop.checkout()
    const mend = await trouble(shop, order, code, 2)
    await happens(shop, order, { state: 'captured', captures: [captureOf(order)] })
    assert.equal(await mend(), 4, 'two that failed, then the sale and its fee')
    assert.equal((await full(shop, order)).status, 'paid')
    assert.deepEqual(await kinds(shop, order), ['fee', 'sale'])
    assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
  }
})

test('a conflict that repeats for ever, a full disk and a cancelled statement get 503, so that the notification comes again', async () => {
  const [shop] = shared()
  for (const [code, tries] of [
    ['40P01', 3],
    ['53100', 1],
    ['57014', 1],
  ] as const) {
    const order = await shop.checkout()
    const mend = await trouble(shop, order, code)
    const payment = await snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order)] })
    const answer = await shop.notify({ payment })
    assertProblem(answer, 503, 'database_unavailable')
    assert.ok(Number(answer.headers.get('retry-after')) > 0)
    assert.equal(await mend(), tries)
    assert.equal(await count(shop, 'captures', order), 0)
    assert.equal((await shop.notify({ payment })).status, 200)
    assert.deepEqual(await kinds(shop, order), ['fee', 'sale'])
  }
})

test('a payment that cannot be booked does not fail those it arrives with', async () => {
  const [shop] = shared()
  const productId = await shop.product()
  const orders = await times(24, () => shop.checkout({ productId }))
  const broken = orders[10]!
  const mend = await trouble(shop, broken, '23514')
  const news = await Promise.all(
    orders.map((order) => snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order)] })),
  )
  const answers = await Promise.all(news.map((payment) => shop.notify({ payment })))
  for (const [i, { status }] of answers.entries()) assert.equal(status, orders[i] === broken ? 500 : 200)
  await mend()
  for (const order of orders) {
    assert.equal((await full(shop, order)).status, order === broken ? 'pending' : 'paid')
    assert.equal(await count(shop, 'transfers', order), order === broken ? 0 : 2)
  }
})

test('rounds of the same orders in opposite directions, at two services, never deadlock', async () => {
  const [shop, other] = shared()
  const productId = await shop.product()
  const deadlocks = async () => {
    const [row] = await query<{ deadlocks: number }>(
      shop.db,
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    )
    return row!.deadlocks
  }
  const before = await deadlocks()
  for (let round = 0; round < 4; round++) {
    const orders = await times(24, () => shop.checkout({ productId }))
    const news = await Promise.all(
      orders.map((order) => snapshotOf(shop, order, { state: 'captured', captures: [captureOf(order)] })),
    )
    const answers = await Promise.all([
      ...news.map((payment) => shop.notify({ payment })),
      ...news.toReversed().map((payment) => other.notify({ payment })),
    ])
    assert.deepEqual(statuses(answers), [200])
    for (const order of orders) assert.equal(await count(shop, 'transfers', order), 2)
  }
  // PostgreSQL tells its statistics a moment later
  await sql`select pg_stat_force_next_flush()`.execute(shop.db)
  assert.equal(await deadlocks(), before)
})

test('money is sent back once, though its booking fails after the processor has done it', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const mend = await trouble(shop, order, 'XX000', 2, 'returned')
  await shop.confirm(order, 'double_capture')
  const status = await shop.until(order.orderId, (one) =>
    one.timeline!.some(({ what }) => what === 'duplicate_refunded'),
  )
  assert.equal(status.status, 'paid')
  assert.equal(await mend(), 3)
  assert.equal((await shop.sandboxPayment(order.orderId)).refunds.length, 1)
  const rows = await query(shop.db, sql`select state, reason from refunds where order_id = ${order.orderId}`)
  assert.deepEqual(rows, [{ state: 'succeeded', reason: 'duplicate' }])
  assert.deepEqual(await kinds(shop, order), ['fee', 'held', 'returned', 'sale'])
})

test('a second payment that the seller has sent back by hand is not sent back again', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const [first, second] = [captureOf(order), captureOf(order)]
  const refund = { id: `re_${order.orderId}`, captureId: second.id, amountMinor: 1900 }
  await happens(shop, order, { state: 'captured', captures: [first, second], refunds: [refund] })
  assert.deepEqual(await kinds(shop, order), ['fee', 'held', 'returned', 'sale'])
  const rows = await query(shop.db, sql`select state, reason from refunds where order_id = ${order.orderId}`)
  assert.deepEqual(rows, [{ state: 'succeeded', reason: 'processor' }])
  assert.equal((await full(shop, order)).status, 'paid')
})

test('money in another currency goes back in that currency', async () => {
  const [shop] = shared()
  const order = await shop.checkout()
  const capture = captureOf(order, { currency: 'EUR' })
  const refund = { id: `re_${order.orderId}`, captureId: capture.id, amountMinor: 1900 }
  await happens(shop, order, { state: 'captured', captures: [capture], refunds: [refund] })
  const rows = await query<{ kind: string }>(
    shop.db,
    sql`select kind, currency from transfers where order_id = ${order.orderId} order by kind`,
  )
  assert.deepEqual(rows, [
    { kind: 'held', currency: 'EUR' },
    { kind: 'returned', currency: 'EUR' },
  ])
})

test('the schema itself refuses a second sale, a second live attempt, and states that contradict the money', async () => {
  const [shop] = shared()
  const order = await shop.paid()
  const open = await shop.checkout()
  const refused: [statement: string, code: string][] = [
    [
      `insert into captures select processor, processor_capture_id || 'x', payment_id, order_id, purpose, amount_minor, currency, rail, captured_at
        from captures where order_id = '${order.orderId}'`,
      '23505',
    ],
    [
      `insert into payments (id, order_id, processor) select 'pay_' || substr(id, 5), id, 'sandbox' from orders where id = '${open.orderId}'`,
      '23505',
    ],
    [
      `insert into payments (id, order_id, processor, processor_payment_id, state)
        select 'pay_' || substr(order_id, 5), '${open.orderId}', processor, processor_payment_id, 'canceled' from payments where order_id = '${order.orderId}'`,
      '23505',
    ],
    [`update payments set processor_payment_id = null where order_id = '${open.orderId}'`, '23514'],
    [`update orders set state = 'paid' where id = '${open.orderId}'`, '23514'],
    [`update orders set state = 'pending' where id = '${order.orderId}'`, '23514'],
    [`update orders set state = 'refunded' where id = '${order.orderId}'`, '23514'],
    [`update orders set refunded_minor = amount_minor + 1 where id = '${order.orderId}'`, '23514'],
    [`update orders set fee_minor = fee_minor + 1 where id = '${order.orderId}'`, '23514'],
  ]
  for (const [statement, code] of refused) {
    await assert.rejects(sql.raw(statement).execute(shop.db), { code }, statement)
  }
})

test('a move that is not in the table is impossible, and rolls back its transaction', async () => {
  const [shop] = shared()
  const [paid, open] = [await shop.paid(), await shop.checkout()]
  assert.equal(await inTransaction(shop.db, (tx) => moveOrderIfAllowed(tx, paid.orderId, 'expire')), undefined)
  const impossible = [
    { orderId: open.orderId, move: 'process' as const },
    { orderId: paid.orderId, move: 'expire' as const },
  ]
  await assert.rejects(
    inTransaction(shop.db, (tx) => moveOrders(tx, impossible)),
    /not where its move begins/,
  )
  assert.equal((await full(shop, open)).status, 'pending')
  assert.equal((await full(shop, paid)).status, 'paid')
})

test('an order that is being paid gets no second payment, in any interleaving of requests', async (t) => {
  const shop = await startTestShop(t)
  const productId = await shop.product()
  const key = { 'idempotency-key': 'one-key-of-one-buyer' }
  const order = await shop.checkout({ productId }, key)
  const settling = await shop.db.startTransaction().execute()
  await sql`select 1 from orders where id = ${order.orderId} for update`.execute(settling)
  await sql`update payments set state = 'captured' where order_id = ${order.orderId}`.execute(settling)
  await sql`update orders set state = 'paid', paid_at = now() where id = ${order.orderId}`.execute(settling)
  const again = shop.checkout({ productId }, key)
  const waits = () =>
    sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(shop.db)
  await eventually(waits, ({ rows }) => rows.length > 0)
  await settling.commit().execute()
  assert.equal((await again).clientSecret, undefined)
  const { rows } = await sql`select id from payments where order_id = ${order.orderId}`.execute(shop.db)
  assert.equal(rows.length, 1)
})
