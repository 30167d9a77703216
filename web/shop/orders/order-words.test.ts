import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adviceOf, stateOf } from './order-words.ts'

test('a part that a bank took back is not called a refund', () => {
  const taken = { status: 'partially_refunded', chargedBackAmount: 500 } as const
  assert.deepEqual(stateOf(taken), ['Partly charged back', 'bad'])
  assert.match(adviceOf(taken)!.join(' '), /taken a part of the money back.*keeps the files/)
  const refunded = { status: 'partially_refunded' } as const
  assert.deepEqual(stateOf(refunded), ['Partly refunded', 'good'])
  assert.equal(adviceOf(refunded), undefined)
  // While another dispute is open, that one comes first.
  assert.deepEqual(stateOf({ status: 'disputed', chargedBackAmount: 500 }), ['Disputed', 'bad'])
})

test('a payment that failed after all is shown before the state of the order', () => {
  assert.deepEqual(stateOf({ status: 'processing', paymentFailed: true }), ['Payment failed', 'quiet'])
  assert.deepEqual(stateOf({ status: 'processing' }), ['Bank is processing', ''])
})
