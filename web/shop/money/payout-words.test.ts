import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calendarDay, nextWords } from './payout-words.ts'

test('a payout that is blocked because less than nothing is available does not speak of the balance', () => {
  // €20 are pending, and €5 were refunded after their payout: the balance is €15
  const next = { currency: 'EUR', expected: 0, minimum: 1, blocked: 'negative_balance' } as const
  const { text } = nextWords(next, {
    by: 'manual',
    schedule: 'weekly',
    holdDays: 7,
    runOn: '2026-11-30',
    items: [next],
  })
  assert.match(text, /^The amount that can be paid out is below zero.*Pending and later sales make up for it/)
  assert.doesNotMatch(text, /balance/)
})

test('a day of payouts is the same day in every time zone', (t) => {
  const before = process.env.TZ
  t.after(() => (before === undefined ? delete process.env.TZ : (process.env.TZ = before)))
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Tongatapu', 'Pacific/Pago_Pago', 'UTC']) {
    process.env.TZ = zone
    assert.equal(calendarDay('2026-11-30'), 'Nov 30, 2026', zone)
  }
})
