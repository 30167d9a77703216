import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decide } from '../../src/payments/settle/decide.ts'
import type { PaymentRecord } from '../../src/payments/settle/payment-record.ts'
import type { Dispute, Order, Payment, Refund } from '../../src/processors/razorpay/entities.ts'
import { railOf } from '../../src/processors/razorpay/rails.ts'
import { type Found, snapshotOf } from '../../src/processors/razorpay/snapshot.ts'
import { FEES, type Transfer, processorAccount, sellerAccount } from '../../src/ledger/transfers.ts'
import { balanceOf } from '../support/payment-histories.ts'

const order: Order = {
  id: 'order_1',
  entity: 'order',
  amount: 49_900,
  amount_paid: 0,
  currency: 'INR',
  receipt: 'pay_1',
  notes: { order_id: 'ord_1' },
  created_at: 1_700_000_000,
}

const payments: fc.Arbitrary<Payment[]> = fc
  .array(
    fc.record({
      status: fc.constantFrom('created', 'authorized', 'captured', 'refunded', 'failed', 'pending', 'of_next_year'),
      captured: fc.boolean(),
      method: fc.constantFrom('card', 'upi', 'netbanking', 'wallet', 'emi', 'paylater'),
      amount: fc.constantFrom(49_900, 49_899),
      created_at: fc.integer({ min: 1_700_000_000, max: 1_700_000_009 }),
    }),
    { maxLength: 4 },
  )
  .map((all) =>
    all.map((one, i) => ({
      ...one,
      id: `pay_${i}`,
      entity: 'payment' as const,
      order_id: order.id,
      amount_refunded: 0,
      currency: 'INR',
    })),
  )
const of = <T, Entity extends string>(entity: Entity, fields: fc.Arbitrary<T>, prefix: string) =>
  fc.array(fc.tuple(fields, fc.nat(4)), { maxLength: 4 }).map((all) =>
    all.map(([one, payment], i) => ({
      ...one,
      id: `${prefix}_${i}`,
      entity,
      payment_id: `pay_${payment}`,
      currency: 'INR',
      created_at: 1_700_000_010,
    })),
  )
const refunds: fc.Arbitrary<Refund[]> = of(
  'refund',
  fc.record({
    amount: fc.integer({ min: 100, max: 900 }),
    status: fc.constantFrom('pending', 'processed', 'failed'),
    receipt: fc.constantFrom(undefined, null, '', 5, 'ref_1', 'ref_2'),
  }),
  'rfnd',
)
const disputes: fc.Arbitrary<Dispute[]> = of(
  'dispute',
  fc.record({
    amount: fc.integer({ min: 100, max: 900 }),
    amount_deducted: fc.constantFrom(undefined, null, 0, 500),
    status: fc.constantFrom('open', 'under_review', 'action_required', 'won', 'lost', 'closed'),
    phase: fc.constantFrom('fraud', 'retrieval', 'chargeback', 'pre_arbitration', 'arbitration'),
  }),
  'disp',
)
const found: fc.Arbitrary<Found> = fc.record({ order: fc.constant(order), payments, refunds, disputes })

const newRecord = (): PaymentRecord => ({
  orderId: 'ord_1',
  sellerId: 'sel_1',
  state: 'pending',
  amountMinor: 49_900,
  currency: 'INR',
  feeMinor: 998,
  taxMinor: 0,
  refundedMinor: 0,
  paymentId: 'pay_row',
  processor: 'razorpay',
  processorPaymentId: 'order_1',
  paymentState: 'open',
  declines: 0,
  captures: [],
  refunds: [],
  disputes: [],
})

test('every snapshot is consistent: a refund or a dispute always has a capture, and a capture makes it captured', () => {
  fc.assert(
    fc.property(found, (one) => {
      const snapshot = snapshotOf(one)
      const captures = new Set(snapshot.captures.map(({ id }) => id))
      for (const { captureId } of [...snapshot.refunds, ...snapshot.disputes]) assert(captures.has(captureId))
      assert.equal(snapshot.state === 'captured', captures.size > 0)
      decide(newRecord(), snapshot)
    }),
    { numRuns: 1000 },
  )
})

