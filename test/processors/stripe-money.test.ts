import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rail } from '../../src/processors/rails.ts'
import type { PaymentSnapshot } from '../../src/processors/processor.ts'
import { AmountNotTaken, RefundTaken } from '../../src/processors/refusals.ts'
import { next, payment, setUp, unavailable } from '../support/stripe-setup.ts'

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString()

// ── amounts

test('every currency is charged in Stripe’s own units, and reported in ours', async (t) => {
  const { bank, stripe } = await setUp(t)
  const amounts: [currency: string, amountMinor: number, charged: number][] = [
    ['USD', 1900, 1900],
    ['INR', 49_900, 49_900],
    ['JPY', 500, 500],
    ['KRW', 15_000, 15_000],
    ['CLP', 990, 990],
    ['XOF', 1000, 1000],
    ['VND', 99_000, 99_000],
    ['ISK', 5, 500],
    ['UGX', 5000, 500_000],
    ['HUF', 199_045, 199_045],
    ['TWD', 80_045, 80_045],
    ['MGA', 500_000, 5000],
    ['KWD', 5120, 5120],
    ['BHD', 10, 10],
    ['TND', 1_000_000, 1_000_000],
    ['USD', 99_999_999, 99_999_999],
    ['INR', 999_999_999, 999_999_999],
    ['USD', 50, 50],
  ]
  for (const [currency, amountMinor, charged] of amounts) {
    const { processorPaymentId } = await stripe.startPayment(payment({ currency, amountMinor }))
    const intent = bank.paymentIntents.at(-1)!
    assert.deepEqual([intent['amount'], intent['currency']], [charged, currency.toLowerCase()])
    bank.confirm(processorPaymentId)
    const { captures } = await stripe.fetchPayment(processorPaymentId)
    assert.deepEqual([captures[0]!.amountMinor, captures[0]!.currency], [amountMinor, currency])
    const captureId = captures[0]!.id
    const { refunds } = await stripe.refund({ key: `ref_${next()}`, processorPaymentId, captureId, amountMinor })
    assert.deepEqual([refunds[0]!.amountMinor, refunds[0]!.captureId], [amountMinor, captureId])
  }
})

test('an amount that Stripe cannot represent is refused without a request', async (t) => {
  const { server, stripe, paid } = await setUp(t)
  const refused: [currency: string, amountMinor: number][] = [
    ['USD', 0],
    ['USD', -1900],
    ['USD', 19.5],
    ['USD', Number.NaN],
    ['KWD', 5124],
    ['TND', 1],
    ['MGA', 500_050],
    ['IQD', 100_000],
    ['CUP', 10_000],
    ['usd', 1900],
  ]
  for (const [currency, amountMinor] of refused)
    await assert.rejects(
      stripe.startPayment(payment({ currency, amountMinor })),
      AmountNotTaken,
      `${amountMinor} ${currency}`,
    )
  assert.equal(server.calls.length, 0)
  const { id, captureId } = await paid({ currency: 'KWD', amountMinor: 5120 })
  await assert.rejects(
    stripe.refund({ key: 'ref_1', processorPaymentId: id, captureId, amountMinor: 1001 }),
    AmountNotTaken,
  )
  for (const currency of ['IQD', 'CUP', 'XAU', 'usd', '']) assert.deepEqual(stripe.rails(currency), [])
})

test('an amount that is too small or too large for Stripe is refused by Stripe, and nothing is begun', async (t) => {
  const { server, bank, stripe } = await setUp(t)
  const refused: [currency: string, amountMinor: number][] = [
    ['USD', 49],
    ['GBP', 29],
    ['JPY', 49],
    ['HUF', 17_499],
    ['SEK', 299],
    ['USD', 100_000_000],
    ['INR', 1_000_000_000],
    ['ISK', 1_000_000],
  ]
  for (const [currency, amountMinor] of refused) {
    server.calls.splice(0)
    await assert.rejects(
      stripe.startPayment(payment({ currency, amountMinor })),
      AmountNotTaken,
      `${amountMinor} ${currency}`,
    )
    assert.equal(server.calls.length, 1)
  }
  assert.deepEqual(bank.paymentIntents, [])
})

