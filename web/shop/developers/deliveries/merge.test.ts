import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from './deliveries-api.ts'
import { merge, readNews } from './merge.ts'

const row = (eventId: string, status: Delivery['status'] = 'delivered'): Delivery => ({
  eventId,
  type: 'order.paid',
  status,
  tries: 1,
  createdAt: '2026-11-01T09:30:00.000Z',
})
const ids = (rows: readonly Delivery[]) => rows.map(({ eventId }) => eventId).join('')
const free = { reachesEnd: false, isHeld: () => false }

test('new deliveries come to the top, known ones are there once and as they are now', () => {
  const merged = merge([row('c', 'waiting'), row('b'), row('a')], [row('d'), row('c'), row('b')], free)
  assert.equal(ids(merged), 'dcba')
  assert.equal(merged[1]!.status, 'delivered')
})

test('a delivery that has left the filter goes, unless somebody reads it', () => {
  const rows = [row('d'), row('c'), row('b'), row('a')]
  assert.equal(ids(merge(rows, [row('d'), row('b')], free)), 'dba')
  assert.equal(ids(merge(rows, [row('d')], { ...free, reachesEnd: true })), 'd')
  assert.equal(ids(merge(rows, [], { reachesEnd: true, isHeld: (id) => id === 'c' })), 'c')
})

test('between what is known and what is new nothing is left out', async () => {
  const pages: Record<string, { items: Delivery[]; nextCursor: string | null }> = {
    first: { items: [row('f'), row('e')], nextCursor: 'second' },
    second: { items: [row('d'), row('c')], nextCursor: 'third' },
    third: { items: [row('b')], nextCursor: null },
  }
  const ask = async (cursor: string | undefined) => pages[cursor ?? 'first']!
  const news = await readNews(ask, (id) => id === 'c')
  assert.deepEqual([ids(news!.fresh), news!.reachesEnd], ['fedc', false])
  assert.deepEqual((await readNews(ask, () => false))!.reachesEnd, true)
  assert.equal(await readNews(ask, () => false, 2), undefined)
})