test('a lost dispute that took nothing counts if everything was refunded, and is otherwise not reported yet', () => {
  const common = { payment_id: 'pay_0', currency: 'INR', created_at: 1_700_000_010 }
  const payment: Payment = {
    id: 'pay_0',
    entity: 'payment',
    order_id: order.id,
    amount: 49_900,
    amount_refunded: 0,
    currency: 'INR',
    status: 'captured',
    captured: true,
    method: 'upi',
    created_at: 1_700_000_000,
  }
  const dispute = { ...common, id: 'disp_0', entity: 'dispute', amount: 49_900, phase: 'chargeback' } as const
  const lost = (amount: number, deducted: number) =>
    snapshotOf({
      order,
      payments: [payment],
      refunds: [{ ...common, id: 'rfnd_0', entity: 'refund', amount, status: 'processed' }],
      disputes: [{ ...dispute, amount_deducted: deducted, status: 'lost' }],
    }).disputes[0]!.lostMinor
  assert.deepEqual(
    [lost(49_900, 0), lost(49_900, 49_900), lost(900, 0), lost(900, 49_000)],
    [0, 49_900, undefined, 49_000],
  )
})

const PAID: Payment = {
  id: 'pay_0',
  entity: 'payment',
  order_id: order.id,
  amount: 49_900,
  currency: 'INR',
  status: 'captured',
  captured: true,
  method: 'upi',
  created_at: 1_700_000_000,
}
const disputed = (amount: number, more: Partial<Dispute> = {}): Dispute => ({
  id: 'disp_0',
  entity: 'dispute',
  payment_id: PAID.id,
  currency: 'INR',
  amount,
  amount_deducted: 0,
  status: 'open',
  phase: 'chargeback',
  created_at: 1_700_000_100,
  ...more,
})
const refunded = (amount: number, more: Partial<Refund> = {}): Refund => ({
  id: 'rfnd_0',
  entity: 'refund',
  payment_id: PAID.id,
  amount,
  currency: 'INR',
  status: 'processed',
  receipt: null,
  created_at: 1_700_000_200,
  ...more,
})

test('a refund that Razorpay makes for a lost dispute and the loss are the same money, in any order of news and repeated', () => {
  const news = ['open', 'open with refund', 'lost', 'not deducted', 'not deducted with refund', 'lost with refund'] as const // oxfmt-ignore
  const inOrder = [
    ['open', 'open with refund', 'lost with refund'],
    ['open', 'lost', 'lost with refund', 'open', 'open with refund'],
    ['lost with refund', 'lost', 'open with refund'],
  ] as const
  for (const amount of [49_900, 20_000]) {
    const reported = (one: (typeof news)[number]) =>
      snapshotOf({
        order,
        payments: [PAID],
        refunds: one.endsWith('refund') ? [refunded(amount)] : [],
        disputes: [
          disputed(amount, {
            status: one.startsWith('open') ? 'open' : 'lost',
            amount_deducted: one.startsWith('lost') ? amount : 0,
          }),
        ],
      })
    const hear = (told: readonly (typeof news)[number][]) => {
      let record = newRecord()
      const transfers: Transfer[] = []
      let creditNotes = 0
      for (const one of told) {
        const { next, effects } = decide(record, reported(one))
        record = next
        transfers.push(...effects.transfers)
        creditNotes += effects.documents.filter(({ reason }) => reason !== 'sale').length
      }
      const feeMinor = amount === 49_900 ? 0 : 598
      assert.equal(balanceOf(transfers, sellerAccount('sel_1'), 'INR'), 49_900 - amount - feeMinor, told.join(', '))
      assert.equal(balanceOf(transfers, FEES, 'INR'), feeMinor)
      assert.equal(balanceOf(transfers, processorAccount('razorpay'), 'INR'), amount - 49_900)
      return creditNotes
    }
    for (const told of inOrder)
      for (const times of [1, 2]) assert.equal(hear(told.flatMap((one) => Array<typeof one>(times).fill(one))), 1)
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...news), { maxLength: 8 }), (told) => {
        hear([...told, 'lost with refund'])
      }),
    )
  }
})

