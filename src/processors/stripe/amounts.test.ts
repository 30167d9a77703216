import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CURRENCIES } from '../../kit/currencies.ts'
import { decimalsOf } from '../../kit/money.ts'
import { AmountNotTaken, ProcessorUnavailable } from '../refusals.ts'
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

// The lists of https://docs.stripe.com/currencies ("Zero-decimal currencies", "Three-decimal currencies", "Special cases"), looked up on 2026-11-25.
const ZERO_DECIMAL = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF'.split(' ')
const THREE_DECIMAL = 'BHD JOD KWD OMR TND'.split(' ')
/** Without decimals, and yet sent with two, for compatibility: 5 krónur are 500. */
const ZERO_SENT_WITH_TWO = new Set(['ISK', 'UGX'])
/** Without decimals in Stripe's payouts only. A charge has both. */
const ZERO_IN_PAYOUTS = ['HUF', 'TWD']

test('a main unit has as many of Stripe’s units as Stripe’s lists say, in every currency', () => {
  const unitsIn = (currency: string) => toStripe(10 ** decimalsOf(currency), currency)
  for (const currency of taken) {
    const expected = ZERO_SENT_WITH_TWO.has(currency) ? 100 : ZERO_DECIMAL.includes(currency) ? 1 : THREE_DECIMAL.includes(currency) ? 1000 : 100 // oxfmt-ignore
    assert.equal(unitsIn(currency), expected, currency)
  }
  for (const currency of ZERO_IN_PAYOUTS) assert.equal(toStripe(1050, currency), 1050)
  assert.equal(toStripe(5, 'ISK'), 500)
  assert.equal(toStripe(5, 'UGX'), 500)
})

test('a price that Stripe’s partners do not take exactly is not sent', () => {
  // the last of three decimals must be zero
  for (const currency of THREE_DECIMAL) {
    assert.equal(toStripe(5120, currency), 5120)
    assert.throws(() => toStripe(5124, currency), AmountNotTaken)
  }
  // the ariary has fifths in ISO 4217, as two decimals, and none at Stripe
  assert.equal(toStripe(500, 'MGA'), 5)
  assert.throws(() => toStripe(520, 'MGA'), AmountNotTaken)
})
