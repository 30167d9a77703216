import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ProcessorUnavailable } from '../refusals.ts'
import type { Charge, Dispute, PaymentIntent, Refund } from './entities.ts'
import { type PaymentObjects, snapshotOf } from './snapshot.ts'

const intent = (differently: Partial<PaymentIntent> = {}): PaymentIntent => ({
  id: 'pi_1',
  object: 'payment_intent',
  amount: 1900,
  currency: 'usd',
  status: 'succeeded',
  livemode: false,
  metadata: { order_id: 'ord_1' },
  latest_charge: 'ch_1',
  client_secret: null,
  ...differently,
})
const charge = (differently: Partial<Charge> = {}): Charge => ({
  id: 'ch_1',
  object: 'charge',
  amount_captured: 1900,
  amount_refunded: 0,
  currency: 'usd',
  status: 'succeeded',
  captured: true,
  disputed: false,
  created: 1_800_000_000,
  payment_intent: 'pi_1',
  payment_method_details: { type: 'card', card: { funding: 'credit', wallet: null } },
  ...differently,
})
const refund = (differently: Partial<Refund> = {}): Refund => ({
  id: 're_1',
  object: 'refund',
  amount: 700,
  currency: 'usd',
  charge: 'ch_1',
  payment_intent: 'pi_1',
  status: 'succeeded',
  metadata: {},
  created: 1_800_000_100,
  ...differently,
})
const dispute = (differently: Partial<Dispute> = {}): Dispute => ({
  id: 'du_1',
  object: 'dispute',
  amount: 1900,
  currency: 'usd',
  charge: 'ch_1',
  payment_intent: 'pi_1',
  status: 'needs_response',
  created: 1_800_000_200,
  ...differently,
})
const objects = (differently: Partial<PaymentObjects> = {}): PaymentObjects => ({
  intent: intent(),
  charges: [charge()],
  refunds: [],
  disputes: [],
  ...differently,
})

test('the snapshot of a payment uses our terms', () => {
  assert.deepEqual(
    snapshotOf(
      objects({
        charges: [charge(), charge({ id: 'ch_0', status: 'failed', captured: false, amount_captured: 0 })],
        refunds: [refund({ metadata: { refund_id: 'ref_1' } })],
        disputes: [dispute()],
      }),
    ),
    {
      processorPaymentId: 'pi_1',
      orderId: 'ord_1',
      state: 'captured',
      declines: 1,
      captures: [
        { id: 'ch_1', amountMinor: 1900, currency: 'USD', rail: 'card', capturedAt: '2027-01-15T08:00:00.000Z' },
      ],
      refunds: [{ id: 're_1', captureId: 'ch_1', amountMinor: 700, key: 'ref_1' }],
      disputes: [{ id: 'du_1', captureId: 'ch_1', amountMinor: 1900, state: 'open' }],
    },
  )
})

test('each state of an intent maps to one of ours, and reserved money is not paid', () => {
  const states = {
    requires_payment_method: 'open',
    requires_confirmation: 'open',
    requires_action: 'open',
    requires_capture: 'open',
    processing: 'processing',
    canceled: 'canceled',
  } as const
  for (const [status, state] of Object.entries(states) as [keyof typeof states, string][]) {
    const reserved = charge({ captured: false, amount_captured: 0 })
    const told = snapshotOf(objects({ intent: intent({ status }), charges: [reserved] }))
    assert.deepEqual([told.state, told.captures], [state, []])
  }
})

test('a payment that was read while it changed is never captured without a charge', () => {
  for (const charges of [[], [charge({ status: 'pending', captured: false })], [charge({ captured: false })]])
    assert.throws(() => snapshotOf(objects({ charges })), ProcessorUnavailable)
})

test('the captured amount counts, also when it is less than the requested one', () => {
  assert.equal(snapshotOf(objects({ charges: [charge({ amount_captured: 1899 })] })).captures[0]!.amountMinor, 1899)
})

test('a lost dispute took the amount that did not come back to the balance, in every currency', () => {
  const lost = (moved: number[] | null | undefined, more: Partial<Dispute> = {}) => {
    const balance = moved?.map((amount) => ({ amount }))
    const one = dispute({
      status: 'lost',
      ...more,
      ...(moved !== undefined && { balance_transactions: balance ?? null }),
    })
    return snapshotOf(objects({ disputes: [one] })).disputes[0]!.lostMinor
  }
  assert.equal(lost([-1900, 700]), 1200)
  assert.equal(lost([-1900, 1900]), 0)
  assert.equal(lost([-1710, 630]), 1200, 'a balance in euros')
  assert.equal(lost([-1710, 1711]), 0, 'and their price has moved')
  // money can come back later, and then the loss is smaller
  assert.equal(lost([-1900]), 1900)
  assert.equal(lost([-1710]), 1900)
  for (const moved of [[], null, undefined]) assert.equal(lost(moved), undefined)
  for (const status of ['won', 'under_review']) assert.equal(lost([-1900, 1900], { status }), undefined)
})

test('a refund or dispute of a charge that captured nothing is left out', () => {
  const told = snapshotOf(
    objects({
      refunds: [refund({ charge: 'ch_9' }), refund({ charge: null })],
      disputes: [dispute({ charge: 'ch_9' })],
    }),
  )
  assert.deepEqual([told.refunds, told.disputes], [[], []])
})

test('a payment that belongs to no order of ours names none', () => {
  assert.equal('orderId' in snapshotOf(objects({ intent: intent({ metadata: {} }) })), false)
})

test('the objects in any order give the same snapshot, and none of them is changed', () => {
  const charges = ['ch_1', 'ch_2', 'ch_3', 'py_4'].map((id, at) =>
    charge({ id, created: 1_800_000_000 + (at % 2), status: at === 0 ? 'succeeded' : 'failed', captured: at === 0 }),
  )
  const refunds = ['re_1', 're_2', 're_3'].map((id, at) =>
    refund({ id, status: ['succeeded', 'failed', 'pending'][at]! }),
  )
  const disputes = ['du_1', 'du_2'].map((id) => dispute({ id }))
  const expected = snapshotOf(objects({ charges, refunds, disputes }))
  fc.assert(
    fc.property(
      fc.shuffledSubarray(charges, { minLength: 4 }),
      fc.shuffledSubarray(refunds, { minLength: 3 }),
      fc.shuffledSubarray(disputes, { minLength: 2 }),
      (...[some, back, disputed]) => {
        const given = objects({ charges: some, refunds: back, disputes: disputed })
        const before = structuredClone(given)
        assert.deepEqual(snapshotOf(given), expected)
        assert.deepEqual(given, before)
      },
    ),
  )
})
