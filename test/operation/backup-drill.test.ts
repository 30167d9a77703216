import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { drill } from '../../src/backup/drill.ts'
import { openVault } from '../../src/kit/vault/vault.ts'
import { BACKUP_KEY } from '../support/backups.ts'
import { temporaryFolder } from '../support/shop.ts'

test('a drill that finds no room has removed what a killed one left, which can be the room that it needs', async (t) => {
  const [place, parent] = [await temporaryFolder(t), await temporaryFolder(t)]
  const vault = openVault({ folder: place }, [BACKUP_KEY])
  const at = new Date().toISOString()
  // no disk has room for this base
  await vault.putJson('base/b1/manifest', {
    id: 'b1',
    cluster: '1',
    firstSegment: '0'.repeat(24),
    startedAt: at,
    bytes: 1e18,
  })
  const left = path.join(parent, 'till-drill-killed')
  fs.mkdirSync(left)
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
  fs.utimesSync(left, twoDaysAgo, twoDaysAgo)
  await assert.rejects(drill({ vault, secrets: [], parent }), /has no room for a drill/)
  assert.deepEqual(fs.readdirSync(parent), [])
})
