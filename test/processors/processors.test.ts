import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { razorpaySignature, startRazorpayServer } from '../stand-ins/razorpay-server.ts'
import { atEnd } from '../support/ends.ts'
import { ACCOUNT } from '../support/razorpay-setup.ts'
import { razorpaySettings, startRazorpayShop } from '../support/razorpay-shop.ts'
import { assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { posts } from '../support/stripe-setup.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

// Both real processors behind the whole service, each as a server that speaks its API.

const buy = (productId: string) => ({ productId, email: 'bob@example.com' })
const BOB = 'bob@example.com'

describe('stripe', () => {
  test('a checkout response has all that its payment form needs, and a notification delivers the files', async (t) => {
    const { shop, bank, server } = await startStripeShop(t)
    const order = await shop.checkout()
    const intent = bank.paymentIntents[0]!
    assert.deepEqual(
      [order.clientSecret, order.publishableKey, order.processor],
      [intent['client_secret'], 'pk_test_till', 'stripe'],
    )
    assert.deepEqual([intent['amount'], intent['currency']], [1900, 'usd'])
    bank.confirm(intentOf(order), { method: 'apple_pay' })
    await server.delivered()
    const status = await shop.status(order.orderId, BOB)
    assert.deepEqual([status.status, status.rail, status.downloads.length], ['paid', 'apple_pay', 1])
    assert.deepEqual(
      (await shop.transfers(order.orderId)).map(({ kind, amountMinor }) => [kind, amountMinor]),
      [
        ['sale', 1900],
        ['fee', 38],
      ],
    )
    assert(server.deliveries.every(({ status }) => status === 200))
  })

  test('when every notification is lost, a buyer who syncs gets the files', async (t) => {
    const { shop, bank, server } = await startStripeShop(t)
    server.knobs.notify = 'never'
    const order = await shop.checkout()
    bank.confirm(intentOf(order))
    assert.equal((await shop.status(order.orderId, BOB)).status, 'pending')
    const { status, synced, downloads } = await shop.status(order.orderId, BOB, true)
    assert.deepEqual([status, synced, downloads.length], ['paid', true, 1])
  })

  test('a bank debit is processing for its days, gives no links, and cannot be paid a second time meanwhile', async (t) => {
    const { shop, bank, server } = await startStripeShop(t)
    const order = await shop.checkout()
    bank.confirm(intentOf(order), { method: 'us_bank_account', outcome: 'processing' })
    await server.delivered()
    const waiting = await shop.status(order.orderId, BOB)
    assert.deepEqual([waiting.status, waiting.canPay, waiting.downloads], ['processing', false, []])
    bank.finish(intentOf(order), 'fail')
    await server.delivered()
    const again = await shop.status(order.orderId, BOB)
    assert.deepEqual([again.status, again.canPay], ['processing', true], 'the bank said no: the buyer may try again')
    bank.confirm(intentOf(order))
    await server.delivered()
    assert.equal((await shop.status(order.orderId, BOB)).status, 'paid')
  })

  test('a checkout that is repeated days later finds the payment it began, also after its key was removed', async (t) => {
    const { shop, bank, server } = await startStripeShop(t)
    const productId = await shop.product()
    const key = { 'idempotency-key': 'a key of the buyer’s own'.replaceAll(/[^a-z]/g, '-') }
    const first = await shop.checkout({ productId }, key)
    server.forgetKeys()
    const second = await shop.checkout({ productId }, key)
    assert.deepEqual([second.orderId, second.clientSecret], [first.orderId, first.clientSecret])
    assert.equal(bank.paymentIntents.length, 1)
  })

  test('a payment that was closed in the processor’s dashboard is replaced by another, and only one is open', async (t) => {
    const { shop, bank, server } = await startStripeShop(t)
    server.knobs.notify = 'never'
    const productId = await shop.product()
    const key = { 'idempotency-key': 'one-key-for-both-times' }
    const first = await shop.checkout({ productId }, key)
    bank.cancel(intentOf(first), {})
    const second = await shop.checkout({ productId }, key)
    assert.equal(second.orderId, first.orderId)
    assert.notEqual(second.clientSecret, first.clientSecret)
    assert.deepEqual(
      bank.paymentIntents.map((one) => one['status']),
      ['canceled', 'requires_payment_method'],
    )
    bank.confirm(intentOf(second))
    assert.equal((await shop.status(first.orderId, BOB, true)).status, 'paid')
  })

  test('ten declines close an order: a card tester gets no eleventh try, and no other buyer is affected', async (t) => {
    const { shop, bank, server } = await startStripeShop(t)
    const productId = await shop.product()
    const key = { 'idempotency-key': 'somebody-with-many-cards' }
    const order = await shop.checkout({ productId }, key)
    for (let i = 0; i < 10; i++) bank.confirm(intentOf(order), { outcome: 'decline' })
    await server.delivered()
    await eventually(
      async () => bank.paymentIntents[0]!['status'],
      (status) => status === 'canceled',
    )
    assert.throws(() => bank.confirm(intentOf(order)), /canceled/)
    await eventually(
      () => shop.call('POST', '/api/checkout', buy(productId), key),
      ({ status }) => status === 409,
    )
    assertProblem(await shop.call('POST', '/api/checkout', buy(productId), key), 409, 'payment_closed')
    assert.equal(bank.paymentIntents.length, 1)
    await shop.checkout({ productId })
  })

  test('a price that cannot be charged is a clear refusal, and is not tried again', async (t) => {
    const { shop, server } = await startStripeShop(t)
    const productId = await shop.product({ priceMinor: 10 })
    assertProblem(await shop.call('POST', '/api/checkout', buy(productId)), 422, 'amount_not_payable')
    assert.equal(posts(server).length, 1)
  })

  test('a notification about an unknown payment is stored, has no effect, and does not come again', async (t) => {
    const { shop, server } = await startStripeShop(t)
    const event = {
      id: 'evt_stranger',
      object: 'event',
      type: 'payment_intent.succeeded',
      livemode: false,
      created: Math.floor(Date.now() / 1000),
      api_version: '2099-01-01.future',
      data: { object: { id: 'pi_stranger', object: 'payment_intent' } },
    }
    const whole = {
      id: 'pi_stranger',
      object: 'payment_intent',
      amount: 1900,
      currency: 'usd',
      status: 'succeeded',
      livemode: false,
      metadata: {},
      latest_charge: 'ch_stranger',
      client_secret: null,
    }
    // so many that, if each counted as an outage, no buyer could pay
    const told = Array.from({ length: 7 }, (_, at) => ({ ...event, id: `evt_whole_${at}`, data: { object: whole } }))
    for (const one of [event, ...told]) await server.send(one)
    assert.deepEqual(
      server.deliveries,
      [event, ...told].map(({ id, type }) => ({ id, type, status: 200 })),
    )
    const { rows } = await sql`select distinct outcome from processor_events`.execute(shop.db)
    assert.deepEqual(rows, [{ outcome: 'unknown_payment' }])
    assert((await shop.checkout()).clientSecret)
  })

  test('while the database is down a notification is refused so that it comes again, and then it counts', async (t) => {
    const { shop, bank, server } = await startStripeShop(t)
    server.knobs.notify = 'now'
    const order = await shop.checkout()
    server.fail('503 html', { times: 2 })
    bank.confirm(intentOf(order))
    await server.delivered()
    assert.deepEqual(
      server.deliveries.filter(({ type }) => type !== 'payment_intent.created').map(({ status }) => status),
      [503, 503],
    )
    for (const event of bank.events) await server.send(event)
    assert.equal((await shop.status(order.orderId, BOB)).status, 'paid')
  })

  test('during an outage the response is immediate: 503 with Retry-After, no half order, and no wait for a time limit', async (t) => {
    const { shop, server } = await startStripeShop(t)
    const productId = await shop.product()
    const ofPayments = ({ path }: { path: string }) => path.startsWith('/v1/payment_intents')
    server.fail('503 html', { times: 5, match: ofPayments })
    for (let i = 0; i < 5; i++)
      assertProblem(await shop.call('POST', '/api/checkout', buy(productId)), 503, 'processor_unavailable')
    const asked = server.calls.filter(ofPayments).length
    const answer = await shop.call('POST', '/api/checkout', buy(productId))
    assertProblem(answer, 503, 'processor_unavailable')
    assert.equal(answer.headers.get('retry-after'), '10')
    assert.equal(server.calls.filter(ofPayments).length, asked, 'it is left alone for a while')
    assert.equal((await shop.call('GET', `/api/products/${productId}/public`)).status, 200, 'the rest goes on')
  })
})

describe('razorpay', () => {
  test('rupees are paid there, by UPI, and a notification delivers the files', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    const order = await shop.checkout({ productId: await rupees() })
    assert.deepEqual([order.processor, order.publishableKey], ['razorpay', ACCOUNT.keyId])
    bank.pay(order.clientSecret!, { method: 'upi' })
    await bank.delivered()
    const status = await shop.status(order.orderId, BOB)
    assert.deepEqual([status.status, status.rail, status.downloads.length], ['paid', 'upi', 1])
    assert(bank.deliveries.every(({ status }) => status === 200))
  })

  test('a try that failed and succeeds days later, after the order expired, still delivers', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    const order = await shop.checkout({ productId: await rupees() })
    const { id } = bank.pay(order.clientSecret!, { method: 'upi', outcome: 'failed' })
    await bank.delivered()
    assert.equal((await shop.status(order.orderId, BOB)).canPay, true)
    await sql`update orders set expires_at = now() - interval '1 hour', due_at = now() where id = ${order.orderId}`.execute(
      shop.db,
    )
    await shop.syncDue()
    assert.equal((await shop.status(order.orderId, BOB)).status, 'expired')
    bank.authorize(id)
    await bank.delivered()
    assert.equal((await shop.status(order.orderId, BOB)).status, 'paid')
  })

  test('two tries that both succeed: one is the sale, the other is sent back once', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    const order = await shop.checkout({ productId: await rupees() })
    bank.pay(order.clientSecret!, { method: 'upi' })
    bank.pay(order.clientSecret!, { evenIfPaid: true })
    await bank.delivered()
    await eventually(
      async () => [...bank.refunds.values()].length,
      (count) => count === 1,
    )
    await bank.delivered()
    const status = await eventually(
      () => shop.status(order.orderId, BOB),
      ({ timeline }) => timeline!.some(({ what }) => what === 'duplicate_refunded'),
    )
    assert.deepEqual([status.status, status.refundedAmount, status.downloads.length], ['paid', 0, 1])
  })
})

