import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { PaymentUnknown, ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { stripeProcessor } from '../../src/processors/stripe/stripe.ts'
import { EVENT_TYPES } from '../../src/processors/stripe/notification.ts'
import { signature } from '../stand-ins/stripe-server.ts'
import { atLeastOnce } from '../stand-ins/at-least-once.ts'
import { StripeBank, type Wire } from '../stand-ins/stripe-bank.ts'
import { atEnd } from '../support/ends.ts'
import { setUp } from '../support/stripe-setup.ts'
import { callsOf } from '../support/work.ts'

const SECRET = 'whsec_till'
const now = () => Math.floor(Date.now() / 1000)

/** An adapter that makes no requests: it checks notifications without one. */
const adapter = (webhookSecrets: string[] = [SECRET], mode = 'test', apiUrl = 'http://127.0.0.1:1') =>
  stripeProcessor({
    secretKey: `sk_${mode}_till`,
    publishableKey: `pk_${mode}_till`,
    webhookSecrets,
    apiUrl,
    statementPrefix: 'TILL',
  })

const event = (differently: Wire = {}, object: Wire = {}): Wire => ({
  id: 'evt_1',
  object: 'event',
  api_version: '2026-10-28.endive',
  created: now(),
  livemode: false,
  type: 'payment_intent.succeeded',
  data: { object: { id: 'pi_1', object: 'payment_intent', status: 'succeeded', ...object } },
  ...differently,
})

const verify = (body: string | Buffer, header: string | string[] | undefined, stripe = adapter()) =>
  stripe.verifyEvent(Buffer.from(body), { 'stripe-signature': header })

const header = (body: string | Buffer, { secret = SECRET, time = now() } = {}) =>
  `t=${time},v1=${signature(secret, time, body)}`

// ── genuine or not

test('a notification names the payment to read, and not its state', () => {
  const body = JSON.stringify(event())
  const { reported, ...about } = verify(body, header(body))!
  assert.deepEqual(about, { id: 'evt_1', type: 'payment_intent.succeeded', paymentId: 'pi_1' })
  assert.deepEqual(reported, event()['data'].object)
})

test('missing, garbled and endless headers, another secret and a changed body are not genuine', async () => {
  const body = JSON.stringify(event())
  const time = now()
  const good = header(body, { time })
  const endless = [`${good},${'v1=00,'.repeat(1000)}`, 'x'.repeat(5000)]
  const [, mac = ''] = good.split('v1=')
  const bad = [
    undefined,
    '',
    ' ',
    ',',
    '=',
    't=',
    `t=${now()}`,
    `v1=${mac}`,
    `t=${now()},v1=`,
    `t=${now()},v1=${mac.slice(1)}`,
    `t=${now()},v1=${mac}00`,
    `t=${now()},v1=${mac.toUpperCase()}`,
    `t=${now()},v0=${mac}`,
    `t=${now()},v1=${'zz'.repeat(32)}`,
    `t=${now()},t=${now()},v1=${mac}`,
    `t=-${now()},v1=${mac}`,
    `t=${now()}.0,v1=${mac}`,
    `t=1e9,v1=${mac}`,
    `t=NaN,v1=${mac}`,
    ...endless,
    [good, good],
    header(body, { secret: 'whsec_other' }),
    header(`${body} `),
    header(body.replace('pi_1', 'pi_2')),
    good.replace(`t=${time}`, `t=${time - 1}`),
  ]
  for (const one of bad) assert.equal(verify(body, one), undefined, String(one).slice(0, 100))
  // The check refuses an endless header for its length, before it reads any part: only the check itself is called.
  for (const one of endless) assert.equal(await callsOf(/stripe\/notification\.ts/, async () => verify(body, one)), 1)
  assert.equal(adapter().verifyEvent(Buffer.from(body), {}), undefined)
  assert.equal(verify('', header('x')), undefined)
})

test('without a secret no signature is valid, also not one with an empty secret', () => {
  const body = JSON.stringify(event())
  assert.equal(verify(body, header(body), adapter([])), undefined)
  assert.equal(verify(body, header(body, { secret: '' }), adapter([''])), undefined)
})

test('signatures ten minutes old or an hour ahead are refused; minutes of difference are accepted', () => {
  const body = JSON.stringify(event())
  for (const time of [0, now() - 600, now() - 302, now() + 330, now() + 3600])
    assert.equal(verify(body, header(body, { time })), undefined, `${time - now()} s`)
  for (const time of [now() - 290, now(), now() + 290])
    assert(verify(body, header(body, { time })), `${time - now()} s`)
})

test('while a secret is replaced, two secrets of ours and two signatures of theirs are both good', () => {
  const body = JSON.stringify(event())
  const both = adapter(['whsec_new', 'whsec_old'])
  for (const secret of ['whsec_new', 'whsec_old']) assert(verify(body, header(body, { secret }), both), secret)
  assert.equal(verify(body, header(body, { secret: 'whsec_gone' }), both), undefined)
  const time = now()
  const two = `t=${time},v1=${signature('whsec_other', time, body)}, v1=${signature(SECRET, time, body)}`
  assert(verify(body, two))
})

test('the signature is over the bytes: spaces, order, a byte order mark and broken UTF-8 are as they came', () => {
  const { id, object, type, ...rest } = event()
  const spaced = ` {\r\n "type" : ${JSON.stringify(type)},\t"id":"${id}", "object":"${object}",${JSON.stringify(rest).slice(1)} \n`
  assert.equal(verify(spaced, header(spaced))?.paymentId, 'pi_1')
  assert.equal(verify(JSON.stringify(JSON.parse(spaced)), header(spaced)), undefined)
  const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(spaced)])
  // its signature is that of the bytes with the mark, and of nothing else
  assert.equal(verify(marked, header(spaced)), undefined)
  const broken = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
  const other = Buffer.from(broken.toString('utf8'))
  const mac = createHmac('sha256', SECRET).update(`${now()}.`).update(broken).digest('hex')
  assert.equal(verify(other, `t=${now()},v1=${mac}`), undefined)
})

