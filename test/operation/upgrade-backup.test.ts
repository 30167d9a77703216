import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { bareEnvironment, serviceFolder } from '../support/service.ts'

const BACKUP = new URL('../../scripts/upgrade/backup.ts', import.meta.url).href

test('an upgrade goes on after a backup in which only files are missing, and not after one that failed', (t) => {
  const folder = serviceFolder(t)
  const upgradeAfter = (status: number, place = 'file:/mnt/backup') => {
    const scripts = { backup: `node -e "process.exit(${status})"` }
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ scripts }))
    const script = `import { backUp } from '${BACKUP}'; backUp()`
    return spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: folder,
      env: { ...bareEnvironment(), BACKUP_URL: place },
      encoding: 'utf8',
    })
  }
  assert.equal(upgradeAfter(0).status, 0)
  const without = upgradeAfter(3)
  assert.equal(without.status, 0, without.stderr)
  assert.match(without.stdout, /^The database is in the backup\./m)
  assert.match(upgradeAfter(1, 'none').stdout, /^BACKUP_URL is none: there is NO BACKUP from before this upgrade\.$/m)
  for (const status of [1, 2])
    assert.match(upgradeAfter(status).stderr, /The backup failed, see above: nothing was changed\./)
})
