import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../kit/errors.ts'
import { proposeDiscount, proposeProductChange } from './proposals.ts'

const seen = (prices: object[]) => ({
  status: 200,
  isRefused: false,
  etag: '"1"',
  body: { id: 'prod_1', name: 'Guide', amount: 1900, currency: 'USD', prices },
})
const USD = { currency: 'USD', amount: 1900 }

test('a proposal shows every price in its currency, before and after', () => {
  const prices = [USD, { currency: 'INR', amount: 49_900, minimum: 20_000 }]
  const { shown } = proposeProductChange.of({ productId: 'prod_1', prices }, seen([USD]))
  assert.deepEqual(shown[1], { label: 'Prices', value: '$19.00 · ₹499.00, at least ₹200.00', before: '$19.00' })
  // the proposal shows a wrong currency as it is, and the route refuses it when the seller confirms
  const wrong = proposeProductChange.of({ productId: 'prod_1', prices: [{ currency: 'x', amount: 5 }] }, seen([USD]))
  assert.equal(wrong.shown[1]!.value, '5 x')
  const alone = proposeProductChange.of({ productId: 'prod_1', amount: 5, currency: 'x' }, seen([USD]))
  assert.equal(alone.shown.find(({ label }) => label === 'Price')!.value, '5 x')
  assert.throws(() => proposeProductChange.of({ productId: 'prod_1', prices: [{ ...USD }] }, seen([USD])), Refusal)
})

test('a proposed code shows what it takes off in each currency', () => {
  const amounts = [
    { currency: 'USD', amount: 500 },
    { currency: 'JPY', amount: 700 },
  ]
  const { shown } = proposeDiscount.of({ code: 'THANKS', amounts }, seen([]))
  assert.equal(shown.find(({ label }) => label === 'Amount off')!.value, '$5.00 · ¥700')
  const wrong = proposeDiscount.of({ code: 'THANKS', amountOff: 500, currency: 'usd' }, seen([]))
  assert.equal(wrong.shown.find(({ label }) => label === 'Amount off')!.value, '500 usd')
})
