import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Created, OrderStatus } from '../../src/checkout/schema.ts'
import { balance } from '../../src/ledger/post.ts'
import { FEES, SUSPENSE, sellerAccount } from '../../src/ledger/transfers.ts'
import { startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { sandboxProcessor } from '../../src/processors/sandbox/sandbox.ts'
import { atEnd } from '../support/ends.ts'
import { openJobs, recordJobs } from '../support/jobs.ts'
import { RECEIPT, holdBank, mailsAbout, query, times } from '../stand-ins/processor.ts'
import { SECRET, type TestShop, assertProblem, eventually, sharedShop } from '../support/shop.ts'

// The sandbox plays each trouble that a processor can make, and a buyer goes through it by the API alone.

const shared = sharedShop()
const DUPLICATE = 'A second payment was sent back: A book'
const REFUNDED = 'Your refund: A book'
const DISPUTED = 'About your payment: A book'

const whats = (status: OrderStatus) => status.timeline!.map(({ what }) => what)
const kinds = async (shop: TestShop, { orderId }: Created) => (await shop.transfers(orderId)).map(({ kind }) => kind)
const full = (shop: TestShop, { orderId }: Created) => shop.status(orderId, 'bob@example.com')

/** Every notification the sandbox meant to send about an order has been sent and answered. */
const notified = (shop: TestShop, { orderId }: Created) =>
  eventually(
    () =>
      query(
        shop.db,
        sql`select from ${openJobs} as j where
          (name = 'sandbox_notify' and data->'payment'->>'orderId' = ${orderId}
            or name = 'sandbox_later' and data->>'id' = (select id from sandbox_payments where payment->>'orderId' = ${orderId}))`,
      ),
    (waiting) => waiting.length === 0,
  )

function assertPaid(status: OrderStatus): void {
  assert.deepEqual([status.status, status.paid, status.downloads.length, status.nextPollMs], ['paid', true, 1, null])
  assert.ok(status.paidAt)
}

function assertNotPaid(status: OrderStatus, state: string): void {
  assert.deepEqual([status.status, status.paid, status.downloads, status.paidAt], [state, false, [], null])
}

async function pathOfLink(shop: TestShop, order: Created): Promise<string> {
  const { downloads } = await full(shop, order)
  assert.equal(downloads.length, 1)
  return new URL(downloads[0]!.url).pathname
}

test('every way a bank can behave, through the API alone', { concurrency: true }, async (t) => {
  await recordJobs(shared().db)
  const shop = shared()
  const scenario = (name: string, run: (order: Created) => Promise<void>) =>
    t.test(name, async () => {
      const order = await shop.checkout()
      assertNotPaid(await full(shop, order), 'pending')
      await run(order)
    })

  await Promise.all([
    scenario('success: paid, the file is there, one sale and its fee, one receipt', async (order) => {
      const answer = await shop.confirm(order)
      assert.deepEqual([answer.status, answer.body], [200, { status: 'captured' }])
      const status = await shop.until(order.orderId, ({ paid }) => paid)
      assertPaid(status)
      assert.deepEqual(whats(status), ['created', 'paid'])
      assert.equal(status.rail, 'card')
      assert.equal((await shop.call('GET', await pathOfLink(shop, order))).body, 'a book')
      assert.deepEqual(await shop.transfers(order.orderId), [
        { kind: 'sale', debit: 'processor:sandbox', credit: `seller:${shop.sellerId}`, amountMinor: 1900 },
        { kind: 'fee', debit: `seller:${shop.sellerId}`, credit: 'fees', amountMinor: 38 },
      ])
      assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
    }),

    scenario('decline: nothing is charged, and the same order is paid at the next try', async (order) => {
      assertProblem(await shop.confirm(order, 'decline'), 402, 'payment_declined')
      const declined = await shop.until(order.orderId, (status) => whats(status).includes('payment_declined'))
      assertNotPaid(declined, 'pending')
      assert.ok(declined.nextPollMs! > 0)
      assert.deepEqual(await kinds(shop, order), [])

      assert.equal((await shop.confirm(order, 'success', 'wallet')).status, 200)
      const paid = await shop.until(order.orderId, (status) => status.paid)
      assert.deepEqual(whats(paid), ['created', 'payment_declined', 'paid'])
      assert.equal(paid.rail, 'wallet')
      assert.deepEqual(await kinds(shop, order), ['sale', 'fee'])
      assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
    }),

    scenario('delayed: processing has no links and takes no second payment, and then it is paid', async (order) => {
      const release = await holdBank(shop, order)
      const answer = await shop.confirm(order, 'delayed')
      assert.deepEqual([answer.status, answer.body], [200, { status: 'processing' }])
      assertProblem(await shop.confirm(order), 409, 'payment_in_progress')
      assertNotPaid(await shop.until(order.orderId, ({ status }) => status !== 'pending'), 'processing')
      await release()
      const paid = await shop.until(order.orderId, (status) => status.paid)
      assert.deepEqual(whats(paid), ['created', 'payment_processing', 'paid'])
      assert.deepEqual(await kinds(shop, order), ['sale', 'fee'])
      assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
    }),

    scenario('lost_webhook: never told, and found by asking', async (order) => {
      assert.deepEqual((await shop.confirm(order, 'lost_webhook')).body, { status: 'captured' })
      await notified(shop, order)
      assertNotPaid(await full(shop, order), 'pending')
      const status = await shop.status(order.orderId, 'bob@example.com', true)
      assertPaid(status)
      assert.equal(status.synced, true)
      assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
    }),

    scenario('repeated_webhook: three times the same is once', async (order) => {
      assert.equal((await shop.confirm(order, 'repeated_webhook')).status, 200)
      await notified(shop, order)
      const { processorPaymentId } = await shop.sandboxPayment(order.orderId)
      const sent = await query<{ id: string }>(
        shop.db,
        sql`select data->>'id' as id from added_jobs where data->'payment'->>'processorPaymentId' = ${processorPaymentId}`,
      )
      assert.deepEqual([sent.length, new Set(sent.map(({ id }) => id)).size], [3, 1])
      const kept = await query(
        shop.db,
        sql`select 1 from processor_events where processor_payment_id = ${processorPaymentId}`,
      )
      assert.equal(kept.length, 1)
      const status = await full(shop, order)
      assertPaid(status)
      assert.deepEqual(whats(status), ['created', 'paid'])
      assert.deepEqual(await kinds(shop, order), ['sale', 'fee'])
      assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
    }),

    scenario('reordered_webhook: what came first and is told last takes nothing back', async (order) => {
      assert.equal((await shop.confirm(order, 'reordered_webhook')).status, 200)
      assertPaid(await shop.until(order.orderId, ({ paid }) => paid))
      await notified(shop, order)
      const status = await full(shop, order)
      assertPaid(status)
      assert.deepEqual(whats(status), ['created', 'paid'])
      assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
    }),

    scenario('late_success: declined to the buyer, captured all the same: the files come', async (order) => {
      const release = await holdBank(shop, order)
      assertProblem(await shop.confirm(order, 'late_success'), 402, 'payment_declined')
      await shop.until(order.orderId, (now) => whats(now).includes('payment_declined'))
      await release()
      const status = await shop.until(order.orderId, ({ paid }) => paid)
      assertPaid(status)
      assert.deepEqual(whats(status), ['created', 'payment_declined', 'paid'])
      assert.deepEqual(await kinds(shop, order), ['sale', 'fee'])
      assert.deepEqual(await mailsAbout(shop, order), [RECEIPT])
    }),

    scenario('wrong_amount: a person must look, and nothing is sold', async (order) => {
      assert.equal((await shop.confirm(order, 'wrong_amount')).status, 200)
      const status = await shop.until(order.orderId, (one) => one.status !== 'pending')
      assertNotPaid(status, 'needs_review')
      assert.equal(status.nextPollMs, null)
      assert.deepEqual(whats(status), ['created', 'needs_review'])
      assert.deepEqual(await shop.transfers(order.orderId), [
        { kind: 'held', debit: 'processor:sandbox', credit: 'held', amountMinor: 1899 },
      ])
      assert.deepEqual(await mailsAbout(shop, order), ['We’re reviewing your payment: A book'])
    }),

    scenario('double_capture: the buyer keeps the files and is given the second payment back', async (order) => {
      assert.equal((await shop.confirm(order, 'double_capture')).status, 200)
      const status = await shop.until(order.orderId, (one) => whats(one).includes('duplicate_refunded'))
      assertPaid(status)
      assert.equal(status.refundedAmount, 0)
      await notified(shop, order)
      const transfers = await shop.transfers(order.orderId)
      assert.deepEqual(transfers.map(({ kind, amountMinor }) => `${kind} ${amountMinor}`).sort(), [
        'fee 38',
        'held 1900',
        'returned 1900',
        'sale 1900',
      ])
      const { captures, refunds } = await shop.sandboxPayment(order.orderId)
      assert.deepEqual(
        refunds.map(({ captureId, amountMinor }) => ({ captureId, amountMinor })),
        [{ captureId: captures[1]!.id, amountMinor: 1900 }],
      )
      assert.deepEqual(whats(await full(shop, order)), ['created', 'paid', 'duplicate_refunded'])
      assert.deepEqual((await mailsAbout(shop, order)).sort(), [DUPLICATE, RECEIPT].sort())
    }),
  ])
})

test('twenty cards tried at the same moment are declined ten times and then refused, also a good one', async () => {
  const shop = shared()
  const order = await shop.checkout()
  const answers = await times(20, () => shop.confirm(order, 'decline'))
  const count = (status: number, code: string) =>
    answers.filter((answer) => answer.status === status && answer.body.code === code).length
  assert.deepEqual([count(402, 'payment_declined'), count(409, 'payment_closed')], [10, 10])
  assertProblem(await shop.confirm(order, 'success'), 409, 'payment_closed')
  assert.equal((await shop.sandboxPayment(order.orderId)).declines, 10)
  assert.deepEqual(await kinds(shop, order), [])
})

test('with a repeated key, as after a lost response, the processor starts one payment and sends money back once', async (t) => {
  const shop = shared()
  const jobs = await startJobs({ connectionString: shop.databaseUrl }, newLog('silent'))
  atEnd(t, () => jobs.stop())
  const processor = sandboxProcessor(shop.db, jobs, [SECRET])
  const order = await shop.paid()
  const start = {
    key: `key_${order.orderId}`,
    orderId: 'ord_of_nobody',
    amountMinor: 700,
    currency: 'USD',
    statementDescriptor: 'TILL A BOOK',
  }
  const started = await times(5, () => processor.startPayment(start))
  assert.equal(new Set(started.map(({ processorPaymentId }) => processorPaymentId)).size, 1)
  assert.equal(new Set(started.map(({ clientSecret }) => clientSecret)).size, 1)

  const { processorPaymentId, captures } = await shop.sandboxPayment(order.orderId)
  const refund = { key: `key_${order.orderId}`, processorPaymentId, captureId: captures[0]!.id, amountMinor: 100 }
  for (const { refunds } of await times(5, () => processor.refund(refund))) assert.equal(refunds.length, 1)
  assert.equal((await shop.until(order.orderId, ({ refundedAmount }) => refundedAmount! > 0)).refundedAmount, 100)

  const kept = await processor.cancelPayment(processorPaymentId)
  assert.deepEqual([kept.state, kept.captures.length], ['captured', 1])
})

test('two tabs that pay one order at the same moment pay it once', async () => {
  const shop = shared()
  const order = await shop.checkout()
  const answers = await times(6, () => shop.confirm(order))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers) if (answer.status !== 200) assertProblem(answer, 409, 'payment_already_captured')
  await shop.until(order.orderId, ({ paid }) => paid)
  assertProblem(await shop.confirm(order), 409, 'payment_already_captured')
  assert.equal((await shop.sandboxPayment(order.orderId)).captures.length, 1)
  assert.deepEqual(await kinds(shop, order), ['sale', 'fee'])
})

