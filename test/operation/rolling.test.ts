import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bareEnvironment } from '../support/service.ts'

const ROLLING = fileURLToPath(new URL('../../drills/rolling.ts', import.meta.url))

test('no checkout fails while two instances of the previous release are replaced by this one', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [ROLLING, '--rate=4'], {
    encoding: 'utf8',
    env: bareEnvironment(),
  })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  assert.match(stderr, /from \S+, whose pages are built|there is no history here/)
  assert.equal(stderr.match(/both versions answer/g)?.length, 2)
  for (const row of [
    /^buyers who have paid +(\d+) +≥ \1 +ok/m,
    /^requests that were lost with an instance +0 +≤ 0 +ok/m,
    /^orders that were charged more than once +0 +≤ 0 +ok/m,
    /^paid orders without exactly one receipt +0 +≤ 0 +ok/m,
    /^Reconciled: /m,
  ])
    assert.match(stdout, row)
})
