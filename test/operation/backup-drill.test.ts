import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { drill } from '../../src/backup/drill.ts'
import { openVault } from '../../src/kit/vault/vault.ts'
import { findRunning } from '../../src/kit/embedded.ts'
import { BACKUP_KEY, backUp, end } from '../support/backups.ts'
import { serviceFolder, startService } from '../support/service.ts'
import { eventually, temporaryFolder } from '../support/shop.ts'

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

test('a weekly drill that a restart interrupts is done again', async (t) => {
  const [place, parent, dataDir] = [await temporaryFolder(t), await temporaryFolder(t), serviceFolder(t)]
  // the drill's PostgreSQL runs under another account when root starts it
  fs.chmodSync(parent, 0o755)
  const env = { SECRET: '', BACKUP_KEY, BACKUP_URL: `file:${place}`, TMPDIR: parent }
  const ask = async (text: string) => {
    const client = new pg.Client({ connectionString: findRunning(path.join(dataDir, 'postgres'))!.superuserUrl })
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows
  }
  const service = await startService(t, dataDir, env)
  await backUp({ ...env, DATA_DIR: dataDir })
  await ask(`insert into pgboss.job (name, retry_limit, retry_delay) select name, retry_limit, retry_delay from pgboss.queue where name = 'backup_drill'`) // oxfmt-ignore
  await ask(`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'backup_drill')`)
  await eventually(
    async () => fs.readdirSync(parent),
    (found) => found.some((name) => name.startsWith('till-drill-')),
  )
  await end(service)
  await startService(t, dataDir, env)
  const runs = await eventually(
    async () => {
      // without the pause before the next try
      await ask(`update pgboss.job set start_after = now() where name = 'backup_drill' and state = 'retry'`)
      return ask(`select problem from backup_runs where kind = 'drill'`)
    },
    (found) => found.length > 0,
  )
  assert.deepEqual(runs, [{ problem: null }])
})
