import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calendarDay, nextWords, payoutSentence, payoutTag } from './payout-words.ts'

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

test('a payout that was cancelled at the processor names no bank, and one without a reason quotes nothing', () => {
  const payout = {
    payoutId: 'po_1',
    by: 'stripe-connect',
    status: 'failed',
    amount: 1862,
    currency: 'USD',
    destination: 'Your bank account at Stripe',
    reference: 'po_1',
    createdAt: '2026-11-20T10:00:00Z',
    endedAt: '2026-11-23T10:00:00Z',
  } as const
  const cancelled = { ...payout, failure: 'Cancelled at the processor', cancelled: true }
  assert.match(payoutSentence(cancelled), /^It was cancelled at the processor on .+\. The money is back in your balance there\.$/) // oxfmt-ignore
  assert.deepEqual(payoutTag(cancelled), ['Cancelled', 'quiet'])
  assert.match(payoutSentence(payout), /^The bank refused it on [^.]+\. The money is back in your account at the processor\. Check/) // oxfmt-ignore
  assert.deepEqual(payoutTag(payout), ['Failed', 'bad'])
})
