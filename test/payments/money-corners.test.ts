import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { FEES, sellerAccount } from '../../src/ledger/transfers.ts'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { forgetIdempotencyKeys } from '../../src/orders/create.ts'
import { checkRows } from '../../src/payments/reconciliation/rows.ts'
import { razorpayProcessor } from '../../src/processors/razorpay/razorpay.ts'
import { BOB, KEY, due, dueOf, jobs, look, refunds, tryAgainNow } from '../support/aged-orders.ts'
import { RECEIPT, changeSandbox, mailsAbout, query } from '../stand-ins/processor.ts'
import { documents, withInvoices } from '../support/invoices.ts'
import { ACCOUNT, attempt } from '../support/razorpay-setup.ts'
import { razorpaySettings, startRazorpayShop } from '../support/razorpay-shop.ts'
import { reconciliationOf } from '../support/reconciliation.ts'
import { assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

// Cases in which money could be lost or sent twice, or an order could hang for ever: two instances, changed settings, a slow bank,
// a processor that is down.

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
  await bank.delivered()
  assert.equal((await shop.status(started[0]!.orderId, BOB)).status, 'paid')
})

test('a second payment that the buyer disputes before it went back is left to the bank, which would return it once more', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  bank.pay(order.clientSecret!)
  await bank.delivered()
  bank.break(/POST .*refund/, 'server_error', 99)
  const second = bank.pay(order.clientSecret!, { evenIfPaid: true })
  await bank.delivered()
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
  )
  bank.openDispute(second.id)
  await bank.delivered()
  bank.works()
  await tryAgainNow(shop)
  await eventually(
    () => query<{ state: string }>(shop.db, sql`select state from refunds`),
    ([refund]) => refund?.state !== 'requested',
  )
  assert.equal(bank.refunds.size, 0)
  assert.deepEqual(await query(shop.db, sql`select state from refunds`), [{ state: 'failed' }])
})

