import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kit/ids.ts'
import { statementLine, suffixRoom } from '../../src/kit/statement.ts'
import { newLog } from '../../src/kit/log.ts'
import { withBreaker } from '../../src/processors/breaker.ts'
import { PaymentRefused, ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { eventually } from '../support/shop.ts'
import type { Wire } from '../stand-ins/stripe-bank.ts'
import type { Fault, StripeServer } from '../stand-ins/stripe-server.ts'
import { adapter, next, payment, posts, setUp, unavailable } from '../support/stripe-setup.ts'

/** The time limit of a call when the server does not answer in time anyway. */
const SHORT_MS = 200

// ── starting a payment

test('a payment has the requested amount and order, and offers the account’s methods', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment({ key: 'pay_a', orderId: 'ord_a' })
  const started = await stripe.startPayment(wanted)
  const intent = server.bank.paymentIntents[0]!
  assert.deepEqual(started, {
    processorPaymentId: intent['id'],
    clientSecret: intent['client_secret'],
    publishableKey: 'pk_test_till',
  })
  assert.deepEqual(server.calls[0]!.params, {
    amount: '1900',
    currency: 'usd',
    automatic_payment_methods: { enabled: 'true' },
    metadata: { order_id: 'ord_a', attempt_id: 'pay_a' },
    statement_descriptor_suffix: 'A BOOK',
  })
  assert.equal(server.calls[0]!.idempotencyKey, 'pay_a')
})

test('a list of payment methods is sent by name, as far as they support the currency', async (t) => {
  const { server, stripe } = await setUp(t, { paymentMethodTypes: ['card', 'sepa_debit', 'us_bank_account', 'ideal'] })
  await stripe.startPayment(payment({ currency: 'EUR' }))
  await stripe.startPayment(payment({ currency: 'USD' }))
  assert.deepEqual(
    server.bank.paymentIntents.map((one) => one['allowed_payment_method_types']),
    [
      ['card', 'sepa_debit', 'ideal'],
      ['card', 'us_bank_account'],
    ],
  )
  assert.deepEqual(stripe.rails('EUR'), ['card', 'debit', 'bank_transfer'])
  assert.deepEqual(stripe.rails('USD'), ['card', 'debit'])
})

test('the form that shows before the payment is told what the payment will have', async (t) => {
  for (const [paymentMethodTypes, currency] of [
    [undefined, 'USD'],
    [['card', 'sepa_debit', 'us_bank_account', 'oxxo'], 'USD'],
    [['card', 'sepa_debit', 'konbini'], 'JPY'],
  ] as const)
    for (const withoutVouchers of [false, true]) {
      const { server, stripe } = await setUp(t, { ...(paymentMethodTypes && { paymentMethodTypes }) })
      const setup = stripe.formSetup({ currency, withoutVouchers })!
      await stripe.startPayment(payment({ currency, withoutVouchers }))
      const [intent] = server.bank.paymentIntents
      assert.equal(setup.publishableKey, 'pk_test_till')
      assert.deepEqual(setup.allowedMethods ?? null, intent!['allowed_payment_method_types'])
      assert.deepEqual(setup.excludedMethods ?? [], intent!['excluded_payment_method_types'])
      assert.equal(1900 * setup.unitsPerMinor, intent!['amount'])
    }
})

test('where a payment method shows only for a payment that exists, the form waits for the order', async (t) => {
  const { stripe } = await setUp(t, { paymentMethodTypes: ['card', 'blik', 'acss_debit'] })
  const waits = (currency: string) => stripe.formSetup({ currency }) === undefined
  assert.deepEqual(['PLN', 'CAD', 'USD', 'EUR'].map(waits), [true, true, false, false])
  const { stripe: cards } = await setUp(t, { paymentMethodTypes: ['card'] })
  assert.notEqual(cards.formSetup({ currency: 'PLN' }), undefined)
})

test('the line on a card’s statement is the one that the buyer saw, also for orders from before the star was in it', async (t) => {
  const { server, stripe } = await setUp(t)
  for (const [statementDescriptor, line] of [
    ['TILL* A BOOK', 'TILL* A BOOK'],
    ['TILL* THE QUIET SHOP X', 'TILL* THE QUIET SHOP X'],
    ['TILL A BOOK', 'TILL* A BOOK'],
    ['TILL THE QUIET SHOP IN', 'TILL* THE QUIET SHOP I'],
    ['TILL 2026', 'TILL* ITEM 2026'],
    ['OTHER* THING', 'TILL* OTHER THING'],
  ] as const) {
    const { processorPaymentId } = await stripe.startPayment(payment({ statementDescriptor }))
    server.bank.confirm(processorPaymentId)
    assert.equal(server.bank.charges.at(-1)!['calculated_statement_descriptor'], line)
  }
})

