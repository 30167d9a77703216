import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { endGap, gapOf, makeWalFolder } from './gap.ts'

test('the folder of the log is never there without its mark, whenever the process that makes it is killed', (t) => {
  const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'till-gap-'))
  t.after(() => fs.rmSync(parent, { recursive: true }))
  const folder = path.join(parent, 'postgres', 'wal')
  for (const step of ['writeFileSync', 'renameSync'] as const) {
    const killed = t.mock.method(fs, step, () => {
      throw new Error('killed')
    })
    assert.throws(() => makeWalFolder(folder), /killed/)
    killed.mock.restore()
    assert.equal(fs.existsSync(folder), false, step)
  }
  makeWalFolder(folder)
  assert.notEqual(gapOf(folder), undefined)
  assert.deepEqual(fs.readdirSync(path.dirname(folder)), ['wal'])
  // it stays as it is, because the next start has no gap
  endGap(folder)
  makeWalFolder(folder)
  assert.equal(gapOf(folder), undefined)
})