// ── how a payment stands

test('a payment without a try takes one request', async (t) => {
  const { server, stripe, start } = await setUp(t)
  const id = await start()
  const orderId = server.bank.paymentIntents[0]!['metadata'].order_id
  server.calls.splice(0)
  assert.deepEqual(await stripe.fetchPayment(id), {
    processorPaymentId: id,
    orderId,
    state: 'open',
    declines: 0,
    captures: [],
    refunds: [],
    disputes: [],
  })
  assert.equal(server.calls.length, 1)
})

test('tries that were declined are counted, over as many pages as they fill, and a later success is a success', async (t) => {
  const { server, bank, stripe, start } = await setUp(t)
  const id = await start()
  for (let i = 0; i < 23; i++) bank.confirm(id, { outcome: 'decline' })
  server.knobs.pageSize = 5
  const declined = await stripe.fetchPayment(id)
  assert.deepEqual([declined.state, declined.declines, declined.captures], ['open', 23, []])
  bank.confirm(id, { outcome: 'requires_action' })
  assert.equal((await stripe.fetchPayment(id)).state, 'open')
  bank.confirm(id)
  const paid = await stripe.fetchPayment(id)
  assert.deepEqual([paid.state, paid.declines, paid.captures.length], ['captured', 23, 1])
})

test('a bank that takes its days is processing, by its rail, and then either paid or open again', async (t) => {
  const { bank, stripe, start } = await setUp(t)
  for (const [method, rail] of [
    ['sepa_debit', 'debit'],
    ['us_bank_account', 'debit'],
    ['multibanco', 'bank_transfer'],
    ['upi', 'upi'],
  ] as const) {
    const id = await start()
    bank.confirm(id, { method, outcome: 'processing' })
    const waiting = await stripe.fetchPayment(id)
    assert.deepEqual([waiting.state, waiting.rail, waiting.captures], ['processing', rail, []])
    bank.finish(id, 'fail')
    const failed = await stripe.fetchPayment(id)
    assert.deepEqual([failed.state, failed.declines, failed.rail], ['open', 1, undefined])
    bank.confirm(id, { method, outcome: 'processing' })
    bank.finish(id, 'succeed')
    const paid = await stripe.fetchPayment(id)
    assert.deepEqual([paid.state, paid.captures[0]!.rail], ['captured', rail])
    assert.match(paid.captures[0]!.id, /^py_/)
  }
})

test('the rail is the one that Stripe reports', async (t) => {
  const { bank, stripe, start } = await setUp(t)
  const used: Record<string, Rail> = {
    card: 'card',
    debit_card: 'debit',
    apple_pay: 'apple_pay',
    google_pay: 'google_pay',
    amex_express_checkout: 'wallet',
    link: 'wallet',
    paypal: 'wallet',
    ideal: 'bank_transfer',
    sepa_debit: 'debit',
    something_new: 'wallet',
    new_bank_transfer: 'bank_transfer',
    new_debit: 'debit',
  }
  for (const [method, rail] of Object.entries(used)) {
    const id = await start()
    bank.confirm(id, { method })
    assert.equal((await stripe.fetchPayment(id)).captures[0]!.rail, rail, method)
  }
})

test('a canceled payment cannot be paid, a paid one stays paid, and the bank’s work continues', async (t) => {
  const { bank, stripe, start, paid } = await setUp(t)
  const open = await start()
  assert.equal((await stripe.cancelPayment(open)).state, 'canceled')
  assert.equal((await stripe.cancelPayment(open)).state, 'canceled')
  assert.throws(() => bank.confirm(open))
  const { id } = await paid()
  const still = await stripe.cancelPayment(id)
  assert.deepEqual([still.state, still.captures.length], ['captured', 1])
  const slow = await start()
  bank.confirm(slow, { method: 'sepa_debit', outcome: 'processing' })
  assert.equal((await stripe.cancelPayment(slow)).state, 'processing')
})

