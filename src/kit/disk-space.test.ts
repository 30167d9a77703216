import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import os from 'node:os'
import { test } from 'node:test'
import { OutOfTime } from './time.ts'
import { diskSpaceOf } from './disk-space.ts'

test('a disk that does not answer is asked once, however many ask, and again after its answer', async (t) => {
  const answer = Promise.withResolvers<void>()
  const real = fs.stat
  const stat = t.mock.method(fs, 'stat', async (folder: string) => {
    await answer.promise
    return real(folder)
  })
  for (let n = 0; n < 5; n++) await assert.rejects(diskSpaceOf(os.tmpdir(), 5), OutOfTime)
  assert.equal(stat.mock.callCount(), 1)
  answer.resolve()
  const space = await diskSpaceOf(os.tmpdir())
  assert(space.freeBytes > 0 && space.freeBytes <= space.sizeBytes)
  await diskSpaceOf(os.tmpdir())
  assert.equal(stat.mock.callCount(), 2)
})

test('the space of a missing folder is an error, each time', async () => {
  for (let n = 0; n < 2; n++) await assert.rejects(diskSpaceOf(`${os.tmpdir()}/till-none`), { code: 'ENOENT' })
})