test('a payment that was not captured can be neither refunded nor disputed', async () => {
  const shop = shared()
  const order = await shop.checkout()
  const { clientSecret } = order
  assertProblem(await shop.call('POST', '/api/sandbox/refund', { clientSecret }), 409, 'payment_not_captured')
  const dispute = await shop.call('POST', '/api/sandbox/dispute', { clientSecret, outcome: 'open' })
  assertProblem(dispute, 409, 'payment_not_captured')
  assertNotPaid(await full(shop, order), 'pending')
})

test('a refund in the processor’s dashboard ends the download link that was given out, and returns the fee', async () => {
  const shop = shared()
  const order = await shop.paid()
  const link = await pathOfLink(shop, order)
  assert.equal((await shop.call('GET', link)).status, 200)
  const answer = await shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret })
  assert.deepEqual([answer.status, answer.body], [200, { refundedAmount: 1900 }])
  const status = await shop.until(order.orderId, (one) => one.status === 'refunded')
  assert.deepEqual([status.paid, status.downloads, status.refundedAmount], [false, [], 1900])
  assert.deepEqual(whats(status), ['created', 'paid', 'refunded'])
  assertProblem(await shop.call('GET', link), 403, 'download_not_available')
  assert.deepEqual(
    (await shop.transfers(order.orderId)).map(({ kind, amountMinor }) => `${kind} ${amountMinor}`).sort(),
    ['fee 38', 'fee_refund 38', 'refund 1900', 'sale 1900'],
  )
  assert.deepEqual(await mailsAbout(shop, order), [RECEIPT, REFUNDED])
  assertProblem(
    await shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, amount: 1 }),
    409,
    'payment_not_captured',
  )
})

