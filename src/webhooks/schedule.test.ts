import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCHEDULE_SECONDS, secondsOfRetryAfter, waitAfter } from './schedule.ts'

test('ten tries over three days, each within a tenth of its time', () => {
  const waits = SCHEDULE_SECONDS.map((_, step) => [0, 0.5, 1].map((chance) => waitAfter(step, undefined, chance)))
  assert.deepEqual(waits.at(-1), [undefined, undefined, undefined])
  for (const [step, [least, middle, most]] of waits.slice(0, -1).entries()) {
    const planned = SCHEDULE_SECONDS[step + 1]!
    assert.deepEqual([least! / planned, middle, most! / planned].map((one) => Math.round(one! * 10) / 10), [0.9, planned, 1.1]) // oxfmt-ignore
  }
  const total = SCHEDULE_SECONDS.reduce<number>((sum, seconds) => sum + seconds, 0)
  assert(total > 72 * 3600, 'longer than the time after which an endpoint is paused')
})

test('a receiver can ask for a longer wait, up to a day, and not for a shorter one', () => {
  assert.equal(waitAfter(0, 600, 0.5), 600)
  assert.equal(waitAfter(3, 600, 0.5), SCHEDULE_SECONDS[4])
  assert.equal(waitAfter(0, 10_000_000, 0.5), 86_400)
  assert.equal(waitAfter(SCHEDULE_SECONDS.length - 1, 600, 0.5), undefined)
})

test('Retry-After is seconds or a time; anything else is as if it were absent', () => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  assert.equal(secondsOfRetryAfter('120', now), 120)
  assert.equal(secondsOfRetryAfter('Mon, 23 Nov 2026 12:02:00 GMT', now), 120)
  for (const text of [undefined, '', 'soon', '-5', '0', '1e3x', 'Mon, 23 Nov 2026 11:00:00 GMT', '9'.repeat(40)])
    assert.equal(secondsOfRetryAfter(text, now), undefined, text)
  assert.equal(secondsOfRetryAfter('999999999', now), 86_400)
})
