import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventually, temporaryFolder } from '../../test/support/shop.ts'
import { gapOf, markGap } from '../kit/embedded/gap.ts'
import { newLog } from '../kit/log.ts'
import { keepSending } from './sending.ts'
import { keepLimits } from './wal.ts'

const SEGMENTS = ['000000010000000000000007', '000000010000000000000008', '000000010000000000000009']
const HOUR_SECONDS = 3600

/** Three segments that wait, and a place to which `send` sends them. Returns whatever the service is told to do. */
async function sending(t: TestContext, send: () => Promise<unknown>, limits: object = {}) {
  const walFolder = await temporaryFolder(t)
  for (const name of SEGMENTS) fs.writeFileSync(path.join(walFolder, name), Buffer.alloc(100_000))
  let backups = 0
  const { stop } = keepSending({
    walFolder,
    send,
    addBackup: async () => void backups++,
    log: newLog('silent'),
    everyMs: 5,
    limits: { leastFreeBytes: 0, ...limits },
  })
  return { walFolder, stop, backups: () => backups }
}

const segmentsIn = (folder: string) => fs.readdirSync(folder).filter((name) => name !== 'gap')

const until = (holds: () => boolean) =>
  eventually(
    async () => holds(),
    (isSo) => isSo,
  )

test('while a place does not answer, the oldest segments go once too many wait too long, and no second send begins', async (t) => {
  const answers = Promise.withResolvers<void>()
  let sends = 0
  const { walFolder, stop, backups } = await sending(
    t,
    () => {
      sends++
      return answers.promise
    },
    { mostWaitingBytes: 250_000 },
  )
  await until(() => sends > 0)
  // a burst of changes is no reason yet
  assert.equal(await keepLimits(walFolder, { mostWaitingBytes: 250_000, leastFreeBytes: 0 }), 0)
  const then = Date.now() / 1000 - HOUR_SECONDS
  fs.utimesSync(path.join(walFolder, SEGMENTS[0]!), then, then)
  await until(() => segmentsIn(walFolder).length < SEGMENTS.length)
  assert.deepEqual(segmentsIn(walFolder), SEGMENTS.slice(1))
  assert.notEqual(gapOf(walFolder), undefined)
  assert.deepEqual([sends, backups()], [1, 0])
  answers.resolve()
  await until(() => backups() === 1)
  await stop()
})

test('when the disk is nearly full, a place that takes its time keeps few segments waiting', async (t) => {
  const answers = Promise.withResolvers<void>()
  const { walFolder, stop } = await sending(t, () => answers.promise, {
    leastFreeBytes: Number.MAX_SAFE_INTEGER,
    onTheirWayBytes: 150_000,
  })
  await until(() => segmentsIn(walFolder).length === 1)
  assert.deepEqual(segmentsIn(walFolder), SEGMENTS.slice(2))
  answers.resolve()
  await stop()
})

test('a gap that comes while the service runs is followed by one backup', async (t) => {
  let sends = 0
  const { walFolder, stop, backups } = await sending(t, async () => sends++)
  await until(() => sends > 1)
  assert.equal(backups(), 0)
  markGap(walFolder)
  await until(() => backups() > 0)
  const before = sends
  await until(() => sends > before + 3)
  assert.equal(backups(), 1)
  await stop()
})