test('a refund in parts leaves the files until the last part, and returns exactly the fee', async () => {
  const shop = shared()
  const order = await shop.paid()
  const refund = (amount: number) =>
    shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, amount })
  for (const [amount, total] of [
    [633, 633],
    [633, 1266],
  ] as const) {
    assert.deepEqual((await refund(amount)).body, { refundedAmount: total })
    const status = await shop.until(order.orderId, (one) => one.refundedAmount === total)
    assert.deepEqual([status.status, status.paid, status.downloads.length], ['partially_refunded', true, 1])
  }
  await refund(634)
  const status = await shop.until(order.orderId, (one) => one.status === 'refunded')
  assert.deepEqual(whats(status), ['created', 'paid', 'partially_refunded', 'partially_refunded', 'refunded'])
  const back = (await shop.transfers(order.orderId)).filter(({ kind }) => kind === 'fee_refund')
  assert.equal(
    back.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
    38,
  )
})

test('refunds over the total, requested at the same moment, never send back more than was paid', async () => {
  const shop = shared()
  const order = await shop.paid()
  const refund = () => shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, amount: 700 })
  const answers = await times(6, refund)
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409])
  const status = await shop.until(order.orderId, (one) => one.refundedAmount === 1400)
  assert.equal(status.status, 'partially_refunded')
  await notified(shop, order)
  assert.equal((await kinds(shop, order)).filter((kind) => kind === 'refund').length, 2)
  const rows = await query(shop.db, sql`select 1 from refunds where order_id = ${order.orderId}`)
  assert.equal(rows.length, 2)
})

