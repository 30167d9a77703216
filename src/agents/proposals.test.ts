import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../kit/errors.ts'
import { proposeDiscount, proposeProductChange } from './proposals.ts'

const seen = (prices: object[], more: object = {}) => ({
  status: 200,
  isRefused: false,
  etag: '"1"',
  body: { id: 'prod_1', name: 'Guide', amount: 1900, currency: 'USD', payWhatYouWant: false, prices, ...more },
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

test('a proposal of another currency shows the amounts that it makes other money of', () => {
  const productId = 'prod_1'
  const lines = (change: object, more?: object) =>
    proposeProductChange.of({ productId, ...change }, seen([USD], more)).shown.slice(1)
  const currency = { label: 'Currency', value: 'INR', before: 'USD' }
  const price = { label: 'Price', value: '₹19.00', before: '$19.00' }
  assert.deepEqual(lines({ currency: 'INR' }), [currency, price])
  assert.deepEqual(lines({ currency: 'INR', amount: 1900 }), [currency, price])
  assert.deepEqual(lines({ amount: 49_900, currency: 'INR' }), [{ ...price, value: '₹499.00' }, currency])
  const suggests = { payWhatYouWant: true, suggestedAmount: 2500 }
  const suggested = { label: 'Suggested price', value: '₹25.00', before: '$25.00' }
  assert.deepEqual(lines({ currency: 'INR' }, suggests), [currency, price, suggested])
  assert.deepEqual(lines({ currency: 'INR', suggestedAmount: null }, suggests), [
    currency,
    { ...suggested, value: 'nothing' },
    price,
  ])
  // `prices` has every amount with its currency
  assert.deepEqual(lines({ currency: 'INR', prices: [{ currency: 'INR', amount: 1900 }] }), [
    currency,
    { label: 'Prices', value: '₹19.00', before: '$19.00' },
  ])
  assert.deepEqual(lines({ currency: 'USD', name: 'Book' }), [{ label: 'Name', value: 'Book', before: 'Guide' }])
})

test('a proposal of a fixed price shows that nothing is suggested any more, in every currency', () => {
  const fixed = (prices: object[], more: object) =>
    proposeProductChange
      .of({ productId: 'prod_1', payWhatYouWant: false }, seen(prices, { payWhatYouWant: true, ...more }))
      .shown.slice(2)
  assert.deepEqual(fixed([USD], {}), [])
  const first = { currency: 'USD', amount: 2500, minimum: 1900 }
  const suggested = { label: 'Suggested price', value: 'nothing', before: '$25.00' }
  assert.deepEqual(fixed([first], { suggestedAmount: 2500 }), [suggested])
  const rupees = { currency: 'INR', amount: 49_900, minimum: 20_000 }
  assert.deepEqual(fixed([first, rupees], { suggestedAmount: 2500 }), [
    suggested,
    { label: 'Prices', value: '$19.00 · ₹200.00', before: '$25.00, at least $19.00 · ₹499.00, at least ₹200.00' },
  ])
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
