import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitWords } from './wait-words.ts'

test('a time to wait is said as a time after which to try, and not within which', () => {
  assert.equal(waitWords('en', 20), 'in 20 seconds')
  assert.equal(waitWords('en', 91), 'in 2 minutes')
  assert.equal(waitWords('en', 7200), 'in 2 hours')
  assert.equal(waitWords('ar', 20), 'بعد 20 ثانية')
})
