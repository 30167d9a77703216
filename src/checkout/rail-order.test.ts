import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RAILS } from '../processors/rails.ts'
import { orderedRails } from './rail-order.ts'

const order = (currency: string, country?: string) => orderedRails(RAILS, { currency, country }).join(' ')

test('cards come first, and then what is usual in the currency and the buyer’s country', () => {
  assert.equal(order('INR', 'IN'), 'card upi bank_transfer wallet debit apple_pay google_pay')
  assert.equal(order('INR'), order('INR', 'US'), 'a rupee price is paid in Indian ways from everywhere')
  assert.match(order('EUR', 'NL'), /^card bank_transfer wallet debit /)
  assert.match(order('EUR', 'DE'), /^card wallet debit bank_transfer /)
  assert.match(order('EUR'), /^card wallet debit bank_transfer /)
  assert.match(order('BRL', 'BR'), /^card bank_transfer wallet /)
  assert.match(order('SEK', 'SE'), /^card wallet bank_transfer /)
})

test('a country counts only for a price in its own currency', () => {
  assert.equal(order('USD', 'NL'), order('USD', 'US'))
  assert.equal(order('EUR', 'IN'), order('EUR'))
})

test('where nothing is usual, the order of the processor stays', () => {
  assert.equal(order('KES', 'KE'), RAILS.join(' '))
  assert.deepEqual(orderedRails([], { currency: 'INR', country: 'IN' }), [])
})

test('no rail is lost and none is added, whatever the buyer’s place is', () => {
  const place = fc.constantFrom('IN', 'NL', 'DE', 'US', 'BR', 'XX', undefined)
  const currency = fc.constantFrom('INR', 'EUR', 'USD', 'BRL', 'KWD', 'SEK')
  fc.assert(
    fc.property(fc.subarray([...RAILS]), currency, place, (rails, currency, country) => {
      const ordered = orderedRails(rails, { currency, country })
      assert.deepEqual(ordered.toSorted(), rails.toSorted())
      assert.equal(rails.includes('card'), ordered[0] === 'card')
    }),
  )
})
