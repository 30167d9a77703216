import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bareEnvironment } from '../support/service.ts'

const LAUNCH = fileURLToPath(new URL('../../drills/launch.ts', import.meta.url))
/** The times are limits of a launch day, and not of a busy machine. */
const PATIENT = ['--files-within=600', '--receipts-within=600']

test('each of 150 buyers pays once and has file and receipt, though the service is killed in the middle', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCH, '--buyers=150', '--seconds=3', ...PATIENT], {
    encoding: 'utf8',
    env: bareEnvironment(),
  })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  assert.match(stderr, /kill -9/)
  for (const row of [
    /^buyers who have paid +150 +≥ 150 +ok +declined 8, clicked twice 3, notifications lost 2/m,
    /^buyers who have their file, with the right bytes +150 +≥ 150 +ok/m,
    /^orders that were charged more than once +0 +≤ 0 +ok/m,
    /^paid orders without exactly one receipt +0 +≤ 0 +ok/m,
    /^npm run reconcile ends with +0 +≤ 0 +ok/m,
    /^Reconciled: /m,
  ])
    assert.match(stdout, row)
})
