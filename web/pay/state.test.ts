import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Created, OrderStatus, Status } from '../ui/api.ts'
import { isSettled, viewOf, type State } from './state.ts'

const STATUSES: Status[] = [
  'pending',
  'processing',
  'paid',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
  'expired',
  'needs_review',
]
const orderIn = (status: Status, canPay = status === 'pending') => ({ orderId: 'ord_1', status, canPay }) as OrderStatus
const created = { orderId: 'ord_1', clientSecret: 'secret' } as Created
const kept = { email: 'ann@example.com', key: 'k'.repeat(16), orderId: 'ord_1' }
const attempt = { rail: 'card', sentAt: 1 } as const

/** All events that can happen beside an order: tries, faults, another tab. */
function* surroundings(): Generator<Omit<State, 'order'>> {
  for (const held of [
    undefined,
    kept,
    { ...kept, attempt },
    { ...kept, attempt: { ...attempt, answer: 'captured' as const } },
  ])
    for (const made of [undefined, created])
      for (const busy of [undefined, 'creating', 'confirming', 'in_form'] as const)
        for (const notice of [undefined, 'declined', 'not_taken', 'left', 'invalid'] as const)
          for (const trouble of [undefined, new Error()]) yield { kept: held, created: made, busy, notice, trouble }
}

test('whatever else goes on, only an order that the service lets pay can be paid', () => {
  for (const status of STATUSES.filter((one) => one !== 'pending'))
    for (const state of surroundings()) assert.notEqual(viewOf({ ...state, order: orderIn(status) }), 'payment', status)
})

test('whatever else goes on, a paid order shows its files', () => {
  for (const status of ['paid', 'partially_refunded'] as const)
    for (const state of surroundings()) assert.equal(viewOf({ ...state, order: orderIn(status) }), 'delivered')
})

test('a paid order whose money is all on its way back shows no files, and takes no payment', () => {
  for (const status of ['paid', 'partially_refunded'] as const)
    for (const state of surroundings())
      assert.equal(viewOf({ ...state, order: { ...orderIn(status), paid: false } }), 'ended')
})

test('an order that takes no payment any more is over, and its payment is waited for all the same', () => {
  const trouble = Object.assign(new Error(), { code: 'payment_closed' })
  const order = orderIn('pending')
  for (const made of [undefined, created]) assert.equal(viewOf({ kept, order, created: made, trouble }), 'ended')
  assert.equal(viewOf({ kept: { ...kept, attempt }, order, created, trouble }), 'waiting')
  assert.equal(viewOf({ kept, order: orderIn('paid'), created, trouble }), 'delivered')
})

test('while a payment may be under way the page neither asks to pay nor offers a new order', () => {
  for (const state of surroundings())
    if (state.kept?.attempt)
      for (const order of [undefined, orderIn('pending'), orderIn('processing')]) {
        const inForm = state.busy === 'in_form' && state.created && order?.status !== 'processing'
        assert.equal(viewOf({ ...state, order }), inForm ? 'in_form' : 'waiting')
      }
})

test('after the bank has said no, the buyer can try again', () => {
  const order = orderIn('processing', true)
  assert.equal(viewOf({ kept, created, order }), 'payment')
  assert.equal(viewOf({ kept, created, order: orderIn('processing') }), 'waiting')
})

test('a stored order whose state is not yet known is never offered for payment', () => {
  for (const state of surroundings()) assert.notEqual(viewOf({ ...state, order: undefined }), 'payment')
})

test('only an order that waits for money can be overtaken by an older answer', () => {
  assert.deepEqual(
    STATUSES.filter((status) => !isSettled(status)),
    ['pending', 'processing'],
  )
})
