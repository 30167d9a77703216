import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery, Try } from './deliveries-api.ts'
import { happened, nextWords, outcome, stateOf, whatHelps } from './delivery-words.ts'

const AT = '2026-11-01T09:30:00.000Z'
const lastTry = (more: Partial<Try>): Try => ({ at: AT, tookMs: 32, ...more })
const delivery = (more: Partial<Delivery>): Delivery => ({
  eventId: 'evt_1',
  type: 'order.paid',
  status: 'waiting',
  tries: 0,
  createdAt: AT,
  ...more,
})

test('a delivery that has failed and will be tried again reads as failing, not as waiting', () => {
  const words = (more: Partial<Delivery>) => stateOf(delivery(more))[0]
  assert.equal(words({}), 'Waiting')
  assert.equal(words({ tries: 1, lastTry: lastTry({ status: 500, error: 'status' }) }), 'Failing')
  assert.equal(words({ tries: 1, lastTry: lastTry({ status: 204 }) }), 'Waiting')
  assert.equal(words({ status: 'delivered', tries: 1 }), 'Delivered')
  assert.equal(words({ status: 'failed', tries: 10 }), 'Given up')
})

test('every class of failure says what happened and what helps', () => {
  for (const error of ['dns', 'tls', 'timeout', 'refused', 'blocked', 'secret', 'status'] as const) {
    assert.match(happened(lastTry({ error })), /\.$/, error)
    assert.match(whatHelps(lastTry({ error }))!, /[.?]$/, error)
  }
  assert.equal(whatHelps(lastTry({ status: 204 })), undefined)
  assert.match(happened(lastTry({ error: 'status', status: 302 })), /302.*no redirect/)
  assert.equal(outcome(lastTry({ error: 'status', status: 500 })), '500 in 32 ms')
  assert.equal(outcome(lastTry({ error: 'dns' })), 'Name not found in 32 ms')
})

test('what waits says until when, and what is given up says that a replay helps', () => {
  assert.match(nextWords(delivery({ tries: 2, nextTryAt: '2999-01-01T00:00:00.000Z' }), false)!, /^Next try .*2999/)
  assert.match(nextWords(delivery({ nextTryAt: AT }), false)!, /its turn/)
  assert.match(nextWords(delivery({ nextTryAt: AT }), true)!, /resume/)
  assert.match(nextWords(delivery({ status: 'failed', tries: 10 }), false)!, /^10 tries have failed\. A replay/)
  assert.equal(nextWords(delivery({ status: 'delivered' }), false), undefined)
})