test('a refund counts beside a dispute when it is ours, older, of another amount or payment, or taken for another dispute', () => {
  const lost = (amount: number, more: Partial<Dispute> = {}) =>
    disputed(amount, { status: 'lost', amount_deducted: amount, ...more })
  const found = (refunds: Refund[], disputes: Dispute[]) =>
    snapshotOf({ order, payments: [PAID], refunds, disputes }).refunds.map(({ disputeId }) => disputeId)
  const one = refunded(200)
  assert.deepEqual(found([one], [lost(200)]), ['disp_0'])
  assert.deepEqual(found([one], [lost(900, { amount_deducted: 200 })]), ['disp_0'])
  assert.deepEqual(found([one], [disputed(200)]), ['disp_0'])
  assert.deepEqual(found([one], [disputed(200, { status: 'won' })]), [undefined])
  assert.deepEqual(found([one], [disputed(200, { phase: 'retrieval' })]), [undefined])
  for (const more of [
    { receipt: 'ref_1' },
    { created_at: 1_700_000_099 },
    { amount: 201 },
    { status: 'failed' },
  ] as const)
    assert.deepEqual(found([{ ...one, ...more }], [lost(200)]), [undefined], JSON.stringify(more))
  const second = { ...one, id: 'rfnd_1', created_at: 1_700_000_300 }
  assert.deepEqual(found([second, one], [lost(200)]), [undefined, 'disp_0'])
  assert.deepEqual(found([one, second], [lost(200), lost(200, { id: 'disp_1' })]), ['disp_0', 'disp_1'])
  assert.deepEqual(found([one], [disputed(200), lost(200, { id: 'disp_1' })]), ['disp_1'])
})

test('the order of a list has no effect', () => {
  fc.assert(
    fc.property(found, fc.infiniteStream(fc.nat()), (one, numbers) => {
      const shuffled = <T>(items: readonly T[]) =>
        items
          .map((item) => ({ item, at: numbers.next().value ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item)
      const other = snapshotOf({ ...one, payments: shuffled(one.payments) })
      const times = one.payments.map((payment) => payment.created_at)
      // of two in the same second either may be the first
      if (new Set(times).size === times.length) assert.deepEqual(other, snapshotOf(one))
    }),
    { numRuns: 500 },
  )
})

test('each payment method has its rail', () => {
  const rails = {
    card: 'card',
    emi: 'card',
    upi: 'upi',
    netbanking: 'bank_transfer',
    bank_transfer: 'bank_transfer',
    emandate: 'debit',
    nach: 'debit',
    wallet: 'wallet',
    paylater: 'wallet',
    cardless_emi: 'wallet',
    app: 'wallet',
    something_of_next_year: 'wallet',
  }
  const one: Payment = {
    id: 'pay_1',
    entity: 'payment',
    order_id: 'order_1',
    amount: 100,
    amount_refunded: 0,
    currency: 'INR',
    status: 'captured',
    captured: true,
    method: 'card',
    created_at: 0,
  }
  for (const [method, rail] of Object.entries(rails)) assert.equal(railOf({ ...one, method }), rail)
  for (const card of [{ type: 'credit' }, { type: 'prepaid' }, { type: 'unknown' }, { type: null }, {}, [], null])
    assert.equal(railOf({ ...one, card }), 'card')
  for (const method of ['card', 'emi']) assert.equal(railOf({ ...one, method, card: { type: 'debit' } }), 'debit')
  assert.equal(railOf({ ...one, provider: 'google_pay' }), 'google_pay')
  // Google Pay in India is UPI, whatever the app is called
  assert.equal(railOf({ ...one, method: 'upi', provider: 'google_pay' }), 'upi')
})