test('a signed body that is no Stripe event is kept under its id, or a hash of its bytes, and is about nothing', () => {
  const named = [
    event({ object: 'v2.core.event' }),
    event({ livemode: 'false' }),
    event({ data: {} }),
    event({ data: { object: [] } }),
  ]
  for (const one of named) {
    const body = JSON.stringify(one)
    assert.deepEqual(verify(body, header(body)), { id: 'evt_1', type: one['type'], isUnreadable: true }, body)
  }
  const nameless = [event({ id: 7 }), event({ id: 'evt_../x' }), event({ type: '' }), event({ type: 'x'.repeat(101) })]
  const ids = ['', 'null', '[]', '"evt_1"', '{', '{}', ...nameless.map((one) => JSON.stringify(one))].map((body) => {
    const { id, ...told } = verify(body, header(body))!
    assert.deepEqual(told, { type: 'unreadable', isUnreadable: true }, body)
    assert.match(id, /^sha256-[0-9a-f]{64}$/)
    assert.equal(verify(body, header(body))!.id, id, 'the same again')
    return id
  })
  assert.equal(new Set(ids).size, ids.length)
})

// ── about which payment

test('every kind of event that can change an order names its payment', () => {
  const about = (type: string, object: Wire) => {
    const body = JSON.stringify(event({ type, data: { object } }))
    return verify(body, header(body))
  }
  for (const type of EVENT_TYPES) {
    const object = type.startsWith('payment_intent.')
      ? { object: 'payment_intent', id: 'pi_1' }
      : { object: 'charge', id: 'ch_1', payment_intent: 'pi_1' }
    assert.deepEqual(about(type, object), { id: 'evt_1', type, paymentId: 'pi_1', reported: object })
  }
  assert.equal(about('refund.failed', { object: 'refund', id: 're_1', payment_intent: 'pi_1' })?.paymentId, 'pi_1')
  assert.equal(
    about('charge.dispute.closed', { object: 'dispute', id: 'du_1', payment_intent: 'pi_1' })?.paymentId,
    'pi_1',
  )
})

test('an event of another account names that account, so that nobody takes it for ours', () => {
  const body = JSON.stringify(event({ account: 'acct_1' }))
  const { reported: _, ...told } = verify(body, header(body))!
  assert.deepEqual(told, { id: 'evt_1', type: 'payment_intent.succeeded', account: 'acct_1', paymentId: 'pi_1' })
})

