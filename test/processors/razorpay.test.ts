import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../src/kit/ids.ts'
import type { PaymentSnapshot } from '../../src/processors/processor.ts'
import {
  AmountNotTaken,
  PaymentClosed,
  PaymentRefused,
  PaymentUnknown,
  ProcessorUnavailable,
  RefundTaken,
} from '../../src/processors/refusals.ts'
import { razorpayProcessor } from '../../src/processors/razorpay/razorpay.ts'
import type { Fault } from '../stand-ins/razorpay-server.ts'
import { ACCOUNT, RUPEES, attempt, startRazorpay, unavailable } from '../support/razorpay-setup.ts'

/** The time limit of a call when the server does not answer in time anyway. */
const SHORT_MS = 200

/** An entity of the bank, one of its fields, and the values that the field gets in turn. */
type Change = [entity: Record<string, unknown>, field: string, values: unknown[]]

const captureIds = ({ captures }: PaymentSnapshot) => captures.map(({ id }) => id)

const BROKEN: Fault[] = [
  'drop',
  'drop_after',
  'server_error',
  'rate_limited',
  'html',
  'html_error',
  'json_without_error',
  'empty',
  'cut',
  'endless',
  'redirect',
  'wrong_entity',
  'amount_as_text',
]
/** Every request that the calls make of a card payment that was refunded in part and disputed. */
const READING = {
  order: /^GET \/v1\/orders\/\w+$/,
  payments: /^GET \/v1\/orders\/\w+\/payments$/,
  card: /^GET \/v1\/payments\/\w+$/,
  refunds: /^GET \/v1\/payments\/\w+\/refunds$/,
  disputes: /^GET \/v1\/disputes$/,
}

test('amounts that cannot be paid there are refused without a request', async (t) => {
  const { bank, processor } = await startRazorpay(t)
  for (const wrong of [{ currency: 'USD' }, { currency: 'JPY' }])
    await unavailable(processor.startPayment(attempt(wrong)))
  for (const id of ['', 'order_', 'order_1/../payments', 'pi_1DP5mmOlF5G5ag', 'pay_x?y', 'order_%2e'])
    await unavailable(processor.fetchPayment(id))
  const refund = { key: newId('ref'), processorPaymentId: 'order_1', captureId: 'pay_1', amountMinor: 500 }
  for (const wrong of [{ key: 'short' }, { key: 'with a space' }, { captureId: 'order_1' }, { amountMinor: 99 }])
    await unavailable(processor.refund({ ...refund, ...wrong }))
  assert.equal(bank.requests.length, 0)
  assert.deepEqual(processor.rails('USD'), [])
  assert.deepEqual(processor.rails('INR'), ['card', 'debit', 'upi'])
})

test('an amount that is too small or too large for Razorpay is refused by Razorpay, and nothing is begun', async (t) => {
  const { bank, processor } = await startRazorpay(t)
  for (const amountMinor of [0, 1, 99, bank.mostPaise + 1])
    await assert.rejects(processor.startPayment(attempt({ amountMinor })), AmountNotTaken, `${amountMinor} paise`)
  assert.equal(bank.orders.size, 0)
})

test('a wrong key, a limit, an outage and any invalid response count as an outage, for every call', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  bank.refundInDashboard(captureId, { amount: 100 })
  bank.openDispute(captureId)
  const known = attempt()
  await processor.startPayment(known)
  const refund = () => processor.refund({ key: newId('ref'), processorPaymentId: id, captureId, amountMinor: 100 })
  const calls: [() => Promise<unknown>, RegExp[], Fault[]][] = [
    [() => processor.startPayment(known), [/^GET \/v1\/orders$/], []],
    [() => processor.startPayment(attempt()), [/^POST \/v1\/orders$/], ['wrong_amount', 'wrong_currency']],
    [() => processor.fetchPayment(id), Object.values(READING), []],
    [() => processor.fetchPayment(captureId), [READING.card], ['wrong_id']],
    [() => processor.cancelPayment(id), Object.values(READING), []],
    [refund, [/refund$/, ...Object.values(READING)], []],
    [refund, [/refund$/], ['wrong_amount', 'wrong_parent']],
    [() => processor.fetchPayment(id), [READING.order, READING.card], ['wrong_id']],
    [() => processor.fetchPayment(id), [READING.payments, READING.refunds], ['wrong_parent']],
  ]
  for (const [call, requests, faults] of calls) {
    for (const on of requests) {
      for (const fault of faults.length > 0 ? faults : BROKEN) {
        bank.break(on, fault)
        await assert.rejects(call(), ProcessorUnavailable, `${fault} at ${on}`)
      }
    }
  }
  await processor.fetchPayment(id)
  const stranger = razorpayProcessor({ ...ACCOUNT, keySecret: 'wrong', webhookSecrets: [], apiUrl: bank.url })
  await unavailable(stranger.fetchPayment(id))
  const nobody = razorpayProcessor({ ...ACCOUNT, webhookSecrets: [], apiUrl: 'http://127.0.0.1:1' })
  await assert.rejects(nobody.startPayment(attempt()), (error: Error) => {
    assert(error instanceof ProcessorUnavailable)
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /thiskeyisasecret|Basic/)
    return true
  })
})

