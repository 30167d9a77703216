import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modeOfPayments } from './settings.ts'

test('payments are tests only when every processor moves test money', () => {
  const mode = (processors: string[], stripeKey?: string, razorpayKey?: string) =>
    modeOfPayments({
      processors,
      stripe: stripeKey === undefined ? undefined : { secretKey: stripeKey },
      razorpay: razorpayKey === undefined ? undefined : { keyId: razorpayKey },
    })
  assert.equal(mode(['sandbox']), 'test')
  assert.equal(mode(['stripe'], 'sk_test_1'), 'test')
  assert.equal(mode(['stripe', 'sandbox'], 'rk_test_1'), 'test')
  assert.equal(mode(['stripe'], 'sk_live_1'), 'live')
  assert.equal(mode(['stripe', 'razorpay'], 'sk_test_1', 'rzp_live_1'), 'live')
  assert.equal(mode(['razorpay', 'sandbox'], undefined, 'rzp_live_1'), 'live')
  // it sells free products only, and is no trial
  assert.equal(mode([]), 'live')
})