test('an event of the other mode, of an unknown type or about no payment is stored and causes no request', () => {
  const charge = { object: 'charge', id: 'ch_1', payment_intent: null }
  const others = [
    event({ livemode: true }),
    event({ type: 'payment_intent.created' }),
    event({ type: 'customer.created', data: { object: { object: 'customer', id: 'cus_1' } } }),
    event({
      type: 'checkout.session.completed',
      data: { object: { object: 'checkout.session', payment_intent: 'pi_1' } },
    }),
    event({ type: 'brand.new', data: { object: { object: 'new', payment_intent: 'pi_1' } } }),
    event({ type: 'charge.succeeded', data: { object: charge } }),
    event({ type: 'charge.succeeded', data: { object: { ...charge, payment_intent: 'pi_/../x' } } }),
    event({ type: 'charge.succeeded', data: { object: { ...charge, payment_intent: ['pi_1'] } } }),
  ]
  for (const one of others) {
    const body = JSON.stringify(one)
    assert.deepEqual(verify(body, header(body)), { id: 'evt_1', type: one['type'] })
  }
  const body = JSON.stringify(event())
  assert.deepEqual(verify(body, header(body), adapter([SECRET], 'live')), {
    id: 'evt_1',
    type: 'payment_intent.succeeded',
  })
})

test('an event in the form of another version of the API names its payment all the same', () => {
  const body = JSON.stringify(
    event({ api_version: '2035-01-01.new', new_member: { x: 1 } }, { charges: null, amount: 'one' }),
  )
  assert.equal(verify(body, header(body))?.paymentId, 'pi_1')
})

// ── notifications over HTTP, as late, repeated and reordered as they come

test('events in any order lead to the same final state: the service reads the payment, not the event', async (t) => {
  const { server, bank, stripe, start } = await setUp(t)
  const id = await start()
  bank.confirm(id, { outcome: 'decline' })
  bank.confirm(id, { method: 'sepa_debit', outcome: 'processing' })
  bank.finish(id, 'succeed')
  bank.refundInDashboard(id, 400)
  const last = await stripe.fetchPayment(id)
  for (const one of bank.events.toReversed()) {
    const { body, headers } = server.signed(one)
    const told = stripe.verifyEvent(Buffer.from(body), headers)
    assert.equal(told?.payment, undefined)
    if (told?.paymentId) assert.deepEqual(await stripe.fetchPayment(told.paymentId, told.reported), last)
  }
})

test('an event of success saves two of three requests, and the received amount is still read', async (t) => {
  const { server, bank, stripe, start } = await setUp(t)
  const id = await start()
  bank.confirm(id)
  const intent = bank.paymentIntents[0]!
  const all = await stripe.fetchPayment(id)
  const asked = async (told: unknown) => {
    server.calls.splice(0)
    assert.deepEqual(await stripe.fetchPayment(id, told), all)
    return server.calls.map(({ path }) => path.replace(id, 'pi').replace('/v1/', ''))
  }
  assert.deepEqual(await asked(intent), ['charges'])
  const nothingNew: unknown[] = [
    undefined,
    null,
    'x',
    { ...intent, latest_charge: undefined },
    { ...intent, amount: 'one' },
  ]
  for (const told of [...nothingNew, { ...intent, status: 'processing' }, { ...intent, latest_charge: null }])
    assert.deepEqual(await asked(told), ['payment_intents/pi', 'charges', 'refunds'], JSON.stringify(told))
  for (const change of [{ id: 'pi_other' }, { livemode: true }])
    await assert.rejects(stripe.fetchPayment(id, { ...intent, ...change }), ProcessorUnavailable)
})

test('an event of success for a payment without money is not trusted', async (t) => {
  const { bank, stripe, start } = await setUp(t)
  const [untried, declined] = [await start(), await start()]
  bank.confirm(declined, { outcome: 'decline' })
  for (const id of [untried, declined]) {
    const intent = bank.find(bank.paymentIntents, 'payment_intent', id)
    const told = { ...intent, status: 'succeeded', latest_charge: intent['latest_charge'] ?? 'ch_1' }
    assert.equal((await stripe.fetchPayment(id, told)).state, 'open')
  }
  assert.deepEqual((await stripe.fetchPayment(declined)).captures, [])
})

test('an event of success for another account’s payment is as unknown as its id', async (t) => {
  const { server, bank, stripe, start } = await setUp(t)
  const id = await start()
  bank.confirm(id)
  const told = { ...bank.paymentIntents[0], id: 'pi_elsewhere', latest_charge: 'ch_elsewhere' }
  const missing = {
    error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such payment_intent' },
  }
  await assert.rejects(stripe.fetchPayment('pi_elsewhere', told), PaymentUnknown)
  server.calls.splice(0)
  server.fail({ answer: () => missing, status: 404 }, { match: ({ path }) => path === '/v1/charges' })
  await assert.rejects(stripe.fetchPayment('pi_elsewhere', told), PaymentUnknown)
  assert.equal(server.calls.length, 2)
})