test('a start that is refused for good ends, also without a reason from Razorpay; one that can pass is tried again', async (t) => {
  const { bank, processor } = await startRazorpay(t)
  const makes = /^POST \/v1\/orders$/
  for (const fault of ['bad_request', 'not_allowed'] as const) {
    bank.break(makes, fault)
    await assert.rejects(processor.startPayment(attempt()), PaymentRefused, fault)
  }
  for (const fault of ['not_found', 'in_progress', 'rate_limited'] as const) {
    bank.break(makes, fault)
    const passes = (error: unknown) => error instanceof ProcessorUnavailable && !(error instanceof PaymentRefused)
    await assert.rejects(processor.startPayment(attempt()), passes, fault)
  }
})

test('an impossible amount, time or kind of value is an invalid response, wherever it is', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const payment = bank.pay(id)
  const refund = bank.refundInDashboard(payment.id, { amount: 100 })
  const dispute = bank.openDispute(payment.id)
  const amounts = [-1, 0.5, 1e12, '49900', null]
  const times = [1_700_000_000.5, '1700000000']
  const texts = ['', 5, null, []]
  const order = bank.orders.get(id)!
  const wrong: Change[] = [
    ...[order, payment, refund, dispute].flatMap((one): Change[] => [
      [one, 'amount', amounts],
      [one, 'created_at', times],
      [one, 'currency', texts],
      [one, 'id', ['', 5, null, `${one.id}/x`, `${one.id}${'x'.repeat(40)}`]],
    ]),
    ...[payment, refund, dispute].map((one): Change => [one, 'status', texts]),
    ...[order, payment].map((one): Change => [one, 'created_at', [-1, 8_640_000_000_001, null]]),
    [order, 'amount_paid', amounts],
    [payment, 'order_id', [...texts, {}]],
    [payment, 'method', texts],
    [payment, 'amount_refunded', [-1, 0.5, 1e12, '0']],
    [dispute, 'payment_id', texts],
    [dispute, 'phase', texts],
    [dispute, 'amount_deducted', [-1, 0.5, 1e12, '0']],
  ]
  for (const [entity, field, values] of wrong) {
    const right = entity[field]
    for (const value of values) {
      entity[field] = value
      await assert.rejects(
        processor.fetchPayment(id),
        (error) => error instanceof ProcessorUnavailable && !error.answered,
        `${field} ${JSON.stringify(value)}`,
      )
    }
    entity[field] = right
  }
  assert.equal((await processor.fetchPayment(id)).state, 'captured')
})

test('a field that Razorpay or another service fills in otherwise does not stop the reading of a payment', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const payment = bank.pay(id, { method: 'upi' })
  const refund = bank.refundInDashboard(payment.id, { amount: 100 })
  const dispute = bank.openDispute(payment.id)
  const before = await processor.fetchPayment(id)
  const order = bank.orders.get(id)!
  const other: Change[] = [
    ...[order, payment, refund, dispute].map((one): Change => [one, 'of_next_year', [{ a: [1] }, null]]),
    [order, 'receipt', [null, 5, '']],
    [payment, 'amount_refunded', [null, undefined]],
    [payment, 'captured', [null, undefined, '1']],
    [payment, 'provider', [null, '', 5, []]],
    [payment, 'card', [null, [], {}, { type: null }]],
    [refund, 'receipt', [null, undefined, '', 5]],
    [dispute, 'amount_deducted', [null, undefined]],
  ]
  for (const [entity, field, values] of other) {
    const right = entity[field]
    for (const value of values) {
      entity[field] = value
      assert.deepEqual(await processor.fetchPayment(id), before, `${field} ${JSON.stringify(value)}`)
    }
    entity[field] = right
  }
  for (const notes of [null, [], {}, { order_id: 5 }, { order_id: '' }, 'x']) {
    order.notes = notes
    assert.deepEqual(await processor.fetchPayment(id), { ...before, orderId: undefined })
  }
})