describe('both', () => {
  test('the currency decides: rupees go where UPI is, all else to the first that takes it', async (t) => {
    const stripe = await startStripeShop(t)
    const bank = await startRazorpayServer(ACCOUNT)
    atEnd(t, () => bank.close())
    const { server } = stripe
    const shop = await startTestShop(t, {
      env: {
        STRIPE_SECRET_KEY: server.secretKey,
        STRIPE_PUBLISHABLE_KEY: 'pk_test_till',
        STRIPE_WEBHOOK_SECRET: server.webhookSecret,
        STRIPE_API_URL: server.url,
        ...razorpaySettings(bank),
      },
    })
    const servedBy = async (currency: string) => {
      const productId = await shop.product({ currency, priceMinor: 50_000 })
      const { body } = await shop.call('GET', `/api/products/${productId}/public`)
      const { processor } = await shop.checkout({ productId })
      assert.equal(processor, body.payments.processor, 'the page gets the same one')
      return [processor, body.rails.includes('upi')]
    }
    assert.deepEqual(await servedBy('INR'), ['razorpay', true])
    assert.deepEqual(await servedBy('USD'), ['stripe', false])
    assert.deepEqual(await servedBy('JPY'), ['stripe', false])
  })

  test('each has its own address for notifications, and knows only its own secret', async (t) => {
    const { shop, server, bank } = await startStripeShop(t)
    const order = await shop.checkout()
    server.knobs.notify = 'never'
    bank.confirm(intentOf(order))
    const { body, headers } = server.signed(bank.events.at(-1)!)
    assertProblem(await shop.call('POST', '/api/webhooks/razorpay', body, headers), 404, 'not_found')
    assertProblem(await shop.call('POST', '/api/webhooks/sandbox', body, headers), 404, 'not_found')
    // Stripe names a seller's account in the body, and never in the address
    assertProblem(await shop.call('POST', '/api/webhooks/stripe@acct_1', body, headers), 404, 'not_found')
    const forged = server.signed(bank.events.at(-1)!, { secret: 'whsec_other' })
    assertProblem(await shop.call('POST', '/api/webhooks/stripe', body, forged.headers), 400, 'invalid_signature')
    assert.equal((await shop.status(order.orderId, BOB)).status, 'pending')
  })

  test('a signed notification in the form of Stripe’s thin payloads is kept, without effect', async (t) => {
    const { shop, server } = await startStripeShop(t)
    const thin = {
      id: 'evt_test_65R9Ijk8dKEYZcXeRWn16R9A7j1FSQ3w3TGDPLLGSM4CW0',
      object: 'v2.core.event',
      type: 'v1.payment_intent.succeeded',
      livemode: false,
      created: '2026-11-29T12:00:00.000Z',
      related_object: { id: 'pi_1', type: 'payment_intent', url: '/v1/payment_intents/pi_1' },
    }
    const { body, headers } = server.signed(thin)
    assert.equal((await shop.call('POST', '/api/webhooks/stripe', body, headers)).status, 200)
    const { rows } = await sql`select type, outcome from processor_events where event_id = ${thin.id}`.execute(shop.db)
    assert.deepEqual(rows, [{ type: thin.type, outcome: 'ignored' }])
  })
  test('a signed notification that cannot be read is accepted and kept once, so that the processor goes on to notify', async (t) => {
    const stripe = await startStripeShop(t)
    const razorpay = await startRazorpayShop(t)
    const body = '{"id":'
    const signed = [
      { shop: stripe.shop, name: 'stripe', headers: stripe.server.signed(body).headers },
      {
        shop: razorpay.shop,
        name: 'razorpay',
        headers: { 'x-razorpay-signature': razorpaySignature(body, ACCOUNT.webhookSecret) },
      },
    ]
    for (const { shop, name, headers } of signed) {
      for (let i = 0; i < 2; i++)
        assert.equal((await shop.call('POST', `/api/webhooks/${name}`, body, headers)).status, 200, name)
      const { rows } = await sql`select processor, type, outcome from processor_events`.execute(shop.db)
      assert.deepEqual(rows, [{ processor: name, type: 'unreadable', outcome: 'ignored' }])
    }
  })
})
