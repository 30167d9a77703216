import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STEADY_CLOCK } from './clock.ts'

test('a machine whose clock is set back or ahead moves no timer of the library', (t) => {
  const before = STEADY_CLOCK.now()
  assert(Math.abs(before - Date.now()) < 60_000, 'it begins with the right time')
  const real = Date.now()
  for (const hours of [-3, 3]) {
    t.mock.method(Date, 'now', () => real + hours * 3_600_000)
    const passed = STEADY_CLOCK.now() - before
    assert(passed >= 0 && passed < 60_000, `${passed} ms`)
    t.mock.restoreAll()
  }
})
