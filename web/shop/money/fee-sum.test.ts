import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feeOf } from '../../../src/kit/money.ts'
import { refundableMinor, refundSums } from '../orders/refund-sums.ts'
import { exactFee } from './fee-sum.ts'

test('2% is shown to the last digit in currencies of no, two and three decimals', () => {
  assert.deepEqual(exactFee(49_900, 'INR'), { text: '9.98', rounding: 'exact' })
  assert.deepEqual(exactFee(1_999, 'USD'), { text: '0.3998', rounding: 'up' })
  assert.deepEqual(exactFee(1_901, 'USD'), { text: '0.3802', rounding: 'down' })
  assert.deepEqual(exactFee(1_925, 'JPY'), { text: '38.5', rounding: 'half' })
  assert.deepEqual(exactFee(1_900, 'JPY'), { text: '38', rounding: 'exact' })
  assert.deepEqual(exactFee(4_925, 'KWD'), { text: '0.0985', rounding: 'half' })
  assert.deepEqual(exactFee(1, 'KWD'), { text: '0.00002', rounding: 'down' })
})

test('the dialog’s sums of returned fees add up to the fee, for any parts', () => {
  const amount = 1_999
  const fee = feeOf(amount)
  const refunds: {
    amount: number
    status: 'succeeded'
    id: string
    orderId: string
    currency: string
    origin: 'api'
    createdAt: string
  }[] = []
  let back = 0
  for (const part of [1, 333, 666, 999]) {
    const { feeBack, net } = refundSums({ amount, fee, refunds }, part)
    assert.equal(net, part - feeBack)
    back += feeBack
    refunds.push({
      amount: part,
      status: 'succeeded',
      id: '',
      orderId: '',
      currency: 'USD',
      origin: 'api',
      createdAt: '',
    })
  }
  assert.equal(refundableMinor({ amount, refunds }), 0)
  assert.equal(back, fee)
})
