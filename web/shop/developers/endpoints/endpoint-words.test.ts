import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint } from './endpoints-api.ts'
import { eventWords, nameOf, stateOf } from './endpoint-words.ts'

const endpoint = (more: Partial<Endpoint>): Endpoint => ({
  id: 'we_1',
  url: 'https://shop.example:8443/hook',
  events: ['*'],
  description: '',
  status: 'active',
  waiting: 0,
  failed: 0,
  createdAt: '2026-11-01T09:30:00.000Z',
  ...more,
})

test('each state of an endpoint says what it means and what to do', () => {
  const said = (more: Partial<Endpoint>, hasSent = true) => {
    const { words, about } = stateOf(endpoint(more), hasSent)
    return `${words}. ${about}`
  }
  assert.match(said({}), /^Works\. All is delivered/)
  assert.match(said({ waiting: 3 }), /^Works\. .*3 deliveries wait/)
  assert.equal(said({ failed: 1 }), 'Works. It works, and no delivery waits. One delivery was given up: a replay sends it again.') // oxfmt-ignore
  assert.match(said({ waiting: 3, failed: 2 }), /3 deliveries wait\. 2 deliveries were given up/)
  assert.match(said({ failed: 1000 }), /1000 or more deliveries were given up/)
  assert.match(said({}, false), /^Nothing sent yet\. Send a test event/)
  assert.match(
    said({ status: 'failing', failingSince: '2026-11-01T09:30:00.000Z', waiting: 1, failed: 1 }),
    /^Failing\. .*since .*2026.*one delivery waits.*72 hours.*One delivery was given up/,
  )
  const heldUntil = '2026-11-02T09:30:00.000Z'
  for (const more of [{}, { status: 'failing', failingSince: '2026-11-01T09:30:00.000Z' }] as const)
    assert.match(said({ ...more, heldUntil, waiting: 1 }), /wait until .*2026.*: a test or a replay ends the wait\./)
  assert.match(said({ status: 'paused', pausedBecause: 'failing', waiting: 1000 }), /1000 or more.*resume/)
  assert.match(said({ status: 'paused', pausedBecause: 'gone' }), /^Gone: paused\. .*410.*resume/)
})

test('an endpoint has the name that its seller gave it, or its host', () => {
  assert.equal(nameOf(endpoint({})), 'shop.example:8443')
  assert.equal(nameOf(endpoint({ description: 'Unlock' })), 'Unlock')
  assert.equal(eventWords(endpoint({})), 'All events')
  assert.equal(eventWords(endpoint({ events: ['order.paid', 'refund.failed'] })), 'order.paid, refund.failed')
})