// ── the server of these tests

test('the stand-in signs as the library checks, and delivers late, twice, in any order, old, forged and never', async (t) => {
  const { Stripe } = await import('stripe')
  const { server, bank } = await setUp(t)
  const receiver = await listener(t)
  server.knobs.webhookUrl = receiver.url
  const intent = () => bank.createIntent({ amount: '1900', currency: 'usd' })
  const types = () => receiver.got.splice(0).map(({ event: { type } }) => type)

  intent()
  await server.delivered()
  const [first] = receiver.got
  assert.equal(
    new Stripe('sk_test_x').webhooks.constructEvent(first!.body, first!.signature, server.webhookSecret).id,
    bank.events[0]!['id'],
  )
  assert.deepEqual(types(), ['payment_intent.created'])

  server.knobs.notify = 'held'
  bank.confirm(intent()['id'])
  assert.deepEqual(types(), [])
  await server.release({ reversed: true, times: 2 })
  assert.deepEqual(types(), [
    'payment_intent.succeeded',
    'payment_intent.succeeded',
    'charge.succeeded',
    'charge.succeeded',
    'payment_intent.created',
    'payment_intent.created',
  ])

  intent()
  await server.release({ ageSeconds: 900, secret: 'whsec_other' })
  const [old] = receiver.got.splice(0)
  assert.equal(adapter().verifyEvent(Buffer.from(old!.body), { 'stripe-signature': old!.signature }), undefined)

  server.knobs.notify = 'never'
  intent()
  await server.delivered()
  assert.deepEqual(types(), [])
  assert.deepEqual([...new Set(server.deliveries.map(({ status }) => status))], [200])
})

test('by a seed the stand-in delivers each at least once, some twice, late or in another order, and waits for no clock', async () => {
  /**
   * Sends the history of one payment to a shop that refuses the first `refused` deliveries. Returns the events by their places in the
   * history, as they arrived.
   */
  const deliveredBy = async (seed: string, refused = 0) => {
    const got: Wire[] = []
    const notifications = atLeastOnce(seed, async (event) => got.push(event) > refused)
    const bank = new StripeBank(false)
    bank.onEvent = notifications.tell
    const { id } = bank.createIntent({ amount: '1900', currency: 'usd' })
    await new Promise(setImmediate)
    bank.confirm(id, { outcome: 'processing' })
    await new Promise(setImmediate)
    bank.finish(id, 'succeed')
    await new Promise(setImmediate)
    const news = new Set(got.map(({ type }) => type))
    if (refused === 0) assert(['charge.succeeded', 'payment_intent.succeeded'].some((one) => news.has(one)))
    bank.failRefund(bank.refundInDashboard(id, 400)['id'])
    bank.closeDispute(bank.openDispute(id)['id'], 'lost')
    await notifications.rest()
    const places = got.map((event) => bank.events.findIndex((one) => one['id'] === event['id']))
    assert.deepEqual(new Set(places.slice(refused)), new Set(bank.events.keys()), `${seed}: each is taken`)
    await notifications.rest()
    assert.equal(got.length, places.length, 'nothing is left')
    return places
  }
  const plans = new Map<string, number[]>()
  for (const seed of Array.from({ length: 10 }, (_, at) => `seed ${at}`)) {
    const places = await deliveredBy(seed)
    plans.set(String(places), places)
    assert.deepEqual(await deliveredBy(seed), places)
    await deliveredBy(seed, 4)
  }
  assert.equal(plans.size, 10)
  for (const places of plans.values()) {
    assert(places.length > new Set(places).size, 'some come twice')
    assert(places.some((one, at) => one < Math.max(...places.slice(0, at))), 'some come after later ones') // oxfmt-ignore
  }
})

async function listener(t: TestContext) {
  const http = await import('node:http')
  const got: { body: string; signature: string; event: Wire }[] = []
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    got.push({ body, signature: String(request.headers['stripe-signature']), event: JSON.parse(body) })
    response.end('{"received":true}')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  atEnd(t, () => void server.close())
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}/`, got }
}
