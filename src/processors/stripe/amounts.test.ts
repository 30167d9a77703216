import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CURRENCIES } from '../../kit/currencies.ts'
import { AmountNotTaken, ProcessorUnavailable } from '../processor.ts'
import { fromStripe, takesCurrency, toStripe } from './amounts.ts'

const taken = [...CURRENCIES].filter(takesCurrency)

test('most currencies of ours can be charged, and those that cannot are refused', () => {
  assert(taken.length > 120)
  for (const currency of CURRENCIES)
    if (!takesCurrency(currency)) assert.throws(() => toStripe(1000, currency), AmountNotTaken)
})

test('amounts sent to Stripe come back exact to the minor unit in every currency, or are not sent at all', () => {
  fc.assert(
    fc.property(fc.constantFrom(...taken), fc.integer({ min: 1, max: 1_000_000_000 }), (currency, amountMinor) => {
      let amount: number
      try {
        amount = toStripe(amountMinor, currency)
      } catch (error) {
        assert(error instanceof AmountNotTaken)
        return
      }
      assert.deepEqual(fromStripe(amount, currency.toLowerCase()), { amountMinor, currency })
    }),
    { numRuns: 2000 },
  )
})

test('only whole, positive amounts are sent', () => {
  for (const amount of [0, -1, 0.5, 1e-7, Number.NaN, Infinity, 2 ** 53])
    for (const currency of ['USD', 'JPY', 'ISK', 'MGA', 'KWD'])
      assert.throws(() => toStripe(amount, currency), AmountNotTaken)
})

test('a fraction of a króna from Stripe is an invalid response', () => {
  assert.deepEqual(fromStripe(500, 'isk'), { amountMinor: 5, currency: 'ISK' })
  assert.throws(() => fromStripe(550, 'isk'), ProcessorUnavailable)
})