test('at a seller’s own account the longest suffix fits after a prefix with characters that the line cannot have', async (t) => {
  const { server, stripe } = await setUp(t)
  for (const [at, prefix, shown] of [
    [0, 'Acme & Son', 'ACME - SON'],
    [1, 'A_B', 'A-B'],
    [2, 'Cafe\u0301', 'CAFE-'],
    [3, '\u{1D538}CME', '--CME'],
  ] as const) {
    const { account } = await stripe.accounts.hosted!.make({ key: `con_${at}`, since: new Date() })
    server.connect.stand(account, 'active')
    server.connect.bankOf(account).statementPrefix = prefix.toUpperCase()
    server.connect.accounts[at]!['settings'].card_payments.statement_descriptor_prefix = prefix
    const report = await stripe.accounts.read(account)
    assert('statementPrefix' in report)
    assert.equal(report.statementPrefix, shown)
    const statementDescriptor = statementLine(shown, 'A VERY LONG TITLE OF A BOOK'.slice(0, suffixRoom(shown)))
    assert.equal(statementDescriptor.length, 22)
    await stripe.connected(account).startPayment(payment({ statementDescriptor }))
  }
})

test('the stand-in refuses the suffixes that Stripe’s documentation refuses', async (t) => {
  const { server } = await setUp(t)
  const params = { amount: 1900, currency: 'usd' }
  for (const suffix of ['X', '', '2026', 'A*B', '<B>', "O'B", '"B"', 'A\\B', 'Bücher', 'THE QUIET SHOP XXX'])
    assert.throws(
      () => server.bank.createIntent({ ...params, statement_descriptor_suffix: suffix }),
      /descriptor suffix/,
      suffix,
    )
  server.bank.createIntent({ ...params, statement_descriptor_suffix: 'THE QUIET SHOP X' })
})

test('the service does not start with impossible settings', async (t) => {
  const { server } = await setUp(t)
  assert.throws(() => adapter(server, { publishableKey: 'pk_live_x' }), /test payments/)
  assert.throws(() => adapter(server, { paymentMethodTypes: ['card', 'cheque'] }), /cheque/)
  assert.throws(() => adapter(server, { paymentMethodTypes: ['customer_balance'] }), /customer_balance/)
  assert.throws(() => adapter(server, { apiUrl: 'http://127.0.0.1:1/v1' }), /no path/)
})

// ── the same again (C6, C7, C8)

test('the same key gives the same payment', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  const first = await stripe.startPayment(wanted)
  assert.deepEqual(await stripe.startPayment(wanted), first)
  assert.equal(server.bank.paymentIntents.length, 1)
  assert.equal(server.calls[1]!.replayed, true)
})

test('after a lost response a repeated request gives the same payment', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  // the library itself asks once more after a dropped connection: both are lost here
  server.fail('done then drop', { times: 2 })
  await assert.rejects(stripe.startPayment(wanted), unavailable)
  const { processorPaymentId } = await stripe.startPayment(wanted)
  assert.deepEqual(
    server.bank.paymentIntents.map(({ id }) => id),
    [processorPaymentId],
  )
  assert.deepEqual([...new Set(server.calls.map(({ idempotencyKey }) => idempotencyKey))], [wanted.key])
})

test('ten requests with one key at once are one payment', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  const all = await Promise.all(Array.from({ length: 10 }, () => stripe.startPayment(wanted)))
  assert.equal(new Set(all.map(({ processorPaymentId }) => processorPaymentId)).size, 1)
  assert.equal(server.bank.paymentIntents.length, 1)
})

test('while another request with this key is under way, it is waited for', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  const free = server.occupy(wanted.key)
  const starting = stripe.startPayment(wanted)
  const answered = () => posts(server).map(({ status }) => status)
  await eventually(
    async () => answered(),
    (statuses) => statuses.includes(409),
  )
  free()
  await starting
  const statuses = answered()
  assert(statuses.length >= 2 && statuses.slice(0, -1).every((status) => status === 409), statuses.join())
  assert.equal(server.bank.paymentIntents.length, 1)
})