test('of two payments of an order both are synced, also while a bank works on the first', async (t) => {
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

test('an order with a price that cannot be charged expires at its time, like any unpaid order', async (t) => {
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

test('a payment that was declined too often is closed also when a bank worked on one more try just then', async (t) => {
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

test('while a bank works on an order its key is valid, however long that takes: a reload makes no second order', async (t) => {
  const shop = await startTestShop(t)
  const productId = await shop.product()
  const order = await shop.checkout({ productId }, KEY)
  await changeSandbox(shop, order.orderId, { state: 'processing', rail: 'debit' })
  await shop.notify({ type: 'payment.processing', payment: await shop.sandboxPayment(order.orderId) })
  await due(shop, order, { ageHours: 60 })
  await forgetIdempotencyKeys(shop.db)
  assert.equal((await shop.checkout({ productId }, KEY)).orderId, order.orderId)
})

test('a reservation that was released leaves no bank at work: the buyer can pay again', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  const reserved = bank.pay(order.clientSecret!, { outcome: 'authorized', amount: 100 })
  await bank.delivered()
  assert.equal((await shop.status(order.orderId)).canPay, false)
  bank.autoRefund(reserved.id)
  await bank.delivered()
  assert.equal((await shop.status(order.orderId)).canPay, true)
})

test('a buyer who is confirming in the UPI app when the time of the order ends gets more time, once', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const productId = await rupees()
  const [asked, idle] = [await shop.checkout({ productId }), await shop.checkout({ productId })]
  bank.pay(idle.clientSecret!, { outcome: 'failed', method: 'upi' })
  const { id } = bank.pay(asked.clientSecret!, { outcome: 'created', method: 'upi' })
  await bank.delivered()
  const atEnd = async () => {
    for (const order of [asked, idle]) await due(shop, order, { ageHours: 1, over: true })
    for (const order of [asked, idle]) await look(shop, order)
    return Promise.all([asked, idle].map(async ({ orderId }) => (await shop.status(orderId)).status))
  }
  assert.deepEqual(await atEnd(), ['pending', 'expired'])
  assert.deepEqual(await atEnd(), ['expired', 'expired'])
  bank.authorize(id)
  await bank.delivered()
  assert.equal((await shop.status(asked.orderId)).status, 'paid')
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

test('a voucher that the buyer takes after the last look of the first day gets its days too', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  const order = await shop.checkout({ productId: await shop.product() }, KEY)
  await due(shop, order, { ageHours: 30 })
  await sql`update orders set expires_at = now() where id = ${order.orderId}`.execute(shop.db)
  bank.confirm(intentOf(order), { method: 'oxxo', outcome: 'requires_action' })
  await look(shop, order)
  assert.equal((await shop.status(order.orderId)).status, 'pending')
  bank.confirm(intentOf(order), { method: 'oxxo' })
  await server.delivered()
  assert.equal((await shop.status(order.orderId)).status, 'paid')
})

test('a buyer who wants to pay an order that was meanwhile paid without a notification learns that it is paid', async (t) => {
  const { shop, bank, server } = await startStripeShop(t)
  server.knobs.notify = 'never'
  const productId = await shop.product()
  const order = await shop.checkout({ productId }, KEY)
  bank.confirm(intentOf(order))
  const { status, clientSecret } = await shop.checkout({ productId }, KEY)
  assert.deepEqual([status, clientSecret], ['paid', undefined])
})

test('Razorpay: a buyer who comes back to an order that was paid without a notification learns that it is paid', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  bank.notifying.when = 'never'
  const productId = await rupees()
  const order = await shop.checkout({ productId }, KEY)
  bank.pay(order.clientSecret!)
  const { status, clientSecret } = await shop.checkout({ productId }, KEY)
  assert.deepEqual([status, clientSecret], ['paid', undefined])
})

test('a payment that was refunded and then disputed: the books match the account, whether the money comes back at once, later or never', async (t) => {
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
      // the bank still has all of the price, a part of it, or nothing
      const now = when === 'never' ? 'charged_back' : refunded === undefined ? 'paid' : 'partially_refunded'
      assert.equal((await shop.status(order.orderId)).status, now, what)
    }),
  )
  assert.deepEqual(await inTransaction(shop.db, (tx) => trialBalance(tx)), [])
  assert.deepEqual(await inTransaction(shop.db, (tx) => checkRows(tx)), [])
})

test('Razorpay: a lost dispute and the refund that Razorpay makes for it are one loss, whichever is told first, for all or a part', async (t) => {
  const { shop, bank } = await startRazorpayShop(t)
  await withInvoices(shop)
  const productId = await shop.product({ currency: 'INR', priceMinor: 50_000 })
  const razorpay = razorpayProcessor({ ...ACCOUNT, webhookSecrets: [ACCOUNT.webhookSecret], apiUrl: bank.url })
  const ways: Record<string, (disputeId: string) => Promise<void>> = {
    async 'the loss first'(id) {
      bank.moveDispute(id, 'lost')
      await bank.delivered()
      bank.refundLoss(id)
    },
    async 'the refund first'(id) {
      bank.refundLoss(id)
      await bank.delivered()
      bank.moveDispute(id, 'lost')
    },
    async 'both at once'(id) {
      bank.notifying.when = 'held'
      bank.refundLoss(id)
      bank.moveDispute(id, 'lost')
      bank.notifying.when = 'now'
      await bank.sendHeld((all) => all.reverse())
    },
  }
  for (const amount of [50_000, 20_000])
    for (const [way, tell] of Object.entries(ways)) {
      const what = `${way}, ${amount}`
      const order = await shop.checkout({ productId })
      const paid = bank.pay(order.clientSecret!)
      await bank.delivered()
      const { id } = bank.openDispute(paid.id, { amount })
      await bank.delivered()
      assert.equal((await shop.status(order.orderId, BOB)).status, 'disputed')
      await tell(id)
      await bank.delivered()
      const said = [await mailsAbout(shop, order), await mailsAbout(shop, order, 'seller')]
      const booked = await shop.transfers(order.orderId)
      // the same news once more: nothing changes
      bank.moveDispute(id, 'lost')
      await bank.delivered()
      assert.deepEqual(await shop.transfers(order.orderId), booked, what)
      assert.deepEqual([await mailsAbout(shop, order), await mailsAbout(shop, order, 'seller')], said, what)
      const sum = (account: string) =>
        booked.reduce(
          (all, { debit, credit, amountMinor }) =>
            all + (credit === account ? amountMinor : debit === account ? -amountMinor : 0),
          0,
        )
      const leftMinor = 50_000 - amount
      assert.deepEqual(
        [sum(sellerAccount(shop.sellerId)), sum(FEES), sum('processor:razorpay')],
        [leftMinor * 0.98, leftMinor * 0.02, 0 - leftMinor],
        what,
      )
      const isRefund = way === 'the refund first'
      const { status, refundedAmount, chargedBackAmount = 0 } = await shop.status(order.orderId, BOB)
      assert.deepEqual(
        [status, refundedAmount, chargedBackAmount],
        [
          leftMinor > 0 ? 'partially_refunded' : isRefund ? 'refunded' : 'charged_back',
          isRefund ? amount : 0,
          isRefund ? 0 : amount,
        ],
        what,
      )
      assert.deepEqual(
        (await documents(shop, order.orderId)).map(({ kind, reason, amountMinor }) => [kind, reason, amountMinor]),
        [
          ['credit_note', isRefund ? 'refund' : 'chargeback', amount],
          ['invoice', 'sale', 50_000],
        ],
        what,
      )
      // of the two only the one that counts is told to the buyer
      const told = isRefund
        ? ['Your refund: A book', ...(leftMinor > 0 ? ['Your files are back: A book'] : [])]
        : [`${leftMinor > 0 ? 'Part of your payment' : 'Your payment'} was reversed: A book`]
      assert.deepEqual(said[0]!.toSorted(), [RECEIPT, 'About your payment: A book', ...told].toSorted(), what)
      const toSeller = ['A payment is disputed: A book', 'Dispute lost: A book', ...(isRefund ? ['Refunded: A book'] : [])] // oxfmt-ignore
      assert.deepEqual(said[1]!.toSorted(), toSeller, what)
    }
  const result = await reconciliationOf(shop.databaseUrl, razorpay)
  assert.deepEqual([result.differences, result.notAsked], [[], []])
  assert.ok(result.days.every((one) => one.listedMinor === one.ourMinor && one.listed === one.ours))
})

test('Razorpay does not show an Order after 180 days: its refund and its dispute are booked all the same', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const productId = await rupees()
  const [sent, disputed, byHand] = await Promise.all([1, 2, 3].map(() => shop.checkout({ productId })))
  const [, claimed, returned] = [sent!, disputed!, byHand!].map((order) => bank.pay(order.clientSecret!))
  await bank.delivered()
  for (const { clientSecret } of [sent!, disputed!, byHand!]) bank.tooOld.add(clientSecret!)

  const seller = await refunds(shop)
  assert.equal((await seller.ask(sent!)).status, 201)
  await eventually(
    () => seller.statuses(sent!),
    ([status]) => status === 'succeeded',
  )
  const { id } = bank.openDispute(claimed!.id)
  await bank.delivered()
  assert.equal((await shop.status(disputed!.orderId, BOB)).status, 'disputed')
  bank.moveDispute(id, 'won')
  bank.refundInDashboard(returned!.id, { amount: 10_000 })
  await bank.delivered()
  assert.deepEqual(
    await Promise.all([sent!, disputed!, byHand!].map(async ({ orderId }) => (await shop.status(orderId, BOB)).status)),
    ['refunded', 'paid', 'partially_refunded'],
  )

  // of another service at the same account
  const razorpay = razorpayProcessor({ ...ACCOUNT, webhookSecrets: [], apiUrl: bank.url })
  const { processorPaymentId: other } = await razorpay.startPayment(attempt())
  const strange = bank.pay(other)
  bank.tooOld.add(other)
  await bank.delivered()
  bank.refundInDashboard(strange.id)
  await bank.delivered()
  assert.ok(bank.deliveries.every(({ status }) => status === 200))
})