test('a processor that hangs, or answers each of several requests slowly, is given up when the time of the call is over', async (t) => {
  const { bank, begin, adapter } = await startRazorpay(t)
  const impatient = adapter({ callMs: SHORT_MS })
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  bank.break(/^(GET|POST) /, 'hang', 4)
  await Promise.all([
    unavailable(impatient.startPayment(attempt())),
    unavailable(impatient.fetchPayment(id)),
    unavailable(impatient.cancelPayment(id)),
    unavailable(impatient.refund({ key: newId('ref'), processorPaymentId: id, captureId, amountMinor: 100 })),
  ])
  // each request takes half of the time, and the call makes at least three
  bank.delayMs = SHORT_MS / 2
  await unavailable(impatient.fetchPayment(id))
})

test('an order with another amount, currency or receipt than ours is not accepted as ours', async (t) => {
  const { bank, processor } = await startRazorpay(t)
  for (const fault of ['wrong_amount', 'wrong_currency'] as const) {
    bank.break(/^POST \/v1\/orders$/, fault)
    await unavailable(processor.startPayment(attempt()))
  }
  const payment = attempt()
  const { processorPaymentId } = await processor.startPayment(payment)
  await unavailable(processor.startPayment({ ...payment, amountMinor: RUPEES + 1 }))
  await unavailable(processor.startPayment({ ...payment, orderId: newId('ord') }))
  bank.orders.get(processorPaymentId)!.receipt = `${payment.key}x`
  // the list gives every Order whose receipt contains ours: only an Order with exactly our receipt counts
  assert.notEqual((await processor.startPayment(payment)).processorPaymentId, processorPaymentId)
  // all that is said fits together, and is of another order
  const other = await processor.startPayment(attempt())
  bank.pay(other.processorPaymentId)
  bank.orders.set(processorPaymentId, bank.orders.get(other.processorPaymentId)!)
  await unavailable(processor.fetchPayment(processorPaymentId))
})

test('a lost answer leaves one order: the repeat finds it, whatever the account makes of a receipt that comes again', async (t) => {
  for (const receipts of ['same_order', 'refused', 'ignored', 'unknown_field'] as const) {
    for (const fault of ['drop_after', 'cut', 'html'] as const) {
      const { bank, processor } = await startRazorpay(t)
      bank.receipts = receipts
      const payment = attempt()
      bank.break(/^POST \/v1\/orders$/, fault)
      await unavailable(processor.startPayment(payment))
      const first = await processor.startPayment(payment)
      assert.deepEqual(first, await processor.startPayment(payment))
      assert.equal(bank.orders.size, 1, `${receipts}, ${fault}`)
      const [order] = [...bank.orders.values()]
      const { id, amount, currency, receipt, notes } = order!
      assert.deepEqual([amount, currency, receipt, notes], [RUPEES, 'INR', payment.key, { order_id: payment.orderId }])
      assert.deepEqual(first, { processorPaymentId: id, clientSecret: id, publishableKey: ACCOUNT.keyId })
    }
  }
})

test('an Order from before is asked for: a paid one is closed, and one of another account is unknown', async (t) => {
  const { bank, processor } = await startRazorpay(t)
  const payment = attempt()
  const first = await processor.startPayment(payment)
  const { processorPaymentId } = first
  const again = { ...payment, processorPaymentId }
  assert.deepEqual(await processor.startPayment(again), first)
  for (const fault of ['server_error', 'wrong_id', 'bad_request'] as const) {
    bank.break(READING.order, fault)
    await assert.rejects(
      processor.startPayment(again),
      (error) => error instanceof ProcessorUnavailable && !error.answered,
      fault,
    )
  }
  bank.pay(processorPaymentId, { outcome: 'failed' })
  assert.deepEqual(await processor.startPayment(again), first)
  bank.pay(processorPaymentId)
  await assert.rejects(processor.startPayment(again), PaymentClosed)
  const { processor: another } = await startRazorpay(t)
  await assert.rejects(another.startPayment(again), PaymentUnknown)
  const refused = razorpayProcessor({ ...ACCOUNT, keySecret: 'another', webhookSecrets: [], apiUrl: bank.url })
  await assert.rejects(refused.startPayment(again), PaymentRefused)
  assert.equal(bank.orders.size, 1)
})

