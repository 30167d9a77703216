import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { newLog } from '../../src/kit/log.ts'
import { withBreaker } from '../../src/processors/breaker.ts'
import { PaymentRefused, PaymentUnknown, ProcessorUnavailable, isBusy } from '../../src/processors/refusals.ts'
import { razorpayProcessor } from '../../src/processors/razorpay/razorpay.ts'
import { atEnd } from '../support/ends.ts'
import { recordJobs } from '../support/jobs.ts'
import { ACCOUNT, startRazorpay } from '../support/razorpay-setup.ts'
import { startRazorpayShop } from '../support/razorpay-shop.ts'
import { count } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually } from '../support/shop.ts'
import { startStripeServer } from '../stand-ins/stripe-server.ts'
import { adapter, payment } from '../support/stripe-setup.ts'
import { intentOf, startStripeShop } from '../support/stripe-shop.ts'

const BOB = 'bob@example.com'
const SELLER = 'ann@shop.test'
const buy = (productId: string) => ({ productId, email: BOB })
const key = (name: string) => ({ 'idempotency-key': `a key of sixteen or more ${name}`.replaceAll(' ', '-') })
/** One payment method, so that switching it off leaves none. */
const SEPA = { STRIPE_PAYMENT_METHOD_TYPES: 'sepa_debit' }

/** A log whose lines can be read. */
function newTestLog() {
  const lines: Record<string, any>[] = []
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { log, saying: (msg: RegExp) => lines.filter((line) => msg.test(line.msg)) }
}

const mailsTo = async (shop: TestShop, to: string, subject: RegExp) =>
  (await shop.mails(to)).filter((mail) => subject.test(mail.subject))

