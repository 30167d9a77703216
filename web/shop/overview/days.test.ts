import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAYS, fillDays, lastDays, sumOf } from './days.ts'

const NOW = new Date(2026, 6, 31, 23, 59)

test('each day stands there once, and the month is in them whole', () => {
  const days = lastDays(NOW)
  assert.equal(days.length, DAYS)
  assert.deepEqual([days[0], days.at(-1)], [new Date(2026, 6, 1), new Date(2026, 6, 31)])
})

test('a sale counts on its day; days without a sale count zero, and older sales are left out', () => {
  const days = fillDays(
    [
      { at: new Date(2026, 6, 31).toISOString(), orders: 2, amount: 300 },
      { at: new Date(2026, 6, 30, 13).toISOString(), orders: 1, amount: 50 },
      { at: new Date(2026, 5, 30).toISOString(), orders: 9, amount: 9 },
    ],
    NOW,
  )
  assert.deepEqual(
    days.slice(-3).map(({ orders, amount }) => [orders, amount]),
    [
      [0, 0],
      [1, 50],
      [2, 300],
    ],
  )
  assert.deepEqual(sumOf(days), { orders: 3, amount: 350 })
})