test('a dispute ends the links at once; won, they work again; a second one that is lost ends them for good', async () => {
  const shop = shared()
  const order = await shop.paid()
  const link = await pathOfLink(shop, order)
  const dispute = (outcome: string) =>
    shop.call('POST', '/api/sandbox/dispute', { clientSecret: order.clientSecret, outcome })
  const seller = () => balanceOf(shop, order)

  assert.equal((await dispute('open')).status, 200)
  const disputed = await shop.until(order.orderId, ({ status }) => status === 'disputed')
  assert.deepEqual([disputed.paid, disputed.downloads], [false, []])
  assertProblem(await shop.call('GET', link), 403, 'download_not_available')
  assert.equal(await seller(), -38)

  await dispute('won')
  assert.equal((await shop.until(order.orderId, ({ status }) => status === 'paid')).downloads.length, 1)
  assert.equal((await shop.call('GET', link)).status, 200)
  assert.equal(await seller(), 1862)

  await dispute('open')
  await shop.until(order.orderId, ({ status }) => status === 'disputed')
  await dispute('lost')
  const lost = await shop.until(order.orderId, ({ status }) => status === 'charged_back')
  assert.deepEqual(whats(lost), ['created', 'paid', 'disputed', 'dispute_won', 'disputed', 'charged_back'])
  assertProblem(await shop.call('GET', link), 403, 'download_not_available')
  assert.equal(await seller(), 0)
  assert.deepEqual(await mailsAbout(shop, order), [
    RECEIPT,
    DISPUTED,
    'Your files are back: A book',
    DISPUTED,
    'Your payment was reversed: A book',
  ])
})

