import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { makeBase } from '../../src/backup/base.ts'
import { prune, readBases } from '../../src/backup/retention.ts'
import { sendWal } from '../../src/backup/wal.ts'
import { findRunning } from '../../src/kit/embedded.ts'
import { clusterId } from '../../src/kit/embedded/cluster.ts'
import { type Vault, openVault } from '../../src/kit/vault/vault.ts'
import { BACKUP_KEY, backUp, buy, runScript } from '../support/backups.ts'
import { serviceFolder, startService } from '../support/service.ts'
import { SECRET, eventually, startedOnce } from '../support/shop.ts'

// The copies in the place of one running service: which there are.

const started = startedOnce(async (t) => {
  const [place, dataDir] = [serviceFolder(t), serviceFolder(t)]
  const env = { SECRET, BACKUP_KEY, BACKUP_URL: `file:${place}`, DATA_DIR: dataDir }
  const service = await startService(t, dataDir, env)
  await buy(service)
  // the service makes its first backup by itself
  await eventually(
    () => ask(dataDir, `select from pgboss.job where name = 'backup' and state < 'completed'`),
    (jobs) => jobs.length === 0,
  )
  return { t, env, service, dataDir, place, vault: openVault({ folder: place }, [BACKUP_KEY]) }
})

const running = (dataDir: string) => findRunning(path.join(dataDir, 'postgres'))!

/** Asks the service's database, as the superuser. */
async function ask(dataDir: string, text: string, values: unknown[] = []): Promise<any[]> {
  const client = new pg.Client({ connectionString: running(dataDir).superuserUrl })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

const idsOf = async (vault: Vault) => (await readBases(vault)).map(({ id }) => id).sort()

/** Runs the service's backup job now. Resolves when it is known how the job ended. */
async function runBackupJob(dataDir: string): Promise<string> {
  const id = randomUUID()
  await ask(dataDir, `insert into pgboss.job (id, name, data) values ($1, 'backup', '{"fast": true}')`, [id])
  await ask(dataDir, `select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'backup')`)
  const [job] = await eventually(
    () => ask(dataDir, 'select state from pgboss.job where id = $1', [id]),
    ([found]) => !['created', 'active'].includes(found?.state),
  )
  return job?.state
}

/** Begins a copy of the database that waits, all but complete, until it may go on. */
async function copyThatWaits(dataDir: string, vault: Vault) {
  const [copied, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { superuserUrl, dataDir: cluster, walFolder } = running(dataDir)
  const [{ installation }] = await ask(dataDir, 'select storage_id as installation from installation')
  const wal = { folder: walFolder, cluster: clusterId(cluster), installation }
  const base = makeBase({
    superuserUrl,
    dataDir: cluster,
    wal,
    vault,
    secrets: [SECRET],
    fast: true,
    async sendWal() {
      copied.resolve()
      await mayGoOn.promise
      return sendWal(wal, vault)
    },
  })
  await Promise.race([copied.promise, base])
  return {
    async goOn() {
      mayGoOn.resolve()
      return base
    },
  }
}

test('while one backup is made, every other one is refused, is no failure, and leaves that one alone', async () => {
  const { env, service, dataDir, place, vault } = started()
  const before = await idsOf(vault)
  const first = await copyThatWaits(dataDir, vault)
  try {
    const second = await runScript('backup', env)
    assert.deepEqual([second.status, second.err], [2, 'another backup is under way\n'], second.out)
    assert.equal(await runBackupJob(dataDir), 'completed', 'the service does not try again')
    const { body } = await service.call('GET', '/metrics')
    assert.match(body, /^till_backup_failed\{kind="backup"\} 0$/m)
    assert.deepEqual(await idsOf(vault), before)
    // a backup that has just ended removes old copies, when the next one may have begun already
    await prune(vault, new Date())
    const unfinished = fs.readdirSync(path.join(place, 'base')).filter((id) => !before.includes(id))
    assert.equal(unfinished.length, 1)
    assert.deepEqual(fs.readdirSync(path.join(place, 'base', unfinished[0]!)), ['data'])
  } finally {
    await first.goOn()
  }
  const { id } = await first.goOn()
  assert.deepEqual(await idsOf(vault), [...before, id].sort())
  await backUp(env)
  assert.equal((await idsOf(vault)).length, before.length + 2)
})