test('two simultaneous starts of the same payment get the same order', async (t) => {
  for (const receipts of ['same_order', 'refused'] as const) {
    const { bank, processor } = await startRazorpay(t)
    Object.assign(bank, { receipts, delayMs: 20 })
    const payment = attempt()
    const started = await Promise.all(Array.from({ length: 6 }, () => processor.startPayment(payment)))
    assert.equal(new Set(started.map(({ processorPaymentId }) => processorPaymentId)).size, 1)
    assert.equal(bank.orders.size, 1)
    assert.equal(bank.requestsTo(/^POST/).length, 6)
  }
})

test('captures are automatic for as long as a bank can say yes', async (t) => {
  const { bank, begin } = await startRazorpay(t)
  await begin()
  const { body } = bank.requestsTo(/^POST \/v1\/orders/)[0]!
  assert.deepEqual(body.payment, {
    capture: 'automatic',
    capture_options: { automatic_expiry_period: 7200, manual_expiry_period: 7200, refund_speed: 'normal' },
  })
})

test('made, declined or waiting for the buyer is not paid', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const nothing = { processorPaymentId: id, orderId: bank.orders.get(id)!.notes.order_id, captures: [], refunds: [] }
  const open = { ...nothing, state: 'open', declines: 0, disputes: [] }
  assert.deepEqual(await processor.fetchPayment(id), open)
  bank.pay(id, { outcome: 'failed' })
  bank.pay(id, { outcome: 'failed', method: 'upi' })
  bank.pay(id, { outcome: 'created', method: 'upi' })
  assert.deepEqual(await processor.fetchPayment(id), { ...open, declines: 2, atBank: true })
  assert.equal((await processor.cancelPayment(id)).state, 'canceled')
  // nothing there was changed: it cannot be
  assert.equal(bank.requestsTo(/^(POST|PATCH|DELETE)/).length, 1)
})

test('a payment that is made after we gave up counts', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  assert.equal((await processor.cancelPayment(id)).state, 'canceled')
  bank.pay(id)
  assert.equal((await processor.fetchPayment(id)).state, 'captured')
  assert.equal((await processor.cancelPayment(id)).state, 'captured')
})

test('a payment that failed and is authorized days later is a capture', async (t) => {
  for (const outcome of ['failed_then_captured', 'failed_then_authorized'] as const) {
    const { bank, processor, begin } = await startRazorpay(t)
    const id = await begin()
    const createdAt = Math.floor(Date.now() / 1000) - 4 * 86_400
    const payment = bank.pay(id, { outcome, method: 'upi', createdAt })
    const snapshot = await processor.fetchPayment(id)
    assert.deepEqual(captureIds(snapshot), [payment.id])
    assert.deepEqual([snapshot.state, snapshot.rail, snapshot.declines], ['captured', 'upi', 0])
    assert.equal(snapshot.captures[0]!.capturedAt, new Date(createdAt * 1000).toISOString())
    assert.equal(bank.payments.get(payment.id)!.status, 'captured')
  }
})

test('an authorized payment is captured once, however many processes find it, and also if it was captured elsewhere first', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const payment = bank.pay(id, { outcome: 'authorized' })
  bank.delayMs = 20
  const all = await Promise.all(Array.from({ length: 5 }, () => processor.fetchPayment(id)))
  for (const snapshot of all) assert.deepEqual(captureIds(snapshot), [payment.id])
  assert.equal(bank.orders.get(id)!.amount_paid, RUPEES)
  assert(bank.requestsTo(/capture$/).length > 1)
  // the request is done, and the answer is lost
  const second = await begin()
  const late = bank.pay(second, { outcome: 'authorized' })
  bank.break(/capture$/, 'drop_after')
  await unavailable(processor.fetchPayment(second))
  assert.deepEqual(captureIds(await processor.fetchPayment(second)), [late.id])
})

test('payments that do not match, are not ours, or come beside a capture are not captured', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const other = await begin()
  bank.pay(other, { outcome: 'authorized', amount: RUPEES - 1 })
  bank.pay(other, { outcome: 'authorized', currency: 'USD' })
  assert.equal((await processor.fetchPayment(other)).state, 'processing')
  const foreign = await begin()
  bank.orders.get(foreign)!.notes = []
  bank.pay(foreign, { outcome: 'authorized' })
  assert.equal((await processor.fetchPayment(foreign)).state, 'processing')
  const paid = await begin()
  const first = bank.pay(paid)
  bank.pay(paid, { outcome: 'authorized', evenIfPaid: true })
  assert.deepEqual(captureIds(await processor.fetchPayment(paid)), [first.id])
  assert.equal(bank.requestsTo(/capture$/).length, 0)
})