/** The seller's balance for one order. */
async function balanceOf(shop: TestShop, { orderId }: Created): Promise<number> {
  const seller = sellerAccount(shop.sellerId)
  const transfers = await shop.transfers(orderId)
  return transfers.reduce(
    (sum, { debit, credit, amountMinor }) =>
      sum + (credit === seller ? amountMinor : 0) - (debit === seller ? amountMinor : 0),
    0,
  )
}

test('a dispute whose loss is the first report ends as one, and so does a refund before the sale', async () => {
  const shop = shared()
  const order = await shop.checkout()
  await shop.confirm(order, 'lost_webhook')
  await shop.call('POST', '/api/sandbox/dispute', { clientSecret: order.clientSecret, outcome: 'lost' })
  const status = await shop.until(order.orderId, (one) => one.status !== 'pending')
  assert.equal(status.status, 'charged_back')
  assert.equal(await balanceOf(shop, order), 0)

  const second = await shop.checkout()
  await shop.confirm(second, 'lost_webhook')
  await shop.call('POST', '/api/sandbox/refund', { clientSecret: second.clientSecret, amount: 100 })
  const refunded = await shop.until(second.orderId, (one) => one.status !== 'pending')
  assert.deepEqual([refunded.status, refunded.refundedAmount], ['partially_refunded', 100])
  assert.deepEqual(whats(refunded), ['created', 'paid', 'partially_refunded'])
})

test('disputed money that was no sale is not the seller’s loss', async () => {
  const shop = shared()
  const order = await shop.checkout()
  await shop.confirm(order, 'wrong_amount')
  await shop.until(order.orderId, ({ status }) => status === 'needs_review')
  await shop.call('POST', '/api/sandbox/dispute', { clientSecret: order.clientSecret, outcome: 'lost' })
  await notified(shop, order)
  assertNotPaid(await full(shop, order), 'needs_review')
  assert.equal(await balanceOf(shop, order), 0)
  assert.deepEqual(await kinds(shop, order), ['held', 'dispute_loss', 'dispute_hold'])
})

test('after all of it the books match the processor exactly', async () => {
  const shop = shared()
  await eventually(
    () => query(shop.db, sql`select name from ${openJobs} as j where name like 'sandbox%'`),
    (open) => open.length === 0,
  )
  const [sandbox] = await query<{ captured: number; back: number }>(
    shop.db,
    sql`select
      (select coalesce(sum((c->>'amountMinor')::bigint), 0) from sandbox_payments, jsonb_array_elements(payment->'captures') c)::bigint as captured,
      (select coalesce(sum((r->>'amountMinor')::bigint), 0) from sandbox_payments, jsonb_array_elements(payment->'refunds') r)::bigint
        + (select coalesce(sum((d->>'amountMinor')::bigint), 0) from sandbox_payments, jsonb_array_elements(payment->'disputes') d
          where d->>'state' = 'lost')::bigint as back`,
  )
  assert.equal(await balance(shop.db, 'processor:sandbox', 'USD'), sandbox!.back - sandbox!.captured)
  const accounts = ['processor:sandbox', sellerAccount(shop.sellerId), FEES, SUSPENSE, 'disputed']
  const balances = await Promise.all(accounts.map((account) => balance(shop.db, account, 'USD')))
  assert.equal(
    balances.reduce((sum, one) => sum + one, 0),
    0,
  )
  // paid without a sale, or sold without being paid: there is no such order
  const odd = await query(
    shop.db,
    sql`select o.id from orders o left join transfers t on t.order_id = o.id and t.kind = 'sale' where (o.paid_at is null) <> (t.kind is null)`,
  )
  assert.deepEqual(odd, [])
})