describe('a processor that refuses for good', () => {
  test('is no outage: a code of its own, a line in the log for each refusal, and one mail to the seller', async (t) => {
    const { log, saying } = newTestLog()
    const { shop, bank } = await startStripeShop(t, { env: SEPA, log })
    bank.notActivated.add('sepa_debit')
    const productId = await shop.product({ currency: 'EUR' })
    for (let i = 0; i < 7; i++) {
      const answer = await shop.call('POST', '/api/checkout', buy(productId))
      assertProblem(answer, 422, 'cannot_take_payment')
      assert.equal(answer.headers.get('retry-after'), null)
    }
    const refused = saying(/the processor refused/)
    assert.equal(refused.length, 7, 'at once, and each of them')
    const { level, time: _, requestId, ...line } = refused[0]!
    assert.equal(level, 40)
    assert.match(requestId, /^req_[0-9a-f]{12}$/)
    assert.deepEqual(line, {
      processor: 'stripe',
      call: 'startPayment',
      status: 400,
      code: 'payment_intent_invalid_parameter',
      parameter: 'allowed_payment_method_types',
      msg: 'the processor refused',
    })
    assert.equal(saying(/a seller cannot be paid/).length, 1, 'the operator')
    const [mail] = await eventually(
      () => mailsTo(shop, SELLER, /Buyers cannot pay/),
      (mails) => mails.length > 0,
    )
    assert.match(mail!.text, /You get this mail at most once a week/)
    const { rows } = await sql<{ times: number }>`select times::int from payment_refusals`.execute(shop.db)
    assert.deepEqual(rows, [{ times: 7 }])
    assert.match((await shop.call('GET', '/metrics')).body as unknown as string, /^till_payments_refused_sellers 1$/m)
    await shop.call('POST', '/api/checkout', buy(productId))
    await shop.call('POST', '/api/checkout', buy(productId))
    assert.equal((await mailsTo(shop, SELLER, /Buyers cannot pay/)).length, 1)
    // after a week the seller gets the mail again, however many buyers met the refusal meanwhile
    await sql`update payment_refusals set told_at = now() - interval '8 days'`.execute(shop.db)
    await shop.call('POST', '/api/checkout', buy(productId))
    await eventually(
      () => mailsTo(shop, SELLER, /Buyers cannot pay/),
      (mails) => mails.length === 2,
    )
  })

  test('ten buyers at once are still one mail, and each seller has one', async (t) => {
    const { shop, bank } = await startStripeShop(t, { env: SEPA })
    await recordJobs(shop.db)
    bank.notActivated.add('sepa_debit')
    const productId = await shop.product({ currency: 'EUR' })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => shop.call('POST', '/api/checkout', buy(productId))),
    )
    for (const answer of answers) assertProblem(answer, 422, 'cannot_take_payment')
    const { rows } = await sql<{ times: number; mails: number }>`
      select times::int, (select count(*)::int from added_jobs where queue = 'mail') as mails from payment_refusals`.execute(
      shop.db,
    )
    assert.deepEqual(rows, [{ times: 10, mails: 1 }])
  })

  test('keeps the order: once the way is activated the same request starts its payment', async (t) => {
    const { shop, bank } = await startStripeShop(t, { env: SEPA })
    bank.notActivated.add('sepa_debit')
    const productId = await shop.product({ currency: 'EUR' })
    assertProblem(await shop.call('POST', '/api/checkout', buy(productId), key('a')), 422, 'cannot_take_payment')
    bank.notActivated.clear()
    const { status, body } = await shop.call('POST', '/api/checkout', buy(productId), key('a'))
    assert.deepEqual([status, body.status, body.processor], [201, 'pending', 'stripe'])
    assert.equal(bank.paymentIntents.length, 1)
    assert.equal(await count(shop, 'orders'), 1)
  })

  test('leaves an order that expires at its time: nothing was begun, so no processor has to be asked', async (t) => {
    const { shop, bank } = await startStripeShop(t, { env: SEPA })
    bank.notActivated.add('sepa_debit')
    assertProblem(
      await shop.call('POST', '/api/checkout', buy(await shop.product({ currency: 'EUR' }))),
      422,
      'cannot_take_payment',
    )
    await sql`update orders set due_at = now() - interval '1 second', expires_at = now() - interval '1 second'`.execute(
      shop.db,
    )
    await shop.syncDue()
    const { rows } = await sql<{ state: string }>`select state from orders`.execute(shop.db)
    assert.deepEqual(rows, [{ state: 'expired' }])
  })

  test('a revoked key is refused for good, and is in no log', async (t) => {
    const { log, saying } = newTestLog()
    const { shop } = await startStripeShop(t, {
      env: { STRIPE_SECRET_KEY: 'sk_test_rolled', STRIPE_PUBLISHABLE_KEY: 'pk_test_rolled' },
      log,
    })
    assertProblem(await shop.call('POST', '/api/checkout', buy(await shop.product())), 422, 'cannot_take_payment')
    assert.equal(saying(/the processor refused/)[0]!.status, 401)
    assert.doesNotMatch(JSON.stringify(saying(/./)), /sk_test/)
  })

  test('a revoked key is no outage: a returning buyer gets the same refusal, however often the reconciler asks', async (t) => {
    const stripe = await startStripeServer()
    atEnd(t, stripe.close)
    const razorpay = await startRazorpay(t)
    const begun = { intent: await adapter(stripe).startPayment(payment()), orderId: await razorpay.begin() }
    const keys = { secretKey: 'sk_test_rolled', publishableKey: 'pk_test_rolled' }
    const { keyId } = ACCOUNT
    const rolled = [
      {
        processor: adapter(stripe, keys),
        processorPaymentId: begun.intent.processorPaymentId,
        back: { ...payment(), processorPaymentId: begun.intent.processorPaymentId },
      },
      {
        processor: razorpayProcessor({ keyId, keySecret: 'rolled', apiUrl: razorpay.bank.url, webhookSecrets: [] }),
        processorPaymentId: begun.orderId,
        back: { ...payment(), currency: 'INR' },
      },
    ]
    for (const { processor, processorPaymentId, back } of rolled) {
      const guarded = withBreaker(processor, newLog('silent'))
      for (let i = 0; i < 7; i++)
        await assert.rejects(
          guarded.fetchPayment(processorPaymentId),
          (error) => error instanceof ProcessorUnavailable && error.answered && !(error instanceof PaymentUnknown),
        )
      for (const start of [payment({ currency: 'INR' }), back])
        await assert.rejects(guarded.startPayment(start), PaymentRefused)
    }
  })

  test('the seller gets one mail about a price that the processor does not take', async (t) => {
    const { shop } = await startStripeShop(t)
    const productId = await shop.product({ priceMinor: 10 })
    for (let i = 0; i < 3; i++)
      assertProblem(await shop.call('POST', '/api/checkout', buy(productId)), 422, 'amount_not_payable')
    await eventually(
      () => mailsTo(shop, SELLER, /Buyers cannot pay this price/),
      (mails) => mails.length === 1,
    )
    const { rows } = await sql`select code, times::int from payment_refusals`.execute(shop.db)
    assert.deepEqual(rows, [{ code: 'amount_not_payable', times: 3 }])
  })

  test('a wrong amount that a stranger chooses for one product hides no refusal of another price', async (t) => {
    const { shop } = await startStripeShop(t)
    const chosen = await shop.product({ priceMinor: 10 })
    await sql`update products set pay_what_you_want = true where id = ${chosen}`.execute(shop.db)
    const tooCheap = await shop.product({ priceMinor: 20 })
    for (const body of [{ ...buy(chosen), chosenAmount: 11 }, buy(tooCheap), { ...buy(chosen), chosenAmount: 12 }])
      assertProblem(await shop.call('POST', '/api/checkout', body), 422, 'amount_not_payable')
    const { rows } = await sql`select product_id as "productId", times::int from payment_refusals order by 2`.execute(
      shop.db,
    )
    assert.deepEqual(rows, [
      { productId: tooCheap, times: 1 },
      { productId: chosen, times: 2 },
    ])
    await eventually(
      () => mailsTo(shop, SELLER, /Buyers cannot pay this price/),
      (mails) => mails.length === 2,
    )
  })

  test('in India too', async (t) => {
    const { shop, bank, rupees } = await startRazorpayShop(t)
    bank.break(/^POST \/v1\/orders/, 'not_allowed')
    assertProblem(await shop.call('POST', '/api/checkout', buy(await rupees())), 422, 'cannot_take_payment')
    const { rows } = await sql`select processor, code from payment_refusals`.execute(shop.db)
    assert.deepEqual(rows, [{ processor: 'razorpay', code: 'BAD_REQUEST_ERROR' }])
    assert.equal((await shop.checkout({ productId: await rupees() })).processor, 'razorpay')
  })

  test('a revoked key in India is refused for good too, before any look-up', async (t) => {
    const { shop, rupees } = await startRazorpayShop(t, { env: { RAZORPAY_KEY_SECRET: 'rolled' } })
    const productId = await rupees()
    for (let i = 0; i < 7; i++)
      assertProblem(await shop.call('POST', '/api/checkout', buy(productId)), 422, 'cannot_take_payment')
  })
})