test('a second captured payment of one order is a second capture', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const now = Math.floor(Date.now() / 1000)
  const first = bank.pay(id, { createdAt: now - 60 })
  const second = bank.pay(id, { createdAt: now, method: 'upi', evenIfPaid: true })
  const snapshot = await processor.fetchPayment(id)
  assert.deepEqual(captureIds(snapshot), [first.id, second.id])
  const key = newId('ref')
  const { refunds } = await processor.refund({ key, processorPaymentId: id, captureId: second.id, amountMinor: RUPEES })
  assert.deepEqual(
    refunds.map(({ captureId, amountMinor, key }) => [captureId, amountMinor, key]),
    [[second.id, RUPEES, key]],
  )
  assert.equal((await processor.fetchPayment(id)).captures.length, 2)
})

test('an order that is paid, without a payment, is an invalid response', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: paymentId } = bank.pay(id)
  bank.payments.get(paymentId)!.status = 'authorized'
  await unavailable(processor.fetchPayment(id))
})

test('money that was authorized and went back by itself was never a capture, and is no refund', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: paymentId } = bank.pay(id, { outcome: 'authorized' })
  bank.autoRefund(paymentId)
  const { state, captures, refunds } = await processor.fetchPayment(id)
  assert.deepEqual([state, captures, refunds], ['open', [], []])
})

test('the same key refunds once: at once, again, after a lost answer, and with another amount', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  const refund = { key: newId('ref'), processorPaymentId: id, captureId, amountMinor: 10_000 }
  bank.break(/refund$/, 'drop_after')
  await unavailable(processor.refund(refund))
  bank.delayMs = 20
  const all = await Promise.all(Array.from({ length: 5 }, () => processor.refund(refund)))
  const changed = await processor.refund({ ...refund, amountMinor: 20_000 })
  for (const { refunds } of [...all, changed])
    assert.deepEqual(
      refunds.map(({ amountMinor, key }) => [amountMinor, key]),
      [[10_000, refund.key]],
    )
  assert.equal(bank.refunds.size, 1)
  const [request] = bank.requestsTo(/refund$/)
  assert.equal(request!.headers['x-refund-idempotency'], refund.key)
})

test('two simultaneous refunds with one key send the money back once', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  bank.delayMs = 20
  const refund = { key: newId('ref'), processorPaymentId: id, captureId, amountMinor: 10_000 }
  await Promise.all(Array.from({ length: 5 }, () => processor.refund(refund)))
  assert(bank.requestsTo(/refund$/).length > 1)
  assert.equal(bank.refunds.size, 1)
})

test('a refund that was refused is made once it can be, also when less is left by then', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  const refund = { key: newId('ref'), processorPaymentId: id, captureId, amountMinor: RUPEES }
  bank.refusesRefunds = true
  for (let i = 0; i < 2; i++) await assert.rejects(processor.refund(refund), { answered: true })
  bank.refusesRefunds = false
  const { id: byHand } = bank.refundInDashboard(captureId, { amount: 15_000 })
  const rest = { ...refund, amountMinor: RUPEES - 15_000 }
  bank.delayMs = 20
  await Promise.all(Array.from({ length: 3 }, () => processor.refund(rest)))
  const { refunds } = await processor.refund(rest)
  assert.deepEqual(
    new Map(refunds.map(({ key, amountMinor }) => [key, amountMinor])),
    new Map([
      [undefined, 15_000],
      [refund.key, RUPEES - 15_000],
    ]),
  )
  // the other one comes back, and the rest is requested once more: it was sent already
  bank.endRefund(byHand, 'failed')
  await processor.refund(refund)
  assert.equal(bank.refunds.size, 2)
  const keys = bank.requestsTo(/refund$/).map(({ headers }) => headers['x-refund-idempotency'])
  assert.deepEqual(new Set(keys), new Set([refund.key, `${refund.key}-${RUPEES - 15_000}`]))
})

test('a refund that is being made, or is not listed yet, does not count as refused', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  const refund = { key: newId('ref'), processorPaymentId: id, captureId, amountMinor: 10_000 }
  bank.break(/refund$/, 'in_progress')
  await assert.rejects(processor.refund(refund), { answered: false })
  bank.break(/refund$/, 'drop_after')
  await assert.rejects(processor.refund(refund), { answered: false })
  bank.listsLag = true
  await assert.rejects(processor.refund({ ...refund, amountMinor: 9_000 }), { answered: false })
  assert.equal(bank.refunds.size, 1)
})