// ── refunds

test('the same key refunds once: at once, again, in parallel, after a lost answer, and when Stripe has forgotten the key', async (t) => {
  const { server, bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const wanted = { key: 'ref_once', processorPaymentId: id, captureId, amountMinor: 700 }
  server.fail('done then drop', { times: 2, match: ({ path }) => path === '/v1/refunds' })
  const all = await Promise.allSettled(Array.from({ length: 5 }, () => stripe.refund(wanted)))
  assert(all.some(({ status }) => status === 'fulfilled'))
  server.works()
  const expected = [{ id: bank.refunds[0]!['id'], captureId, amountMinor: 700, key: 'ref_once' }]
  assert.deepEqual((await stripe.refund(wanted)).refunds, expected)
  server.forgetKeys()
  assert.deepEqual((await stripe.refund(wanted)).refunds, expected)
  assert.equal(bank.refunds.length, 1)
})

test('parts of a payment are refunded with a key each, to the last cent and not beyond', async (t) => {
  const { bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const back = (key: string, amountMinor: number) =>
    stripe.refund({ key, processorPaymentId: id, captureId, amountMinor })
  await back('ref_a', 700)
  await assert.rejects(back('ref_b', 1201), unavailable)
  const { refunds } = await back('ref_c', 1200)
  assert.deepEqual(refunds.map(({ key, amountMinor }) => [key, amountMinor]).sort(), [
    ['ref_a', 700],
    ['ref_c', 1200],
  ])
  await assert.rejects(back('ref_d', 1), unavailable)
  await assert.rejects(
    stripe.refund({ key: 'ref_e', processorPaymentId: id, captureId: 'ch_other', amountMinor: 1 }),
    unavailable,
  )
  assert.equal(bank.refunds.length, 2)
})

test('a refund that Stripe refused, and remembers so, is made once it can be', async (t) => {
  const { bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const wanted = { key: 'ref_late', processorPaymentId: id, captureId, amountMinor: 1900 }
  bank.refusesRefunds = true
  await assert.rejects(stripe.refund(wanted), unavailable)
  bank.refusesRefunds = false
  assert.deepEqual(
    (await stripe.refund(wanted)).refunds.map(({ key, amountMinor }) => [key, amountMinor]),
    [['ref_late', 1900]],
  )
  await stripe.refund(wanted)
  assert.equal(bank.refunds.length, 1)
})

test('a refund that a restricted key may not make is refused for certain, and is made once it may', async (t) => {
  const { server, bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const wanted = { key: 'ref_restricted', processorPaymentId: id, captureId, amountMinor: 1900 }
  server.knobs.forbidden = ['POST /v1/refunds']
  await assert.rejects(stripe.refund(wanted), { answered: true })
  server.knobs.forbidden = []
  await stripe.refund(wanted)
  assert.equal(bank.refunds.length, 1)
})

test('a key that was used for another amount refunds once, by whichever of them arrived', async (t) => {
  const { bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const wanted = { key: 'ref_two', processorPaymentId: id, captureId, amountMinor: 1900 }
  bank.refusesRefunds = true
  await assert.rejects(stripe.refund(wanted), unavailable)
  bank.refusesRefunds = false
  bank.refundInDashboard(id, 500)
  assert.deepEqual(
    (await stripe.refund({ ...wanted, amountMinor: 1400 })).refunds
      .map(({ key, amountMinor }) => [key, amountMinor])
      .sort(),
    [
      [undefined, 500],
      ['ref_two', 1400],
    ],
  )
  await stripe.refund({ ...wanted, amountMinor: 1 })
  assert.equal(bank.refunds.length, 2)
})

test('a refund at which Stripe failed is not made a second time', async (t) => {
  const { server, bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const wanted = { key: 'ref_500', processorPaymentId: id, captureId, amountMinor: 1900 }
  server.fail('500', { match: ({ method }) => method === 'POST' })
  await assert.rejects(stripe.refund(wanted), unavailable)
  await assert.rejects(stripe.refund(wanted), unavailable)
  server.forgetKeys()
  assert.equal((await stripe.refund(wanted)).refunds.length, 1)
  assert.equal(bank.refunds.length, 1)
})

test('a refund made in the dashboard is seen, and has no key of ours', async (t) => {
  const { server, bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  for (let i = 0; i < 12; i++) bank.refundInDashboard(id, 100)
  server.knobs.pageSize = 5
  const { refunds } = await stripe.fetchPayment(id)
  assert.equal(refunds.length, 12)
  for (const refund of refunds) assert.deepEqual(refund, { id: refund.id, captureId, amountMinor: 100 })
})

test('a refund counts when it has arrived, not while it waits; one that fails later is reported as failed', async (t) => {
  const { server, bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  for (const begins of ['pending', 'requires_action'] as const) {
    bank.refundsBegin = begins
    const key = `ref_${begins}`
    const asked = await stripe.refund({ key, processorPaymentId: id, captureId, amountMinor: 300 })
    assert.deepEqual(
      asked.refunds.filter((one) => one.key === key),
      [],
    )
    assert.deepEqual(asked.refundKeysUnderWay, [key])
    bank.settleRefund(bank.refunds.at(-1)!['id'])
    const arrived = await stripe.fetchPayment(id)
    assert.equal(arrived.refunds.filter((one) => one.key === key).length, 1)
    assert.equal(arrived.refundKeysUnderWay, undefined)
  }
  bank.refundsBegin = 'succeeded'
  bank.refundInDashboard(id, 500)
  bank.failRefund(bank.refunds.at(-1)!['id'])
  const states = async () => (await stripe.fetchPayment(id)).refunds.map(({ state }) => state ?? 'done').sort()
  assert.deepEqual(await states(), ['done', 'done', 'failed'])
  bank.failRefund(bank.refunds[0]!['id'])
  bank.failRefund(bank.refunds[1]!['id'])
  assert.deepEqual(await states(), ['failed', 'failed', 'failed'], 'also where nothing of the charge is back any more')
  // a failed one is not made again by itself
  const count = bank.refunds.length
  server.forgetKeys()
  await stripe.refund({ key: 'ref_pending', processorPaymentId: id, captureId, amountMinor: 300 })
  assert.equal(bank.refunds.length, count)
})

test('a refund that was accepted, of a payment that cannot be read then, is reported as accepted', async (t) => {
  const { server, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const wanted = { key: 'ref_taken', processorPaymentId: id, captureId, amountMinor: 700 }
  let sent = false
  server.fail('503 html', { match: ({ method }) => sent || ((sent = method === 'POST'), false) })
  await assert.rejects(stripe.refund(wanted), RefundTaken)
  assert.equal((await stripe.refund(wanted)).refunds.length, 1)
})

test('invalid responses to a refund do not count as one', async (t) => {
  const { server, stripe, paid } = await setUp(t)
  for (const change of [
    { amount: 1 },
    { currency: 'eur' },
    { charge: 'ch_x' },
    { metadata: {} },
    { object: 'charge' },
    { id: 'x' },
  ]) {
    const { id, captureId } = await paid()
    const wanted = { key: `ref_${next()}`, processorPaymentId: id, captureId, amountMinor: 700 }
    server.fail({ answer: (body) => ({ ...body, ...change }) }, { match: ({ method }) => method === 'POST' })
    await assert.rejects(stripe.refund(wanted), unavailable, JSON.stringify(change))
    assert.equal((await stripe.refund(wanted)).refunds.length, 1)
  }
})

// ── disputes

test('a dispute is open, won or lost; an inquiry and a prevented one are none', async (t) => {
  const { bank, stripe, paid } = await setUp(t)
  const states: Record<string, PaymentSnapshot['disputes'][number]['state'] | undefined> = {
    needs_response: 'open',
    under_review: 'open',
    appeal_needs_response: 'open',
    appeal_under_review: 'open',
    something_new: 'open',
    won: 'won',
    lost: 'lost',
    warning_needs_response: undefined,
    warning_under_review: undefined,
    warning_closed: undefined,
    prevented: undefined,
  }
  for (const [status, state] of Object.entries(states)) {
    const { id, captureId } = await paid()
    const dispute = bank.openDispute(id, { status })
    const { disputes } = await stripe.fetchPayment(id)
    const lost = state === 'lost' && { lostMinor: 1900 }
    const until = state === 'open' && { respondBy: timeOf(dispute['evidence_details'].due_by) }
    assert.deepEqual(
      disputes,
      state ? [{ id: dispute['id'], captureId, amountMinor: 1900, state, ...lost, ...until }] : [],
      status,
    )
  }
})

test('a prevented dispute that took money is lost, and a dispute of a direct debit has its own form of id', async (t) => {
  const { bank, stripe, paid } = await setUp(t)
  const { id, captureId } = await paid()
  const dispute = bank.openDispute(id)
  dispute['id'] = 'pdp_1a2B3c'
  const disputes = async () =>
    (await stripe.fetchPayment(id)).disputes.map(({ id: of, captureId: at, state, lostMinor }) => [
      of,
      at,
      state,
      lostMinor,
    ])
  assert.deepEqual(await disputes(), [['pdp_1a2B3c', captureId, 'open', undefined]])
  // resolved for money at once
  dispute['status'] = 'prevented'
  assert.deepEqual(await disputes(), [['pdp_1a2B3c', captureId, 'lost', 1900]])
  // the money came back, because a refund had given it already
  dispute['balance_transactions'].push({ ...dispute['balance_transactions'][0], amount: 1900 })
  assert.deepEqual(await disputes(), [['pdp_1a2B3c', captureId, 'lost', 0]])
})

test('an open dispute has the last moment for an answer, as far as Stripe names one, and a closed one has none', async (t) => {
  const { bank, stripe, paid } = await setUp(t)
  const { id } = await paid()
  const dispute = bank.openDispute(id, { dueBy: 1_893_456_000 })
  const respondBy = async () => (await stripe.fetchPayment(id)).disputes[0]!.respondBy
  assert.equal(await respondBy(), '2030-01-01T00:00:00.000Z')
  dispute['evidence_details'].due_by = 1_893_459_600
  assert.equal(await respondBy(), '2030-01-01T01:00:00.000Z', 'the bank gives more time')
  for (const none of [{ due_by: null }, { due_by: 0 }, {}, null, undefined]) {
    dispute['evidence_details'] = none
    assert.equal(await respondBy(), undefined, JSON.stringify(none))
  }
  dispute['evidence_details'] = { due_by: 1_893_459_600 }
  for (const status of ['won', 'lost'] as const) {
    bank.closeDispute(dispute['id'], status)
    assert.equal(await respondBy(), undefined, status)
  }
})

test('an inquiry can become a dispute, and a dispute is never about more than was paid', async (t) => {
  const { bank, stripe, paid } = await setUp(t)
  const { id } = await paid()
  const dispute = bank.openDispute(id, { status: 'warning_needs_response', amount: 1950 })
  assert.deepEqual((await stripe.fetchPayment(id)).disputes, [])
  bank.moveDispute(dispute['id'], 'needs_response')
  assert.deepEqual(
    (await stripe.fetchPayment(id)).disputes.map(({ state, amountMinor }) => [state, amountMinor]),
    [['open', 1900]],
  )
  bank.closeDispute(dispute['id'], 'won')
  assert.equal((await stripe.fetchPayment(id)).disputes[0]!.state, 'won')
  const second = bank.openDispute(id, { amount: 800 })
  bank.closeDispute(second['id'], 'lost')
  const foreign = bank.openDispute(id, { amount: 1700, currency: 'eur' })
  assert.deepEqual(
    (await stripe.fetchPayment(id)).disputes.map(({ id, state, amountMinor }) => [id, state, amountMinor]).sort(),
    [
      [dispute['id'], 'won', 1900],
      [second['id'], 'lost', 800],
      [foreign['id'], 'open', 1900],
    ].sort(),
  )
})
