import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Interval, startsOf, zoneOf } from './time-zones.ts'

const starts = (zone: string, interval: Interval, from: string, to: string) =>
  startsOf({ zone, interval, from: new Date(from), to: new Date(to) }).map((at) => at.toISOString().slice(0, 16))

test('a zone has a name; abbreviations mean one zone, and offsets none', () => {
  assert.equal(zoneOf('Europe/Vienna'), 'Europe/Vienna')
  assert.equal(zoneOf('IST'), zoneOf('Asia/Kolkata'))
  assert(zoneOf('UTC'))
  for (const wrong of ['Mars/Olympus', '', '+05:30', "';--", 'UTC\0']) assert.equal(zoneOf(wrong), undefined, wrong)
})

test('days begin at the zone’s midnight, also around a change of the clocks', () => {
  assert.deepEqual(starts('Europe/Vienna', 'day', '2026-10-24T12:00:00Z', '2026-10-27T00:00:00Z'), [
    '2026-10-23T22:00', '2026-10-24T22:00', '2026-10-25T23:00', '2026-10-26T23:00',
  ]) // oxfmt-ignore
  // in Brazil the clocks jumped over midnight
  assert.deepEqual(starts('America/Sao_Paulo', 'day', '2018-11-03T12:00:00Z', '2018-11-06T00:00:00Z'), [
    '2018-11-03T03:00', '2018-11-04T03:00', '2018-11-05T02:00',
  ]) // oxfmt-ignore
  // in Cuba midnight comes twice: the day begins with the first one
  assert.deepEqual(starts('America/Havana', 'day', '2024-11-02T12:00:00Z', '2024-11-05T00:00:00Z'), [
    '2024-11-02T04:00', '2024-11-03T04:00', '2024-11-04T05:00',
  ]) // oxfmt-ignore
})

test('weeks begin on Mondays and months on the first, also across a year', () => {
  assert.deepEqual(starts('UTC', 'week', '2026-12-27T23:00:00Z', '2027-01-05T00:00:00Z'), ['2026-12-21T00:00', '2026-12-28T00:00', '2027-01-04T00:00']) // oxfmt-ignore
  assert.deepEqual(starts('Asia/Kolkata', 'month', '2026-11-30T19:00:00Z', '2027-02-01T00:00:00Z'), ['2026-11-30T18:30', '2026-12-31T18:30', '2027-01-31T18:30']) // oxfmt-ignore
  assert.deepEqual(starts('Pacific/Auckland', 'month', '2026-11-30T10:59:59Z', '2026-11-30T11:00:00Z'), ['2026-10-31T11:00']) // oxfmt-ignore
})

test('hours begin with the zone’s, and each has sixty minutes', () => {
  assert.deepEqual(starts('Asia/Kathmandu', 'hour', '2026-11-30T10:20:00Z', '2026-11-30T12:15:00Z'), ['2026-11-30T10:15', '2026-11-30T11:15']) // oxfmt-ignore
  assert.equal(starts('Europe/Vienna', 'hour', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z').length, 25)
})