test('two requests with one key that overlap are one payment, and the second waits for the first', async (t) => {
  const { server, stripe } = await setUp(t)
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  server.knobs.firstAnswer = answered
  const wanted = payment()
  const starting = Promise.all([stripe.startPayment(wanted), stripe.startPayment(wanted)])
  await eventually(
    async () => posts(server),
    (calls) => calls.some(({ status }) => status === 409),
  )
  answer()
  const [first, second] = await starting
  assert.deepEqual(first, second)
  assert.equal(server.bank.paymentIntents.length, 1)
})

test('an account that refused an order takes it once its methods are on, though Stripe remembers the refusal', async (t) => {
  const { server, stripe } = await setUp(t, { paymentMethodTypes: ['card'] })
  const wanted = payment()
  server.bank.notActivated.add('card')
  for (let i = 0; i < 2; i++) await assert.rejects(stripe.startPayment(wanted), PaymentRefused)
  assert(posts(server).some(({ replayed }) => replayed))
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 600_000 })
  server.bank.notActivated.delete('card')
  await stripe.startPayment(wanted)
  assert.equal(server.bank.paymentIntents.length, 1)
})

test('the stand-in refuses what Stripe’s documentation refuses', async (t) => {
  const { server, paid } = await setUp(t)
  const { captureId } = await paid()
  const ask = async (path: string, form?: string) => {
    const headers = { authorization: `Bearer ${server.secretKey}` }
    const response = await fetch(server.url + path, form === undefined ? { headers } : { method: 'POST', headers, body: form }) // oxfmt-ignore
    return [response.status, ((await response.json()) as Wire)['error']?.param ?? null]
  }
  const types = Array.from({ length: 21 }, (_, at) => `types[${at}]=charge.succeeded`).join('&')
  for (const [path, form, param] of [
    ['/v1/charges?limit=101', undefined, 'limit'],
    ['/v1/charges?limit=0', undefined, 'limit'],
    [`/v1/events?${types}`, undefined, 'types'],
    ['/v1/refunds', `charge=${captureId}&reason=angry`, 'reason'],
    ['/v1/payment_intents/pi_1/cancel', 'cancellation_reason=angry', 'cancellation_reason'],
    ['/v1/payment_intents', `amount=100&currency=usd&metadata[a]=${'x'.repeat(501)}`, 'metadata'],
    ['/v1/payment_intents', `amount=100&currency=usd&metadata[${'x'.repeat(41)}]=a`, 'metadata'],
    ['/v1/payment_intents', 'amount=100&currency=usd&allowed_payment_method_types[0]=card&excluded_payment_method_types[0]=oxxo', null], // oxfmt-ignore
  ] as const)
    assert.deepEqual(await ask(path, form), [400, param], `${path} ${form}`)
})

test('a failure that Stripe remembers for the key does not close the order for a day', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  server.fail('500')
  await assert.rejects(stripe.startPayment(wanted), unavailable)
  const started = await stripe.startPayment(wanted)
  assert.deepEqual(await stripe.startPayment(wanted), started)
  assert.equal(server.bank.paymentIntents.length, 1)
})

/** Each new key of a request to this path fails once, and Stripe remembers that. */
const failEachKey = (server: StripeServer, path: string, times: number) =>
  server.fail('500', {
    times,
    match: (call) =>
      call.path === path &&
      call.method === 'POST' &&
      server.calls.filter(({ idempotencyKey }) => idempotencyKey === call.idempotencyKey).length === 1,
  })

test('however many failures Stripe remembers, the order can be paid soon, and stops no other order meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_400_000 })
  const { server, stripe } = await setUp(t)
  const guarded = withBreaker(stripe, newLog('silent'))
  const wanted = payment()
  failEachKey(server, '/v1/payment_intents', 3)
  for (let i = 0; i < 9; i++) await assert.rejects(guarded.startPayment(wanted), unavailable)
  assert.equal(new Set(posts(server).map(({ idempotencyKey }) => idempotencyKey)).size, 3)
  await guarded.startPayment(payment())
  t.mock.timers.tick(600_000)
  const started = await guarded.startPayment(wanted)
  assert.deepEqual(await guarded.startPayment(wanted), started)
  assert.equal(server.bank.paymentIntents.length, 2)
})