test('a refund that Razorpay refuses for a payment of more than six months fails, and the files are back', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  bank.pay(order.clientSecret!)
  await bank.delivered()
  bank.tooOld.add(order.clientSecret!)
  bank.refusesRefunds = true
  const seller = await refunds(shop)
  assert.equal((await seller.ask(order)).status, 201)
  await eventually(
    () => jobs(shop, 'retry'),
    (waiting) => waiting.length > 0,
  )
  await sql`update refunds set created_at = now() - interval '11 days', asked_at = asked_at - interval '2 minutes'`.execute(
    shop.db,
  )
  await tryAgainNow(shop)
  await eventually(
    () => seller.statuses(order),
    ([status]) => status === 'failed',
  )
  assert.equal((await shop.status(order.orderId, BOB)).downloads.length, 1)
})

test('a dispute in another currency than the payment holds the paid amount, and never more', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const order = await shop.checkout({ productId: await rupees() })
  const paid = bank.pay(order.clientSecret!)
  await bank.delivered()
  const held = async () =>
    (await shop.transfers(order.orderId)).filter(({ kind }) => kind === 'dispute_hold').map((one) => one.amountMinor)
  bank.notifying.when = 'held'
  Object.assign(bank.openDispute(paid.id, { amount: 590 }), { currency: 'USD' })
  await bank.sendHeld()
  assert.deepEqual(await held(), [49_900])
})

test('an order whose processor was removed from the settings ends after some days', async (t) => {
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

test('an order that was begun with another account’s keys does not look like an outage to its buyer', async (t) => {
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

test('Razorpay: an order that was begun with another account’s keys opens no window that stays dead', async (t) => {
  const { shop, rupees } = await startRazorpayShop(t)
  const productId = await rupees()
  await shop.checkout({ productId }, KEY)
  const { bank: another } = await startRazorpayShop(t)
  const later = await startTestShop(t, { databaseUrl: shop.databaseUrl, env: razorpaySettings(another) })
  const answer = await later.call('POST', '/api/checkout', { productId, email: BOB }, KEY)
  assertProblem(answer, 409, 'payment_closed')
})
