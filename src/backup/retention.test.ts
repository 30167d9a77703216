import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keptBases } from './retention.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-11-23T03:00:00Z')
const segment = (position: number) => `00000001${position.toString(16).toUpperCase().padStart(16, '0')}`
const of = (days: number) => ({
  id: `${days}`,
  cluster: 'first',
  startedAt: new Date(NOW - days * DAY_MS).toISOString(),
  firstSegment: segment(Math.round((1000 - days) * 100)),
})
const keptOf = (days: number[]) => keptBases(days.map(of), new Date(NOW)).kept.map(({ id }) => Number(id)).sort((a, b) => a - b) // oxfmt-ignore

test('a year of nights leaves seven days, four weeks and six months', () => {
  const kept = keptOf(Array.from({ length: 365 }, (_, day) => day))
  // 2026-11-23 is a Monday: the weeks end on the Sundays before it, the months on their last days
  assert.deepEqual(kept, [0, 1, 2, 3, 4, 5, 6, 8, 15, 23, 54, 84, 115, 146])
})

test('of several backups a day the newest stays once it is a day old, and the newest of all is never removed', () => {
  assert.deepEqual(keptOf([0, 0.05, 0.1]), [0, 0.05, 0.1])
  assert.deepEqual(keptOf([0, 2, 2.05, 2.1]), [0, 2])
  assert.deepEqual(keptOf([300]), [300])
  assert.deepEqual(keptOf([]), [])
})

test('days without a backup are not counted: the newest ones stay however old they are', () => {
  assert.deepEqual(keptOf([100, 101, 102, 103, 104, 105, 106]), [100, 101, 102, 103, 104, 105, 106])
})

test('a clock that was a year ahead for a while does not make the newest backup look old', () => {
  const ahead = Array.from({ length: 8 }, (_, day) => of(-400 - day))
  const newest = { ...of(1), firstSegment: segment(1_000_000) }
  assert(keptBases([newest, ...ahead], new Date(NOW)).daily.includes(newest))
})

test('after going back to the former major version, the backups made since are the newest', () => {
  const former = Array.from({ length: 10 }, (_, day) => of(day))
  const abandoned = { ...of(5.5), cluster: 'second', firstSegment: segment(1) }
  const { daily } = keptBases([abandoned, ...former], new Date(NOW))
  assert(daily.includes(former[0]!))
  assert(!daily.includes(abandoned))
})

test('after a change of the major version the log begins anew, and its first backup is the newest', () => {
  const former = Array.from({ length: 10 }, (_, day) => of(2 + day))
  const newest = { ...of(1), cluster: 'second', firstSegment: segment(1) }
  assert(keptBases([newest, ...former], new Date(NOW)).daily.includes(newest))
})