test('a failure of the processor’s own stays an outage, and is logged at once too', async (t) => {
  const { log, saying } = newTestLog()
  const { shop, server } = await startStripeShop(t, { log })
  const productId = await shop.product()
  for (const fault of ['429', '500'] as const) {
    server.fail(fault, { match: ({ method }) => method === 'POST', times: 3 })
    assertProblem(await shop.call('POST', '/api/checkout', buy(productId)), 503, 'processor_unavailable')
    server.works()
  }
  assert.deepEqual(
    saying(/the processor refused/).map(({ status, code }) => [status, code]),
    [
      [429, 'rate_limit'],
      [500, 'api_error'],
    ],
  )
  const { rows } = await sql`select 1 from payment_refusals`.execute(shop.db)
  assert.deepEqual(rows, [])
})

test('a processor that is busy is not away: however many reads it refuses, a payment can be started', async (t) => {
  const stripe = await startStripeServer()
  atEnd(t, stripe.close)
  const razorpay = await startRazorpay(t)
  const begun = [(await adapter(stripe).startPayment(payment())).processorPaymentId, await razorpay.begin()]
  for (const [at, processor] of [adapter(stripe), razorpay.processor].entries()) {
    stripe.fail('429', { match: ({ method }) => method === 'GET', times: 50 })
    razorpay.bank.break(/^GET /, 'rate_limited', 50)
    const guarded = withBreaker(processor, newLog('silent'))
    for (let i = 0; i < 7; i++)
      await assert.rejects(guarded.fetchPayment(begun[at]!), (error) => isBusy(error) && !error.answered)
    stripe.works()
    razorpay.bank.works()
    assert((await guarded.startPayment(payment({ key: 'another', currency: 'INR' }))).clientSecret)
  }
})

test('a notification whose payment a busy processor does not let us read is accepted, and a job reads it', async (t) => {
  const { shop, server, bank } = await startStripeShop(t)
  server.knobs.notify = 'never'
  const order = await shop.checkout()
  bank.confirm(intentOf(order))
  server.fail('429', { match: ({ method }) => method === 'GET' })
  await server.send(bank.events.find(({ type }) => type === 'payment_intent.succeeded')!)
  assert.deepEqual(
    server.deliveries.map(({ status }) => status),
    [200],
  )
  await shop.until(order.orderId, ({ status }) => status === 'paid')
})

test('a 401 or 403 that a proxy answers in Razorpay’s place is an outage, with its breaker and without a mail', async (t) => {
  const { shop, bank, rupees } = await startRazorpayShop(t)
  const productId = await rupees()
  for (const fault of ['proxy_401', 'proxy_403'] as const) {
    bank.break(/^GET \/v1\/orders/, fault)
    bank.break(/^POST \/v1\/orders/, fault)
    for (let time = 0; time < 2; time++) {
      const answer = await shop.call('POST', '/api/checkout', buy(productId))
      assertProblem(answer, 503, 'processor_unavailable')
      assert.match(answer.headers.get('retry-after')!, /^[1-9][0-9]*$/)
    }
  }
  const { rows } = await sql`select 1 from payment_refusals`.execute(shop.db)
  assert.deepEqual(rows, [])
  bank.break(/^GET \/v1\/orders/, 'proxy_401')
  assertProblem(await shop.call('POST', '/api/checkout', buy(productId)), 503, 'processor_unavailable')
  const asked = bank.requests.length
  assertProblem(await shop.call('POST', '/api/checkout', buy(productId)), 503, 'processor_unavailable')
  assert.equal(bank.requests.length, asked, 'the breaker has stopped the calls')
})
