import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { openVault } from '../kit/vault/vault.ts'
import { baseData, baseManifest, fileName, walName } from './names.ts'
import { keptBases, prune, readBases } from './retention.ts'

const DAY_MS = 86_400_000
const KEY = 'a key of the tests that is long enough'
const NOW = Date.parse('2026-11-23T03:00:00Z')
const segment = (position: number, timeline = 1) =>
  `${String(timeline).padStart(8, '0')}${position.toString(16).toUpperCase().padStart(16, '0')}`
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

test('of a day with restores the newest backup of each timeline stays, and the days still count once each', () => {
  const hoursLater = (day: number, hours: number, timeline: number) => {
    const base = of(day - hours / 24)
    return {
      ...base,
      id: `${day}+${hours}`,
      firstSegment: segment(Number.parseInt(base.firstSegment.slice(8), 16), timeline),
    }
  }
  const nights = Array.from({ length: 10 }, (_, day) => of(2 + day))
  const since = [hoursLater(2, 9, 2), hoursLater(2, 10, 2), hoursLater(2, 11, 3), hoursLater(1, 0, 3)]
  const { daily } = keptBases([...nights, ...since], new Date(NOW))
  assert.deepEqual(daily.map(({ id }) => id), ['1+0', '2+11', '2+10', '2', '3', '4', '5', '6', '7']) // oxfmt-ignore
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

/** A place with nightly copies of these ages in days, oldest last, two segments of the log for each, and one file that only it has. */
async function placeWith(t: TestContext, days: readonly number[]) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-place-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  const vault = openVault({ folder }, [KEY])
  const put = (name: string) => vault.put(name, Readable.from([Buffer.from(name)]))
  for (const day of days) {
    const base = of(day)
    const lastSegment = segment(Number.parseInt(base.firstSegment.slice(8), 16) + 1)
    for (const name of [base.firstSegment, lastSegment]) await put(walName('first', name))
    for (const name of [baseData(base.id), fileName(`of-${day}`)]) await put(name)
    await vault.putJson(baseManifest(base.id), { ...base, lastSegment, files: ['shared', `of-${day}`] })
  }
  await put(fileName('shared'))
  return { folder, vault, put }
}

test('pruning leaves each kept copy with its data, its files and its part of the log, and all of the log since the oldest daily one', async (t) => {
  const { vault, put } = await placeWith(t, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  const segmentsOf = (day: number) => [0, 1].map((more) => segment((1000 - day) * 100 + more))
  const stray = segment((1000 - 8) * 100 + 50)
  const lately = segment((1000 - 6) * 100 + 50)
  // not of any copy: a file that was uploaded since, the log of a cluster whose first copy is on its way, and a name of a timeline
  const others = [fileName('new'), walName('second', segment(1)), walName('first', '00000002.history')]
  for (const name of [walName('first', stray), walName('first', lately), ...others]) await put(name)
  await prune(vault, new Date(NOW))
  const days = [0, 1, 2, 3, 4, 5, 6, 8]
  assert.deepEqual(
    await vault.list(''),
    [
      ...days.flatMap((day) => [baseData(`${day}`), baseManifest(`${day}`), fileName(`of-${day}`)]),
      ...[...days.flatMap(segmentsOf), lately].map((name) => walName('first', name)),
      fileName('shared'),
      ...others,
    ].sort(),
  )
})

test('after a restore to an earlier moment, a file that only the state before it has stays as long as the log that leads there', async (t) => {
  const { vault, put } = await placeWith(t, [2, 3])
  // nine hours after the night's copy the service went back to before the file of that copy, and made another one
  const position = Number.parseInt(of(2).firstSegment.slice(8), 16) + 1
  const restored = {
    ...of(2 - 9 / 24),
    files: ['shared'],
    firstSegment: segment(position, 2),
    lastSegment: segment(position, 2),
  }
  for (const name of [walName('first', restored.firstSegment), baseData(restored.id)]) await put(name)
  await vault.putJson(baseManifest(restored.id), restored)
  await prune(vault, new Date(NOW))
  const left = await vault.list('')
  for (const name of [baseManifest('2'), fileName('of-2'), walName('first', of(2).firstSegment)])
    assert(left.includes(name), name)
})

test('a copy that is being made stays without a manifest for two days, and what a killed backup left goes then', async (t) => {
  const { vault, put } = await placeWith(t, [0])
  const [young, old] = ['20261121T040000Z-abcdef', '20261121T020000Z-abcdef']
  for (const id of [young, old]) await put(baseData(id))
  await prune(vault, new Date(NOW))
  const left = (await vault.list('base/')).map((name) => name.split('/')[1])
  assert.deepEqual(left, ['0', '0', young])
})

test('beside a damaged manifest old copies go, and nothing that it can need: its own data, the log, the files', async (t) => {
  const { folder, vault, put } = await placeWith(t, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  const manifest = path.join(folder, ...baseManifest('7').split('/'))
  const whole = fs.readFileSync(manifest)
  // one that knows of no file of its own
  const { firstSegment: lastSegment } = of(9.5)
  await vault.putJson(baseManifest('9.5'), { ...of(9.5), lastSegment, files: ['shared'] })
  await put(baseData('9.5'))
  const [log, files] = [await vault.list('wal/'), await vault.list(fileName(''))]
  for (const damaged of [whole.subarray(0, 20), whole.subarray(0, -1), Buffer.alloc(whole.length), Buffer.alloc(0)]) {
    fs.writeFileSync(manifest, damaged)
    const { damaged: named } = await prune(vault, new Date(NOW))
    assert.deepEqual(named, ['7'])
    const left = new Set((await vault.list('base/')).map((name) => name.split('/')[1]))
    // 9 alone knows of its file, which the damaged copy can have too
    assert.deepEqual([...left], ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    assert.deepEqual([await vault.list('wal/'), await vault.list(fileName(''))], [log, files])
  }
  await vault.remove(baseManifest('7'))
  await prune(vault, new Date(NOW))
  assert.deepEqual((await readBases(vault)).map(({ id }) => id), ['8', '6', '5', '4', '3', '2', '1', '0']) // oxfmt-ignore
  const left = await vault.list('')
  for (const name of [fileName('of-9'), baseData('7'), walName('first', of(7).firstSegment)])
    assert(!left.includes(name), name)
})

test('a manifest of another key hides no copy from the retention: nothing goes', async (t) => {
  const { folder, vault } = await placeWith(t, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  await openVault({ folder }, ['another key of the tests, long enough']).putJson(baseManifest('7'), of(7))
  const before = await vault.list('')
  await assert.rejects(prune(vault, new Date(NOW)), { problem: 'other_key' })
  assert.deepEqual(await vault.list(''), before)
})

test('wherever a pruning is cut off, every copy that looks complete is whole', async (t) => {
  const { folder: whole } = await placeWith(t, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  for (let most = 0; ; most++) {
    const folder = `${whole}-${most}`
    t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
    fs.cpSync(whole, folder, { recursive: true })
    const vault = openVault({ folder }, [KEY])
    let removals = 0
    const cut = {
      ...vault,
      remove: (name: string) => (removals++ < most ? vault.remove(name) : Promise.reject(new Error('cut off'))),
    }
    const ended = await prune(cut, new Date(NOW)).catch(({ message }: Error) => assert.equal(message, 'cut off'))
    const there = new Set(await vault.list(''))
    for (const { id, firstSegment, lastSegment, files } of await readBases(vault)) {
      const log = [firstSegment, lastSegment].map((name) => walName('first', name))
      for (const name of [baseData(id), ...log, ...files.map(fileName)])
        assert(there.has(name), `${name} of the copy ${id} is gone after ${most} removals`)
    }
    if (!ended) continue
    assert.equal(ended.removed, most)
    assert.deepEqual(await prune(vault, new Date(NOW)), { removed: 0, damaged: [] })
    return
  }
})