test('however many failures Stripe remembers, a seller’s account is made soon, and once', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_400_000 })
  const { server, stripe } = await setUp(t)
  const make = () => stripe.accounts.hosted!.make({ key: 'con_a', since: new Date() })
  failEachKey(server, '/v1/accounts', 3)
  for (let i = 0; i < 4; i++) await assert.rejects(make(), unavailable)
  t.mock.timers.tick(600_000)
  const { account } = await make()
  assert.equal((await make()).account, account)
  assert.equal(server.connect.accounts.length, 1)
})

// ── the same key for something else (C9)

test('an attempt that was begun with another list of methods is continued', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  const first = await stripe.startPayment(wanted)
  const changed = adapter(server, { paymentMethodTypes: ['card'] })
  assert.deepEqual(await changed.startPayment(wanted), first)
  assert.equal(server.bank.paymentIntents.length, 1)
})

test('an attempt that was begun with another price is closed before the right one is begun', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  const first = await stripe.startPayment({ ...wanted, amountMinor: 2000 })
  const second = await stripe.startPayment(wanted)
  assert.notEqual(second.processorPaymentId, first.processorPaymentId)
  assert.deepEqual(
    server.bank.paymentIntents.map(({ amount, status }) => [amount, status]),
    [
      [2000, 'canceled'],
      [1900, 'requires_payment_method'],
    ],
  )
  assert.deepEqual(await stripe.startPayment(wanted), second)
  assert.equal(server.bank.paymentIntents.length, 2)
})

test('an attempt that was begun with another price and paid is never begun again', async (t) => {
  const { server, bank, stripe } = await setUp(t)
  const wanted = payment()
  const first = await stripe.startPayment({ ...wanted, amountMinor: 2000 })
  bank.confirm(first.processorPaymentId)
  await assert.rejects(stripe.startPayment(wanted), unavailable)
  assert.equal(server.bank.paymentIntents.length, 1)
})

test('while the attempt begun before cannot be found yet, no second one is begun', async (t) => {
  const { server, stripe } = await setUp(t)
  const wanted = payment()
  await stripe.startPayment({ ...wanted, amountMinor: 2000 })
  const [hidden] = server.bank.paymentIntents.splice(0)
  await assert.rejects(stripe.startPayment(wanted), unavailable)
  assert.equal(server.bank.paymentIntents.length, 0)
  server.bank.paymentIntents.push(hidden!)
  await stripe.startPayment(wanted)
  assert.equal(server.bank.paymentIntents.filter(({ status }) => status !== 'canceled').length, 1)
})

test('the payment begun before is found among many, by the time of its attempt, or when it was made hours later', async (t) => {
  const { server, bank, stripe } = await setUp(t)
  server.knobs.pageSize = 5
  const now = Date.now()
  for (const hoursLater of [0, 3]) {
    const wanted = payment({ key: newId('pay', now - 5 * 3_600_000) })
    bank.now = () => now - (5 - hoursLater) * 3_600_000
    await stripe.startPayment({ ...wanted, amountMinor: 2000 })
    bank.now = () => now - 60_000
    for (let i = 0; i < 12; i++) await stripe.startPayment(payment({ key: newId('pay', now) }))
    const before = server.calls.length
    await stripe.startPayment(wanted)
    const made = bank.paymentIntents.filter(({ metadata }) => metadata['attempt_id'] === wanted.key)
    assert.deepEqual(
      made.map(({ amount, status }) => [amount, status]),
      [
        [2000, 'canceled'],
        [1900, 'requires_payment_method'],
      ],
    )
    const lists = server.calls.slice(before).filter(({ method }) => method === 'GET').length
    assert(hoursLater > 0 || lists === 1, `${lists} pages were read`)
  }
})

test('a failure that Stripe remembers for other parameters ends with the minute, not with the day', async (t) => {
  const { server, bank, stripe } = await setUp(t)
  const now = Date.now()
  for (const minutesAgo of [1, 20]) {
    bank.paymentIntents.splice(0)
    const wanted = payment({ key: newId('pay', now - minutesAgo * 60_000) })
    server.fail('500')
    await assert.rejects(stripe.startPayment({ ...wanted, amountMinor: 2000 }), unavailable)
    if (minutesAgo === 1) {
      await assert.rejects(stripe.startPayment(wanted), unavailable, 'a payment may not be listed yet')
      continue
    }
    // many others pay meanwhile, and the first request with another key fails too
    const { processorPaymentId } = await stripe.startPayment(payment())
    const other = bank.paymentIntents.find(({ id }) => id === processorPaymentId)!
    for (let i = 0; i < 700; i++) bank.paymentIntents.push({ ...other, id: `pi_${i}` })
    server.fail('500', { match: ({ idempotencyKey }) => idempotencyKey?.includes('.') ?? false })
    await assert.rejects(stripe.startPayment(wanted), unavailable)
    const before = server.calls.length
    const started = await stripe.startPayment(wanted)
    const lists = server.calls.slice(before).filter(({ method }) => method === 'GET').length
    assert(lists <= 6, `${lists} pages were read`)
    assert.deepEqual(await stripe.startPayment(wanted), started)
    const made = bank.paymentIntents.filter(({ metadata }) => metadata['attempt_id'] === wanted.key)
    assert.deepEqual(
      made.map(({ amount, metadata }) => [amount, metadata['order_id']]),
      [[1900, wanted.orderId]],
    )
  }
})

