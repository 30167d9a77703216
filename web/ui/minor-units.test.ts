import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimalsOf } from '../../src/kit/money.ts'
import { minorUnits } from './minor-units.ts'

test('an amount is read as it is written, in the decimals of its currency', () => {
  const read: [string, string, number][] = [
    ['499', 'INR', 49900],
    ['499.00', 'INR', 49900],
    ['499.5', 'INR', 49950],
    ['499,5', 'EUR', 49950],
    ['1,234.50', 'USD', 123450],
    ['1.234,50', 'EUR', 123450],
    ['1,23,456', 'INR', 12345600],
    ['1,234', 'USD', 123400],
    ["1'234.05", 'USD', 123405],
    [' 0.01 ', 'USD', 1],
    ['.5', 'USD', 50],
    ['5.', 'USD', 500],
    ['1500', 'JPY', 1500],
    ['1,500', 'JPY', 1500],
    ['1.234', 'KWD', 1234],
    ['1', 'KWD', 1000],
    ['0', 'USD', 0],
  ]
  for (const [typed, currency, minor] of read)
    assert.equal(minorUnits(typed, decimalsOf(currency)), minor, `${typed} ${currency}`)
})

test('what is not an amount of that currency is not guessed at', () => {
  for (const [typed, currency] of [
    ['', 'USD'],
    ['abc', 'USD'],
    ['-5', 'USD'],
    ['1.2345', 'USD'],
    ['1.5', 'JPY'],
    ['1e5', 'USD'],
    ['12345678901234567', 'USD'],
  ] as const)
    assert.equal(minorUnits(typed, decimalsOf(currency)), undefined, `${typed} ${currency}`)
})