test('a refund that was accepted, of a payment that cannot be read then, is reported as accepted', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  const refund = { key: newId('ref'), processorPaymentId: id, captureId, amountMinor: 10_000 }
  for (const fault of ['html_error', 'wrong_entity'] as const) {
    bank.break(READING.disputes, fault)
    await assert.rejects(processor.refund(refund), RefundTaken)
  }
  assert.equal((await processor.refund(refund)).refunds.length, 1)
})

test('a payment of a year ago is read in an account of many disputes, each page of them in a time of its own', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id, { createdAt: Math.floor(Date.now() / 1000) - 365 * 86_400 })
  const ours = bank.openDispute(captureId, { amount: 700, createdAt: Math.floor(Date.now() / 1000) - 300 * 86_400 })
  const { id: another } = bank.pay(await begin())
  for (let i = 0; i < 1_500; i++) bank.openDispute(another, { amount: 100 })
  const begun = t.mock.method(AbortSignal, 'timeout', (_ms: number) => new AbortController().signal)
  const { disputes } = await processor.fetchPayment(id)
  assert.deepEqual(
    disputes.map((one) => one.id),
    [ours.id],
  )
  const pages = bank.requestsTo(READING.disputes).length
  assert.equal(pages, 16)
  // the payment's own time, and one for each page
  assert.deepEqual(
    begun.mock.calls.map((call) => call.arguments[0]),
    Array(1 + pages).fill(8_000),
  )
})

test('partial refunds, over several payments and from the dashboard, are each reported once with their capture', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const first = bank.pay(id)
  const second = bank.pay(id, { evenIfPaid: true })
  const parts = [
    { captureId: first.id, amountMinor: 10_000, key: newId('ref') },
    { captureId: second.id, amountMinor: 49_900, key: newId('ref') },
    { captureId: first.id, amountMinor: 20_000, key: newId('ref') },
  ]
  for (const part of parts) await processor.refund({ processorPaymentId: id, ...part })
  bank.refundInDashboard(first.id, { amount: 5_000 })
  const { refunds, state, captures } = await processor.fetchPayment(id)
  assert.deepEqual(
    new Set(refunds.map(({ captureId, amountMinor, key }) => `${captureId} ${amountMinor} ${key}`)),
    new Set(
      [...parts, { captureId: first.id, amountMinor: 5_000, key: undefined }].map(
        (one) => `${one.captureId} ${one.amountMinor} ${one.key}`,
      ),
    ),
  )
  assert.deepEqual([state, captures.length], ['captured', 2])
  // more than there is: refused there, and nothing is sent
  const more = { key: newId('ref'), processorPaymentId: id, captureId: first.id, amountMinor: 14_901 }
  await unavailable(processor.refund(more))
  bank.refundInDashboard(first.id)
  // all of it went back by another hand: this refund was not made, and will not be
  await unavailable(processor.refund(more))
  assert.equal((await processor.fetchPayment(id)).refunds.length, 5)
  assert.equal(bank.refunds.size, 5)
})

test('a refund counts when it is processed; a failed one is reported as failed, and is not made again by itself', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  const refund = () => ({ key: newId('ref'), processorPaymentId: id, captureId, amountMinor: 1_000 })
  const told = async () => (await processor.fetchPayment(id)).refunds.map(({ key, state }) => [key, state])
  const first = refund()
  bank.refundsBecome = 'pending'
  for (let i = 0; i < 2; i++) {
    const { refunds, refundKeysUnderWay } = await processor.refund(first)
    assert.deepEqual([refunds, refundKeysUnderWay], [[], [first.key]])
  }
  bank.endRefund([...bank.refunds.keys()][0]!, 'failed')
  assert.deepEqual(await told(), [[first.key, 'failed']])
  assert.equal((await processor.fetchPayment(id)).refundKeysUnderWay, undefined)
  await processor.refund(first)
  assert.equal(bank.refunds.size, 1)
  const second = refund()
  bank.refundsBecome = 'failed'
  const { refunds } = await processor.refund(second)
  assert.equal(refunds.find(({ key }) => key === second.key)!.state, 'failed')
  const third = refund()
  bank.refundsBecome = 'processed'
  assert.deepEqual(await processor.refund(third), await processor.refund(third))
  assert.deepEqual(
    new Map((await told()).map(([key, state]) => [key, state])),
    new Map([
      [first.key, 'failed'],
      [second.key, 'failed'],
      [third.key, undefined],
    ]),
  )
})

