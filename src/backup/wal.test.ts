import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { gapOf } from '../kit/embedded/gap.ts'
import { openVault } from '../kit/vault/vault.ts'
import { IDENTITY } from './names.ts'
import { BackupGone, OtherBackup } from './place.ts'
import { sendWal } from './wal.ts'

const OURS = 'an installation'
const KEY = 'a key of the tests that is long enough'
const SEGMENTS = ['000000010000000000000007', '000000010000000000000008']

const wal = (folder: string) => ({ folder, cluster: '7', installation: OURS })

/** A folder with waiting segments, and a place. */
async function waiting(t: TestContext) {
  const [folder, place] = ['wal', 'place'].map((name) => fs.mkdtempSync(path.join(os.tmpdir(), `till-${name}-`))) as [
    string,
    string,
  ]
  t.after(() => [folder, place].forEach((one) => fs.rmSync(one, { recursive: true, force: true })))
  SEGMENTS.forEach((name, at) => fs.writeFileSync(path.join(folder, name), Buffer.alloc(100_000, at + 1)))
  const vault = openVault({ folder: place }, [KEY])
  await vault.putJson(IDENTITY, { installation: OURS })
  return { folder, place, vault }
}

test('a segment is sent once, also after a kill before its removal; other bytes of the same name are refused', async (t) => {
  const { folder, place, vault } = await waiting(t)
  const [first = ''] = SEGMENTS
  const file = path.join(folder, first)
  const bytes = fs.readFileSync(file)
  assert.deepEqual(await sendWal(wal(folder), vault), { sent: 2, dropped: 0 })
  assert.deepEqual(fs.readdirSync(folder), [])
  const stored = fs.readFileSync(path.join(place, 'wal', '7', first))
  fs.writeFileSync(file, bytes)
  assert.deepEqual(await sendWal(wal(folder), vault), { sent: 1, dropped: 0 })
  for (const other of [Buffer.alloc(100_000, 9), Buffer.alloc(100_001, 1), Buffer.alloc(99_999, 1)]) {
    fs.writeFileSync(file, other)
    await assert.rejects(sendWal(wal(folder), vault), ({ cause }: Error) =>
      /a copy of this service sends its log to the same place/.test((cause as Error).message),
    )
    assert(fs.existsSync(file), 'it is not lost')
  }
  assert(stored.equals(fs.readFileSync(path.join(place, 'wal', '7', first))), 'what was stored stays')
})

test('while the place is away segments wait, unless the disk is nearly full: then they go, and the gap is noted', async (t) => {
  const { folder, place, vault } = await waiting(t)
  fs.rmSync(place, { recursive: true })
  fs.writeFileSync(place, 'no folder')
  await assert.rejects(sendWal(wal(folder), vault, { leastFreeBytes: 0 }))
  assert.deepEqual(fs.readdirSync(folder), SEGMENTS)
  assert.equal(gapOf(folder), undefined)
  await assert.rejects(sendWal(wal(folder), vault, { leastFreeBytes: 0, mostWaitingBytes: 150_000 }), {
    dropped: 1,
  })
  assert.notEqual(gapOf(folder), undefined)
  await assert.rejects(sendWal(wal(folder), vault, { leastFreeBytes: Number.MAX_SAFE_INTEGER }), {
    dropped: 1,
  })
  assert.deepEqual(fs.readdirSync(folder), ['gap'])
})

test('a place that was not reached since the start, and one that is empty, get nothing, and the disk does not fill', async (t) => {
  const { folder, place, vault } = await waiting(t)
  const begin = () => Promise.reject(new Error('away'))
  await assert.rejects(sendWal(wal(folder), vault, { begin, leastFreeBytes: 0, mostWaitingBytes: 150_000 }), {
    dropped: 1,
  })
  const left = fs.readdirSync(folder)
  fs.rmSync(path.join(place, IDENTITY))
  await assert.rejects(
    sendWal(wal(folder), vault, { leastFreeBytes: 0 }),
    ({ cause }: Error) => cause instanceof BackupGone,
  )
  await vault.putJson(IDENTITY, { installation: 'another one' })
  await assert.rejects(
    sendWal(wal(folder), vault, { leastFreeBytes: 0 }),
    ({ cause }: Error) => cause instanceof OtherBackup,
  )
  assert.deepEqual(fs.readdirSync(folder), left)
  assert.deepEqual(fs.readdirSync(place), [IDENTITY])
})
