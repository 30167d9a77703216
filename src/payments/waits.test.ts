import assert from 'node:assert/strict'
import { setImmediate as soon } from 'node:timers/promises'
import { test } from 'node:test'
import { orderWaits } from './waits.ts'

const HOUR_MS = 3_600_000
const isOpen = (state: string) => state === 'pending' || state === 'processing'
const isSame = (before: string, now: string) => before === now

/** An order, and how often it was read. */
function newOrder(...states: string[]) {
  const order = {
    reads: 0,
    read: async () => states[Math.min(order.reads++, states.length - 1)]!,
  }
  return order
}

test('a wait ends when its order is settled, and not with another order', async () => {
  const waits = orderWaits()
  const order = newOrder('pending', 'paid')
  const wait = waits.read('one', { read: order.read, isOpen, isSame, ms: HOUR_MS })
  await soon()
  waits.end(['two'])
  await soon()
  assert.equal(order.reads, 1)
  waits.end(['two', 'one'])
  assert.equal(await wait, 'paid')
  assert.equal(order.reads, 2)
})

test('all who wait for an order hear of it, also when it changes during the first read', async () => {
  const waits = orderWaits()
  const slow = Promise.withResolvers<string>()
  const order = newOrder('pending', 'paid')
  const early = waits.read('one', { read: () => (order.reads === 0 ? (order.reads++, slow.promise) : order.read()), isOpen, isSame, ms: HOUR_MS }) // oxfmt-ignore
  const other = newOrder('pending', 'paid')
  const late = waits.read('one', { read: other.read, isOpen, isSame, ms: HOUR_MS })
  await soon()
  waits.end(['one'])
  slow.resolve('pending')
  assert.deepEqual(await Promise.all([early, late]), ['paid', 'paid'])
})

test('a change that is no news does not end the wait, and another open state does', async () => {
  const waits = orderWaits()
  const order = newOrder('pending', 'pending', 'processing', 'paid')
  const wait = waits.read('one', { read: order.read, isOpen, isSame, ms: HOUR_MS })
  for (const reads of [1, 2]) {
    await soon()
    assert.equal(order.reads, reads)
    waits.end(['one'])
  }
  assert.equal(await wait, 'processing')
})

test('a closed order is read once, and an open one again after a quarter of the time and all of it', async (t) => {
  const waits = orderWaits()
  const closed = newOrder('expired')
  assert.equal(await waits.read('one', { read: closed.read, isOpen, isSame, ms: HOUR_MS }), 'expired')
  assert.equal(closed.reads, 1)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const open = newOrder('pending')
  const wait = waits.read('one', { read: open.read, isOpen, isSame, ms: HOUR_MS })
  const reads: number[] = []
  for (const ms of [HOUR_MS / 4 - 1, 1, (HOUR_MS * 3) / 4 - 1, 1]) {
    await soon()
    t.mock.timers.tick(ms)
    await soon()
    reads.push(open.reads)
  }
  assert.equal(await wait, 'pending')
  assert.deepEqual(reads, [1, 2, 2, 3])
  // an order that another process has settled
  const paid = newOrder('pending', 'paid')
  const other = waits.read('two', { read: paid.read, isOpen, isSame, ms: HOUR_MS })
  await soon()
  t.mock.timers.tick(HOUR_MS / 4)
  assert.equal(await other, 'paid')
})

test('beyond the most, and after a failed read, nothing waits', async () => {
  const waits = orderWaits(1)
  const first = newOrder('pending', 'paid')
  const wait = waits.read('one', { read: first.read, isOpen, isSame, ms: HOUR_MS })
  const second = newOrder('pending')
  assert.equal(await waits.read('one', { read: second.read, isOpen, isSame, ms: HOUR_MS }), 'pending')
  waits.end(['one'])
  assert.equal(await wait, 'paid')
  const away = async () => Promise.reject(new Error('away'))
  for (let time = 0; time < 2; time++)
    await assert.rejects(waits.read('one', { read: away, isOpen, isSame, ms: HOUR_MS }), /away/)
  // the place is free again
  const third = newOrder('pending', 'paid')
  const last = waits.read('one', { read: third.read, isOpen, isSame, ms: HOUR_MS })
  await soon()
  waits.end(['one'])
  assert.equal(await last, 'paid')
})