test('disputes are open until they are won or lost, and an inquiry is none', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const { id: captureId } = bank.pay(id)
  const states = async () =>
    (await processor.fetchPayment(id)).disputes.map(({ amountMinor, state }) => [amountMinor, state])
  const other = await begin()
  bank.openDispute(bank.pay(other).id)
  for (const phase of ['fraud', 'retrieval']) {
    const question = bank.openDispute(captureId, { phase })
    assert.deepEqual(await states(), [])
    bank.moveDispute(question.id, 'closed')
    assert.deepEqual(await states(), [])
  }
  const first = bank.openDispute(captureId, { amount: 20_000 })
  for (const status of ['under_review', 'action_required', 'under_review'] as const) {
    assert.deepEqual(await states(), [[20_000, 'open']])
    bank.moveDispute(first.id, status)
  }
  bank.moveDispute(first.id, 'won')
  assert.deepEqual(await states(), [[20_000, 'won']])
  const again = bank.openDispute(captureId, { phase: 'pre_arbitration', deductAtOnset: true })
  assert.deepEqual(
    new Set(await states()),
    new Set([
      [RUPEES, 'open'],
      [20_000, 'won'],
    ]),
  )
  bank.moveDispute(again.id, 'lost')
  assert.deepEqual(
    new Set(await states()),
    new Set([
      [RUPEES, 'lost'],
      [20_000, 'won'],
    ]),
  )
  const lost = async () => (await processor.fetchPayment(id)).disputes.find((one) => one.id === again.id)
  assert.equal((await lost())!.lostMinor, RUPEES)
  again['amount_deducted'] = 600
  assert.equal((await lost())!.lostMinor, 600)
  for (const untold of [{ amount_deducted: 0 }, { amount_deducted: 600, currency: 'USD' }]) {
    Object.assign(again, untold)
    assert.equal((await lost())!.lostMinor, undefined)
  }
  const taken = bank.openDispute(captureId, { phase: 'fraud', deductAtOnset: true, amount: 300 })
  bank.moveDispute(taken.id, 'closed')
  assert((await states()).some(([amount, state]) => amount === 300 && state === 'lost'))
})

test('an open dispute has the last moment for an answer, as far as Razorpay names one, and an ended one has none', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const id = await begin()
  const dispute = bank.openDispute(bank.pay(id).id)
  const respondBy = async () => (await processor.fetchPayment(id)).disputes[0]!.respondBy
  for (const [named, moment] of [
    [1_893_456_000, '2030-01-01T00:00:00.000Z'],
    [1_893_459_600, '2030-01-01T01:00:00.000Z'],
    [null, undefined],
    [0, undefined],
    [undefined, undefined],
  ] as const) {
    dispute['respond_by'] = named
    assert.equal(await respondBy(), moment, String(named))
  }
  dispute['respond_by'] = 1_893_456_000
  for (const status of ['won', 'lost'] as const) {
    bank.moveDispute(dispute['id'], status)
    assert.equal(await respondBy(), undefined, status)
  }
})

test('an account that may not read disputes or cards can be paid all the same', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  bank.lacks.push('disputes', 'cards')
  const id = await begin()
  bank.openDispute(bank.pay(id, { cardType: 'debit' }).id)
  const { state, rail, captures, disputes } = await processor.fetchPayment(id)
  assert.deepEqual([state, rail, captures.length, disputes], ['captured', 'card', 1, []])
})

test('the rail is the used one, and a card is looked up when the response does not name it', async (t) => {
  const { bank, processor, begin } = await startRazorpay(t)
  const wanted = [
    ['card', 'credit', 'card'],
    ['card', 'prepaid', 'card'],
    ['card', 'unknown', 'card'],
    ['card', 'debit', 'debit'],
    ['emi', 'debit', 'debit'],
    ['upi', undefined, 'upi'],
    ['netbanking', undefined, 'bank_transfer'],
    ['wallet', undefined, 'wallet'],
  ]
  for (const showsCards of [false, true]) {
    bank.showsCards = showsCards
    for (const [method, cardType, rail] of wanted) {
      const id = await begin()
      bank.pay(id, { method, cardType })
      const snapshot = await processor.fetchPayment(id)
      assert.deepEqual([snapshot.rail, snapshot.captures[0]!.rail], [rail, rail])
    }
  }
  assert.equal(bank.requestsTo(/^GET \/v1\/payments\/pay_\w+$/).length, 5)
})

