import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/support/shop.ts'
import { openVault } from '../kit/vault/vault.ts'
import { type Base, timelineName, walName } from './names.ts'
import { forksOf, isOnTheWay, positionOf, readTimelines, segmentsOfWay } from './timelines.ts'

// PostgreSQL's own text, with its empty lines and a comment
const HISTORY = `# a comment
1	0/A0000D8	before 2026-11-24 20:00:00.1+00

2	1/0	no recovery target specified
`
const segment = (timeline: number, position: number) =>
  [timeline, Math.floor(position / 256), position % 256]
    .map((part) => part.toString(16).toUpperCase().padStart(8, '0'))
    .join('')
const base = (timeline: number, first: number, last = first) =>
  ({ firstSegment: segment(timeline, first), lastSegment: segment(timeline, last) }) as Base
const third = { id: 3, forks: forksOf(HISTORY) }

test('a history says where each earlier timeline was left', () => {
  assert.deepEqual([...third.forks], [[1, 10n], [2, 256n]]) // oxfmt-ignore
  assert.deepEqual([...forksOf('')], [])
  assert.equal(positionOf(segment(7, 300)), 300n)
})

test('a copy leads to a timeline if it was complete before the timeline left its own', () => {
  for (const [one, expected] of [
    [base(1, 8, 9), true],
    [base(1, 9, 10), false],
    [base(1, 11), false],
    [base(2, 254, 255), true],
    [base(2, 300), false],
    [base(3, 300), true],
    [base(4, 1), false],
  ] as const)
    assert.equal(isOnTheWay(one, third), expected, one.firstSegment)
})

test('the way takes each place of the log from the newest timeline that has it', () => {
  const all = [segment(1, 8), segment(1, 9), segment(1, 10), segment(1, 11), segment(2, 10), segment(2, 11), segment(3, 256), segment(4, 12)] // oxfmt-ignore
  assert.deepEqual(segmentsOfWay(all, 9n, third), [segment(1, 9), segment(2, 10), segment(2, 11), segment(3, 256)])
})

test('a damaged history, or what is known of its beginning, is named, and the other timelines are whole', async (t) => {
  const folder = await temporaryFolder(t)
  const vault = openVault({ folder }, ['a key of the tests that is long enough'])
  for (const [number, beganAt] of [
    ['00000002', '2026-11-20T00:00:00.000Z'],
    ['00000003', '2026-11-24T00:00:00.000Z'],
  ] as const) {
    // oxfmt-ignore
    await vault.put(walName('first', `${number}.history`), Readable.from([Buffer.from(HISTORY)]), { compressed: true })
    await vault.putJson(timelineName('first', number), { beganAt })
  }
  const [history, begin] = [walName('first', '00000002.history'), timelineName('first', '00000003')]
  const cut = (name: string) => fs.truncateSync(path.join(folder, name), fs.statSync(path.join(folder, name)).size - 1)
  for (const name of [history, begin]) cut(name)
  const copy = { ...base(1, 8), finishedAt: '2026-11-23T03:00:00.000Z' }
  assert.deepEqual(await readTimelines(vault, 'first', [copy]), {
    timelines: [
      { id: 1, forks: new Map() },
      { id: 2, forks: new Map(), beganAt: new Date('2026-11-20T00:00:00.000Z') },
      { ...third, beganAt: new Date(copy.finishedAt) },
    ],
    damaged: [history, begin],
  })
  await openVault({ folder }, ['another key of the tests, long enough']).putJson(begin, { beganAt: copy.finishedAt })
  await assert.rejects(readTimelines(vault, 'first', [copy]), { problem: 'other_key' })
})
