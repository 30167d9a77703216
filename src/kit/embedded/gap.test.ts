import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { endGap, gapOf, makeWalFolder, markGap } from './gap.ts'

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

test('a gap is marked anew where another account has made the mark', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-gap-'))
  const mark = path.join(folder, 'gap')
  fs.writeFileSync(mark, '', { mode: 0o444 })
  fs.utimesSync(mark, 1, 1)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) fs.chownSync(folder, 65_534, 65_534)
  if (isRoot) process.seteuid!(65_534)
  t.after(() => {
    if (isRoot) process.seteuid!(0)
    fs.rmSync(folder, { recursive: true })
  })
  markGap(folder)
  assert.notEqual(gapOf(folder), 1000)
  assert.deepEqual(fs.readdirSync(folder), ['gap'])
})