/** The events that can happen to an order there, and our calls meanwhile. Impossible ones are skipped. */
const STEPS = [
  'pay',
  'pay again',
  'fail',
  'authorize',
  'authorize late',
  'refund',
  'refund in dashboard',
  'refund slowly',
  'end refund',
  'question',
  'dispute',
  'win',
  'lose',
] as const

const REFUND_AFTER_A_FAILED_ONE: [(typeof STEPS)[number], number][] = [
  ['pay', 0],
  ['refund in dashboard', 150],
  ['refund slowly', 138],
  ['refund in dashboard', 30],
  ['end refund', 0],
  ['refund in dashboard', 382],
]

test('whatever happens, in whatever order: captures, refunds and disputes only grow, and no more goes back than came', async (t) => {
  const keys = [newId('ref'), newId('ref'), newId('ref')]
  const step = async (
    { bank, processor }: Awaited<ReturnType<typeof startRazorpay>>,
    id: string,
    [what, number]: [(typeof STEPS)[number], number],
  ): Promise<void> => {
    const mine = [...bank.payments.values()].filter((one) => one.order_id === id)
    const captured = mine.filter((one) => one.status === 'captured')[number % 2]
    const disputes = [...bank.disputes.values()].filter((one) => mine.some((payment) => payment.id === one.payment_id))
    const disputed = disputes.find((one) => one.status === 'open')
    const isPaid = bank.orders.get(id)!.status === 'paid'
    const amount = 100 * (1 + (number % 200))
    const fits = captured && captured.amount - captured.amount_refunded >= amount
    if (what === 'pay' && !isPaid) bank.pay(id)
    if (what === 'pay again') bank.pay(id, { evenIfPaid: true, method: 'upi' })
    if (what === 'fail' && !isPaid) bank.pay(id, { outcome: 'failed' })
    if (what === 'authorize') bank.pay(id, { outcome: 'authorized', evenIfPaid: true })
    const failed = mine.find((one) => one.status === 'failed')
    if (what === 'authorize late' && failed) bank.authorize(failed.id, { capture: number % 2 === 0 })
    if (what === 'refund' && fits) {
      const key = `${keys[number % 3]}${captured.id.slice(-6)}`
      await processor.refund({ key, processorPaymentId: id, captureId: captured.id, amountMinor: amount })
    }
    if (what === 'refund in dashboard' && fits) bank.refundInDashboard(captured.id, { amount })
    if (what === 'refund slowly' && fits) bank.refundInDashboard(captured.id, { amount, status: 'pending' })
    const pending = [...bank.refunds.values()].find((one) => one.status === 'pending')
    if (what === 'end refund' && pending) bank.endRefund(pending.id, number % 2 ? 'processed' : 'failed')
    if (what === 'question' && captured) bank.openDispute(captured.id, { phase: 'retrieval' })
    if (what === 'dispute' && captured) bank.openDispute(captured.id, { amount, deductAtOnset: number % 2 === 0 })
    if (what === 'win' && disputed) bank.moveDispute(disputed.id, 'won')
    if (what === 'lose' && disputed) bank.moveDispute(disputed.id, 'lost')
  }
  const steps = fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.nat(999)), { minLength: 4, maxLength: 14 })
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const started = await startRazorpay(t)
      const { processor } = started
      const id = await started.begin()
      let before = await processor.fetchPayment(id)
      for (const one of history) {
        await step(started, id, one)
        const now = await processor.fetchPayment(id)
        for (const kind of ['captures', 'refunds'] as const)
          for (const fact of before[kind])
            assert.deepEqual(
              now[kind].find((one) => one.id === fact.id),
              fact,
            )
        for (const fact of before.disputes) {
          const found = now.disputes.find((one) => one.id === fact.id)
          const { state, lostMinor } = fact.state === 'open' ? found! : fact
          // an ended dispute has no deadline any more
          const { respondBy } = fact
          assert.deepEqual({ lostMinor, ...found, respondBy }, { lostMinor, ...fact, respondBy, state })
        }
        assert(now.captures.length === 0 || now.state === 'captured')
        for (const capture of now.captures) {
          const back = now.refunds.filter((one) => one.captureId === capture.id && one.state !== 'failed')
          assert(back.reduce((sum, one) => sum + one.amountMinor, 0) <= capture.amountMinor)
        }
        const keyed = now.refunds.flatMap((one) => one.key ?? [])
        assert.equal(new Set(keyed).size, keyed.length)
        before = now
      }
    }),
    { numRuns: 40, examples: [[REFUND_AFTER_A_FAILED_ONE]] },
  )
})
