import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Processor, ProcessorEvent } from '../../src/processors/processor.ts'
import { razorpayId } from '../stand-ins/razorpay-refusal.ts'
import { razorpaySignature } from '../stand-ins/razorpay-server.ts'
import { atEnd } from '../support/ends.ts'
import { ACCOUNT, RUPEES, attempt, startRazorpay, unavailable } from '../support/razorpay-setup.ts'

/** A stand-in for our webhook address: it stores how the adapter understood each notification. */
async function listen(t: TestContext, processor: Pick<Processor, 'verifyEvent'>) {
  const heard: (ProcessorEvent | undefined)[] = []
  const answers: number[] = []
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const event = processor.verifyEvent(Buffer.concat(chunks), request.headers)
    heard.push(event)
    response.writeHead(answers.shift() ?? (event ? 200 : 400)).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  atEnd(t, () => server.close())
  return { heard, answers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/webhooks/razorpay` }
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('a notification without a valid signature has no effect', async (t) => {
  const { processor } = await startRazorpay(t)
  const body = notificationOf('payment.captured', { payment: { id: 'pay_1', order_id: 'order_1' } })
  const good = razorpaySignature(body, ACCOUNT.webhookSecret)
  const verify = (signature: string | string[] | undefined, bytes = body) =>
    processor.verifyEvent(Buffer.from(bytes), { 'x-razorpay-signature': signature, 'x-razorpay-event-id': 'abc' })
  assert.equal(verify(good)?.paymentId, 'order_1')
  assert.equal(verify(good.toUpperCase())?.paymentId, 'order_1')
  const wrong = [
    undefined,
    '',
    'x',
    'é'.repeat(64),
    good.slice(0, -1),
    `${good}0`,
    [good, good],
    'f'.repeat(5000),
    'f'.repeat(64),
  ]
  for (const signature of [...wrong, razorpaySignature(body, 'another secret'), razorpaySignature(body, '')])
    assert.equal(verify(signature), undefined)
  assert.equal(verify(good, `${body} `), undefined)
  assert.equal(verify(good, body.replace('captured', 'Captured')), undefined)
  for (const secrets of [[], [''], ['', '']]) {
    const { processor: closed } = await startRazorpay(t, { webhookSecrets: secrets })
    const headers = { 'x-razorpay-signature': razorpaySignature(body, ''), 'x-razorpay-event-id': 'abc' }
    assert.equal(closed.verifyEvent(Buffer.from(body), headers), undefined)
  }
})

test('a signed body that is no notification is kept under its id, and is about nothing', async (t) => {
  const { processor } = await startRazorpay(t)
  const long = JSON.stringify({ event: 'x'.repeat(101), payload: {} })
  for (const text of ['', 'null', '[]', '{}', '{"event":1}', '{"event":', '"payment.captured"', long]) {
    const signature = { 'x-razorpay-signature': razorpaySignature(text, ACCOUNT.webhookSecret) }
    const verify = (headers: object, body = text) => processor.verifyEvent(Buffer.from(body), { ...signature, ...headers }) // oxfmt-ignore
    assert.deepEqual(verify({ 'x-razorpay-event-id': 'abc' }), { id: 'abc', type: 'unreadable', isUnreadable: true })
    assert.match(verify({})!.id, /^sha256-[0-9a-f]{64}$/)
    assert.equal(verify({}, `${text} `), undefined)
  }
})

const notificationOf = (event: string, entities: Record<string, object>, created_at = 1) =>
  JSON.stringify({
    entity: 'event',
    event,
    payload: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }])),
    created_at,
  })

test('the signature is over the raw bytes: other spaces and another order of members are another message', async (t) => {
  const { processor } = await startRazorpay(t)
  const text =
    '{ "payload":{"payment":{"entity":{"order_id":"order_1","id":"pay_1"}}},\r\n"event" : "payment.captured"}'
  const headers = { 'x-razorpay-signature': razorpaySignature(text, ACCOUNT.webhookSecret) }
  assert.equal(processor.verifyEvent(Buffer.from(text), headers)?.paymentId, 'order_1')
  assert.equal(processor.verifyEvent(Buffer.from(JSON.stringify(JSON.parse(text))), headers), undefined)
  const foreign = Buffer.from(text.replace('pay_1', 'pay_ü'), 'latin1')
  const signature = razorpaySignature(foreign, ACCOUNT.webhookSecret)
  assert.equal(processor.verifyEvent(foreign, { 'x-razorpay-signature': signature })?.paymentId, 'order_1')
})

test('while a secret is replaced, the old and the new one are valid; later the old one is not', async (t) => {
  const { bank, processor } = await startRazorpay(t, { webhookSecrets: ['the new secret', 'the old secret'] })
  const { processor: after } = await startRazorpay(t, { webhookSecrets: ['the new secret'] })
  const [both, one] = [await listen(t, processor), await listen(t, after)]
  const order = bank.orders
  assert.equal(order.size, 0)
  const { processorPaymentId } = await processor.startPayment(attempt())
  for (const [secret, heardAfter] of [
    ['the old secret', 0],
    ['the new secret', 1],
  ] as const) {
    for (const [listener, count] of [
      [both, 1],
      [one, heardAfter],
    ] as const) {
      Object.assign(bank, {
        webhookUrl: listener.url,
        notifying: { when: 'now', times: 1, lateMs: 0, tries: 1, secret },
      })
      const before = listener.heard.filter(Boolean).length
      bank.pay(processorPaymentId, { outcome: 'failed' })
      await bank.delivered()
      assert.equal(listener.heard.filter(Boolean).length - before, count)
    }
  }
})

test('a notification has one id, however often and late it comes, and names the order to ask about', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const { heard, answers, url } = await listen(t, processor)
  bank.webhookUrl = url
  Object.assign(bank.notifying, { times: 3, lateMs: 20 })
  answers.push(500, 503)
  const id = await begin()
  bank.pay(id)
  await bank.delivered()
  assert.deepEqual(
    new Set(heard.map((event) => event?.type)),
    new Set(['payment.authorized', 'payment.captured', 'order.paid']),
  )
  assert.deepEqual(new Set(heard.map((event) => event?.paymentId)), new Set([id]))
  assert.deepEqual(new Set(heard.map((event) => event?.id)), new Set(bank.notifications.map((one) => one.id)))
  assert.equal(heard.length, 3 * 3 + 2)
  // sent again a week later, as the dashboard does: the same bytes and the same id
  await bank.again(bank.notifications[0]!)
  assert.equal(heard.at(-1)!.id, bank.notifications[0]!.id)
  for (const event of heard) assert.equal(event?.payment, undefined)
})

test('reports in reverse order, and refunds before payments, end in the true state', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const { heard, url } = await listen(t, processor)
  Object.assign(bank, { webhookUrl: url })
  bank.notifying.when = 'held'
  const id = await begin()
  const { id: captureId } = bank.pay(id, { outcome: 'failed_then_captured' })
  bank.refundInDashboard(captureId, { amount: 10_000 })
  bank.openDispute(captureId)
  await bank.sendHeld((all) => all.reverse())
  assert.equal(heard[0]!.type, 'payment.dispute.created')
  assert.equal(heard.at(-1)!.type, 'payment.failed')
  const snapshots = await Promise.all(heard.map((event) => processor.fetchPayment(event!.paymentId!)))
  for (const snapshot of snapshots) {
    assert.deepEqual([snapshot.state, snapshot.captures.length, snapshot.refunds.length], ['captured', 1, 1])
    assert.deepEqual(
      snapshot.disputes.map(({ state }) => state),
      ['open'],
    )
  }
})

test('notifications about no order of ours are stored, and cause no request', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const told = (event: string, entities: Record<string, object>) => {
    const body = notificationOf(event, entities)
    const headers = { 'x-razorpay-signature': razorpaySignature(body, ACCOUNT.webhookSecret) }
    return processor.verifyEvent(Buffer.from(body), headers)
  }
  const silent: [string, Record<string, object>][] = [
    ['settlement.processed', { settlement: { id: 'setl_1' } }],
    ['payment.downtime.started', { 'payment.downtime': { id: 'down_1' } }],
    ['payment.captured', { payment: { id: 'pay_1', order_id: null } }],
    ['payment.captured', { payment: { id: 'pay_1/../../orders', order_id: 'order_1/x' } }],
    ['payment.captured', {}],
    ['subscription.charged', { payment: { id: 'pay_1', order_id: 'order_1' } }],
    ['payment.captured', { payment: [], order: { id: 5 }, refund: { payment_id: null }, dispute: {} }],
    ['a.kind.of.next.year', { payment: { id: 'pay_1', order_id: 'order_1' } }],
  ]
  for (const [type, entities] of silent) {
    const event = told(type, entities)
    assert.deepEqual([event?.type, event?.paymentId, event?.payment], [type, undefined, undefined])
  }
  for (const payload of [
    undefined,
    null,
    5,
    'x',
    [],
    { payment: null },
    { payment: [] },
    { order: { entity: 'order_1' } },
  ]) {
    const body = JSON.stringify({ event: 'payment.captured', payload })
    const headers = { 'x-razorpay-signature': razorpaySignature(body, ACCOUNT.webhookSecret) }
    const event = processor.verifyEvent(Buffer.from(body), headers)
    assert.deepEqual([event?.type, event?.paymentId], ['payment.captured', undefined], body)
  }
  // where only the payment is named, it leads to its order
  const id = await begin()
  const { id: paymentId } = bank.pay(id)
  assert.equal(told('refund.processed', { refund: { id: 'rfnd_1', payment_id: paymentId } })?.paymentId, paymentId)
  assert.equal(told('payment.dispute.lost', { dispute: { id: 'disp_1', payment_id: paymentId } })?.paymentId, paymentId)
  assert.equal((await processor.fetchPayment(paymentId)).processorPaymentId, id)
  // and one without an order is another service's payment
  bank.payments.get(paymentId)!.order_id = null
  const { processorPaymentId, captures } = await processor.fetchPayment(paymentId)
  assert.deepEqual([processorPaymentId, captures], [paymentId, []])
  await unavailable(processor.fetchPayment(razorpayId('order_')))
})

test('a notification without an id of its own is known by its bytes', async (t) => {
  const { processor } = await startRazorpay(t)
  const idOf = (body: string, id?: string) =>
    processor.verifyEvent(Buffer.from(body), {
      'x-razorpay-signature': razorpaySignature(body, ACCOUNT.webhookSecret),
      'x-razorpay-event-id': id,
    })!.id
  const [body, other] = [notificationOf('order.paid', {}), notificationOf('order.paid', {}, 2)]
  assert.equal(idOf(body, 'FS8TWyPrCsa0OB'), 'FS8TWyPrCsa0OB')
  assert.equal(idOf(body), idOf(body))
  assert.equal(idOf(body), idOf(body, 'x'.repeat(101)))
  assert.notEqual(idOf(body), idOf(other))
})

test('a shop that was down hears of everything since, oldest first, with the same ids each time', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const now = Math.floor(Date.now() / 1000)
  const day = 86_400
  const paid = await begin()
  const late = await begin()
  const open = await begin()
  const payment = bank.pay(paid, { createdAt: now - 3600 })
  const lateOne = bank.pay(late, { createdAt: now - 5 * day, outcome: 'failed_then_captured' })
  const failed = bank.pay(open, { createdAt: now - 1800, outcome: 'failed' })
  bank.pay(open, { createdAt: now - 1700, outcome: 'created' })
  const refund = bank.refundInDashboard(lateOne.id, { amount: 100, createdAt: now - 4 * day })
  const dispute = bank.openDispute(payment.id, { createdAt: now - 60 })
  const since = new Date((now - 7200) * 1000)
  const events = await gather(processor.eventsSince(since))
  assert.deepEqual(events, [
    { id: `${lateOne.id}:payment.captured`, type: 'payment.captured', paymentId: late },
    { id: `${refund.id}:refund.processed`, type: 'refund.processed', paymentId: late },
    { id: `${payment.id}:payment.captured`, type: 'payment.captured', paymentId: paid },
    { id: `${failed.id}:payment.failed`, type: 'payment.failed', paymentId: open },
    { id: `${dispute.id}:payment.dispute.open`, type: 'payment.dispute.open', paymentId: paid },
  ])
  assert.deepEqual(await gather(processor.eventsSince(since)), events)
  bank.moveDispute(dispute.id, 'lost')
  bank.refundInDashboard(payment.id)
  const ids = new Set(events.map(({ id }) => id))
  const news = (await gather(processor.eventsSince(since))).filter(({ id }) => !ids.has(id))
  assert.deepEqual(new Set(news.map(({ type }) => type)), new Set(['payment.dispute.lost', 'refund.processed']))
  assert.equal((await gather(processor.eventsSince(new Date(0)))).length, 6)
  // of a payment that is older than the list only its id is known
  bank.payments.get(lateOne.id)!.created_at = now - 9 * day
  const [first] = await gather(processor.eventsSince(since))
  assert.deepEqual([first!.type, first!.paymentId], ['refund.processed', lateOne.id])
})

test('lists of any length are read to their end, and none is read for ever', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const now = Math.floor(Date.now() / 1000)
  const id = await begin(1_000_000)
  bank.notifying.when = 'never'
  for (let i = 0; i < 250; i++) bank.pay(id, { outcome: 'failed', createdAt: now - 1000 + i })
  const { id: captureId } = bank.pay(id)
  for (let i = 0; i < 210; i++) bank.refundInDashboard(captureId, { amount: 100 })
  for (let i = 0; i < 130; i++) bank.openDispute(captureId, { amount: 100 })
  const snapshot = await processor.fetchPayment(id)
  assert.deepEqual([snapshot.declines, snapshot.refunds.length, snapshot.disputes.length], [250, 210, 130])
  assert.equal((await gather(processor.eventsSince(new Date()))).length, 251 + 210 + 130)
  const counts = bank.requestsTo(/^GET \/v1\/(payments|refunds|disputes)$/).map(({ query }) => query.get('count'))
  assert.deepEqual(new Set(counts), new Set(['100']))
  for (const on of [/\/v1\/refunds$/, /\/v1\/disputes$/, /\/v1\/payments$/]) {
    bank.break(on, 'first_page', 3)
    await unavailable(gather(processor.eventsSince(new Date())))
  }
})

test('a list of many thousand items is read in stretches, and each item counts once, also where many share a second', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  bank.notifying.when = 'never'
  const [from, to] = [new Date('2026-11-20T00:00:00Z'), new Date('2026-11-21T00:00:00Z')]
  const first = from.getTime() / 1000
  const template = bank.pay(await begin(), { createdAt: first })
  const ids = [template.id]
  const add = (createdAt: number) => {
    const id = razorpayId('pay_')
    bank.payments.set(id, { ...template, id, created_at: createdAt })
    ids.push(id)
  }
  for (let i = 0; i < 5_600; i++) add(first + 1 + Math.floor(i / 7))
  // more of one second than a stretch has
  for (let i = 0; i < 5_300; i++) add(first + 10_000)
  for (let i = 0; i < 5_600; i++) add(first + 20_000 + Math.floor(i / 7))
  add(to.getTime() / 1000)
  const refund = bank.refundInDashboard(ids[1]!, { amount: 500, createdAt: first + 5 })
  const listed = await gather(processor.movements(from, to))
  const of = (kind: string) => listed.filter((one) => one.kind === kind).map(({ id }) => id)
  assert.deepEqual(of('capture').toSorted(), ids.slice(0, -1).toSorted())
  assert.deepEqual(of('refund'), [refund.id])
  const skipped = bank.requestsTo(/^GET \/v1\/payments$/).map(({ query }) => Number(query.get('skip')))
  assert.ok(Math.max(...skipped) < 8_000, `${Math.max(...skipped)}`)
  const events = await gather(processor.eventsSince(from))
  assert.equal(events.length, ids.length + 1)
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length)
})

test('the reconciliation gets the first page of a list before the second is read', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  bank.notifying.when = 'never'
  const id = await begin()
  for (let i = 0; i < 150; i++) bank.pay(id, { evenIfPaid: true })
  const movements = processor.movements(new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000))
  const reading = movements[Symbol.asyncIterator]()
  const captures = []
  for (let i = 0; i < 100; i++) captures.push((await reading.next()).value.id)
  assert.equal(bank.requestsTo(/^GET \/v1\/payments$/).length, 1)
  for (let one; !(one = await reading.next()).done;) captures.push(one.value.id)
  assert.deepEqual(captures.toSorted(), [...bank.payments.keys()].toSorted())
})

test('movements in a period are listed once, with their orders', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const [from, to] = [new Date('2026-11-20T00:00:00Z'), new Date('2026-11-21T00:00:00Z')]
  const first = from.getTime() / 1000
  const id = await begin()
  const inside = bank.pay(id, { createdAt: first })
  const other = await begin()
  const outside = bank.pay(other, { createdAt: first + 86_400 })
  const before = await begin()
  const earlier = bank.pay(before, { createdAt: first - 1 })
  const uncaptured = await begin()
  bank.autoRefund(bank.pay(uncaptured, { createdAt: first, outcome: 'authorized' }).id, { createdAt: first })
  bank.payments.get(bank.pay(await begin(), { createdAt: first }).id)!.order_id = null
  const refund = bank.refundInDashboard(earlier.id, { amount: 500, createdAt: first + 5 })
  bank.refundInDashboard(outside.id, { amount: 500, createdAt: first + 86_400 })
  bank.refundInDashboard(inside.id, { amount: 500, createdAt: first, status: 'pending' })
  const lost = bank.openDispute(inside.id, { amount: 700, createdAt: first + 9 })
  bank.moveDispute(lost.id, 'lost')
  const won = bank.openDispute(earlier.id, { amount: 800, createdAt: first + 10 })
  bank.moveDispute(won.id, 'won')
  bank.openDispute(earlier.id, { phase: 'retrieval', createdAt: first + 11 })
  bank.openDispute(outside.id, { createdAt: first + 86_400 })
  const at = (seconds: number) => new Date((first + seconds) * 1000).toISOString()
  const currency = 'INR'
  assert.deepEqual(await gather(processor.movements(from, to)), [
    { kind: 'capture', id: inside.id, processorPaymentId: id, amountMinor: RUPEES, currency, at: at(0) },
    { kind: 'refund', id: refund.id, processorPaymentId: before, amountMinor: 500, currency, at: at(5) },
    { kind: 'dispute', id: won.id, processorPaymentId: before, amountMinor: 800, currency, at: at(10) },
    { kind: 'dispute', id: lost.id, processorPaymentId: id, amountMinor: 700, currency, at: at(9) },
  ])
  bank.break(/^GET \/v1\/refunds/, 'html')
  await unavailable(gather(processor.movements(from, to)))
})