// ── invalid responses

const QUICK_FAULTS: Fault[] = [
  'drop',
  '500',
  '429',
  '503 html',
  '200 html',
  'half an answer',
  '500 without error',
  '302 without error',
  'null',
  { answer: () => [] },
  { answer: () => 'OK' },
  { answer: () => ({ error: null }) },
  { answer: () => ({ error: 'temporarily_unavailable' }) },
]

test('an invalid response never counts as one', async (t) => {
  const { server, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  for (const fault of QUICK_FAULTS) {
    const doing = {
      start: () => stripe.startPayment(payment()),
      fetch: () => stripe.fetchPayment(id),
      cancel: () => stripe.cancelPayment(id),
      refund: () => stripe.refund({ key: `ref_${next()}`, processorPaymentId: id, captureId, amountMinor: 1 }),
      events: () => Array.fromAsync(stripe.eventsSince(new Date())),
      movements: () => Array.fromAsync(stripe.movements(new Date(0), new Date())),
    }
    for (const [what, call] of Object.entries(doing)) {
      server.fail(fault, { times: 2 })
      await assert.rejects(call, unavailable, `${what}: ${JSON.stringify(fault)}`)
      server.works()
    }
  }
  assert.equal((await stripe.fetchPayment(id)).state, 'captured')
})

test('one broken page of a payment’s objects makes the whole response invalid', async (t) => {
  const { server, bank, stripe, paid } = await setUp(t)
  const { id } = await paid()
  bank.refundInDashboard(id, 100)
  bank.openDispute(id)
  assert.equal((await stripe.fetchPayment(id)).refunds.length, 1)
  const broken: Fault[] = [
    '503 html',
    '500 without error',
    { answer: (list) => ({ ...list, has_more: undefined }) },
    { answer: (list) => ({ ...list, object: 'search_result' }) },
    { answer: (list) => ({ ...list, data: {} }) },
    { answer: (list) => ({ ...list, data: [null] }) },
    { answer: (list) => ({ ...list, data: [], has_more: true }) },
    { answer: (list) => ({ ...list, has_more: true }) },
    { answer: (list) => ({ ...list, data: [...list['data'], ...list['data']] }) },
    {
      answer: (list) => ({ ...list, data: list['data'].map((one: Wire) => ({ ...one, payment_intent: 'pi_other' })) }),
    },
  ]
  const read = {
    '/v1/charges': 'id object amount_captured amount_refunded currency payment_intent status captured disputed created',
    '/v1/refunds': 'id object amount currency charge payment_intent status metadata created',
    '/v1/disputes': 'id object amount currency charge payment_intent status created',
  }
  for (const [path, members] of Object.entries(read)) {
    const unreadable = members.split(' ').map((name) => ({
      answer: (list: Wire) => ({ ...list, data: list['data'].map((one: Wire) => ({ ...one, [name]: { not: 1 } })) }),
    }))
    for (const fault of [...broken, ...unreadable]) {
      server.fail(fault, { times: 4, match: (call) => call.path === path })
      const outcome = await stripe.fetchPayment(id).then(
        () => 'taken',
        (error: unknown) => error instanceof ProcessorUnavailable,
      )
      server.works()
      assert.equal(outcome, true, `${path} ${String(typeof fault === 'object' ? fault.answer : fault)}`)
    }
  }
})

test('a payment with another amount, currency, order, attempt or mode than the requested one is not accepted', async (t) => {
  const { server, stripe } = await setUp(t)
  const wrong: Wire[] = [
    { amount: 1901 },
    { amount: '1900' },
    { amount: 19.5 },
    { currency: 'eur' },
    { currency: 'USD' },
    { metadata: {} },
    { metadata: { order_id: 'ord_other', attempt_id: 'pay_other' } },
    { metadata: null },
    { livemode: true },
    { object: 'setup_intent' },
    { id: 'seti_123' },
    { id: 'pi_../../x' },
    { status: 'paid' },
    { client_secret: null },
    { client_secret: 'pi_other_secret_x' },
  ]
  for (const change of wrong) {
    server.fail({ answer: (body) => ({ ...body, ...change }) })
    await assert.rejects(stripe.startPayment(payment()), unavailable, JSON.stringify(change))
  }
  for (const name of ['order_id', 'attempt_id']) {
    server.fail({ answer: (body) => ({ ...body, metadata: { ...body['metadata'], [name]: 'other_1' } }) })
    await assert.rejects(stripe.startPayment(payment()), unavailable, name)
  }
  for (const change of [{ id: 'pi_other' }, { object: 'charge' }, { livemode: true }, { status: 'succeeded' }]) {
    const { processorPaymentId } = await stripe.startPayment(payment())
    server.fail({ answer: (body) => ({ ...body, ...change }) })
    await assert.rejects(stripe.fetchPayment(processorPaymentId), unavailable, JSON.stringify(change))
  }
})

test('a request about an id that is no Stripe payment is never sent', async (t) => {
  const { server, stripe } = await setUp(t)
  for (const id of ['', 'pay_1', 'pi_', '../charges', 'pi_1/cancel', 'pi_1?expand[]=x', 'pi_ä', 'cs_test_1']) {
    await assert.rejects(stripe.fetchPayment(id), unavailable)
    await assert.rejects(stripe.cancelPayment(id), unavailable)
    await assert.rejects(
      stripe.refund({ key: 'ref_1', processorPaymentId: id, captureId: 'ch_1', amountMinor: 1 }),
      unavailable,
    )
  }
  assert.equal(server.calls.length, 0)
  await assert.rejects(stripe.fetchPayment('pi_unknown'), unavailable)
})

test('a wrong key counts as an outage, and the error does not repeat it', async (t) => {
  const { server } = await setUp(t)
  const stripe = adapter(server, { secretKey: 'sk_test_of_somebody_else' })
  await assert.rejects(stripe.startPayment(payment()), (error) => {
    assert.doesNotMatch(String(error), /somebody/)
    return unavailable(error)
  })
  assert.equal(server.calls[0]!.status, 401)
})

// ── slow answers

/** The time limits for one call after another, until a request was sent: on a busy machine a short time can be over before that. */
function* untilSent(server: StripeServer, shortMs: number): Generator<number> {
  for (let callMs = shortMs; server.calls.length === 0; callMs *= 2) {
    assert(callMs < 300_000, 'nothing was sent')
    yield callMs
  }
}

test('Stripe is given up when it hangs, drips, or does everything and never answers', async (t) => {
  const faults: Fault[] = ['hang', 'drip', 'done then hang']
  for (const fault of faults) {
    const { server, stripe } = await setUp(t)
    const wanted = payment()
    server.fail(fault)
    for (const callMs of untilSent(server, SHORT_MS)) {
      await assert.rejects(adapter(server, { callMs }).startPayment(wanted), unavailable)
      // the connection is given up
      await eventually(
        async () => server.sockets.size,
        (open) => open === 0,
      )
    }
    assert.equal(server.calls.length, 1)
    await stripe.startPayment(wanted)
    assert.equal(server.bank.paymentIntents.length, 1)
  }
})

test('a key that stays in use counts as an outage for now, and nothing else is begun', async (t) => {
  const { server } = await setUp(t)
  const wanted = payment()
  server.occupy(wanted.key)
  // time for some tries
  for (const callMs of untilSent(server, 1_000))
    await assert.rejects(adapter(server, { callMs }).startPayment(wanted), unavailable)
  assert(
    server.calls.every(({ path, idempotencyKey }) => path === '/v1/payment_intents' && idempotencyKey === wanted.key),
  )
})

test('many slow pages share the time of one call', async (t) => {
  const { server, bank, start } = await setUp(t)
  const id = await start()
  for (let i = 0; i < 20; i++) bank.confirm(id, { outcome: 'decline' })
  server.knobs.pageSize = 1
  // one page takes half of the time, and there are twenty
  server.knobs.delayMs = SHORT_MS / 2
  await assert.rejects(adapter(server, { callMs: SHORT_MS }).fetchPayment(id), unavailable)
})
