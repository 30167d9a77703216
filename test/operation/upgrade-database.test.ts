import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { copyDatabase } from '../../scripts/upgrade-database/copy.ts'
import { bringUp } from '../../scripts/upgrade-database/schema.ts'
import { startEmbedded } from '../../src/kit/embedded.ts'
import { packagedMajor, packagedPrograms } from '../../src/kit/embedded/place.ts'
import { atEnd } from '../support/ends.ts'
import { bareEnvironment, serviceFolder, startService } from '../support/service.ts'
import { type Ends, SECRET, startTestShop } from '../support/shop.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const SCHEMA = path.join(ROOT, 'schema')

test('a copy has every row and goes on where the sequences stand, and a service sells with it', async (t) => {
  const [old, fresh] = [await cluster(t), await cluster(t)]
  await bringUp(old.url, SCHEMA)
  const shop = await startTestShop(t, { databaseUrl: old.url })
  const { orderId } = await shop.paid()
  await shop.checkout()
  await shop.close()

  await bringUp(fresh.url, SCHEMA)
  const { tables, rows } = await copyDatabase(old, fresh)
  assert(tables > 30 && rows > 20, `${tables} tables, ${rows} rows`)
  // another copy takes the place of the first
  assert.deepEqual(await copyDatabase(old, fresh), { tables, rows })
  const events = 'select max(id)::int as last from order_events'
  assert.deepEqual(await query(fresh.url, events), await query(old.url, events))

  const second = await startTestShop(t, { databaseUrl: fresh.url })
  assert.equal((await second.status(orderId, 'bob@example.com')).paid, true)
  await second.paid()
})

test('a table that this release does not have stops the copy, and leaves it empty', async (t) => {
  const [old, fresh] = [await cluster(t), await cluster(t)]
  for (const { url } of [old, fresh]) await bringUp(url, SCHEMA)
  await query(old.url, `insert into limits (key, count, until) values ('a', 1, now())`)
  await query(old.url, 'create table of_another_release (n integer)')
  await assert.rejects(copyDatabase(old, fresh), /This release has no table for of_another_release \(n\)/)
  assert.deepEqual(await query(fresh.url, 'select * from limits'), [])
})

test('the command: killed before its last step it does that first, beside a running service it is refused, and then nothing is to do', async (t) => {
  const dataDir = serviceFolder(t)
  const service = await startService(t, dataDir)
  const { orderId } = (await service.checkout()).body
  const home = path.join(dataDir, 'postgres')
  assert.match(
    upgradeDatabase(dataDir).out,
    new RegExp(`^The database is of PostgreSQL ${packagedMajor()}, as it should be\\.$`, 'm'),
  )
  await service.kill()
  await startEmbedded({ dir: home, name: 'till' }).then((server) => server.stop())

  fs.mkdirSync(path.join(home, 'upgraded'))
  fs.renameSync(path.join(home, 'data'), path.join(home, 'upgraded', 'data'))
  fs.writeFileSync(path.join(home, 'upgraded', 'complete'), '17')
  const { status, out } = upgradeDatabase(dataDir)
  assert.equal(status, 0, out)
  assert.match(
    out,
    /^Done: start the service\. The former data are kept in \S+data-17: remove them when all is well\.$/m,
  )
  // killed after both renames: the log that is there is that of the new database
  fs.mkdirSync(path.join(home, 'upgraded'))
  fs.writeFileSync(path.join(home, 'upgraded', 'complete'), '17')
  fs.mkdirSync(path.join(home, 'wal'))
  assert.equal(upgradeDatabase(dataDir).status, 0)
  assert(fs.existsSync(path.join(home, 'wal')))
  const again = await startService(t, dataDir)
  assert.equal((await again.status(orderId)).status, 200)

  fs.writeFileSync(path.join(home, 'data', 'PG_VERSION'), '17\n')
  const nowhere = path.join(ROOT, 'nowhere')
  // an earlier call has failed before its first rename, and the service has sold on
  fs.mkdirSync(path.join(home, 'upgraded', 'data'), { recursive: true })
  fs.writeFileSync(path.join(home, 'upgraded', 'complete'), '17')
  assert.match(upgradeDatabase(dataDir, '--programs', nowhere).out, /nowhere has no programs of PostgreSQL\.$/m)
  assert.match(
    upgradeDatabase(dataDir, '--programs', packagedPrograms()).out,
    /is in use by another process \(\d+\): stop that one/,
  )
  assert(fs.existsSync(path.join(home, 'data', 'postmaster.pid')), 'its data are in their place')
  fs.mkdirSync(path.join(home, 'data-17'))
  assert.match(upgradeDatabase(dataDir).out, /data-17 is there already, from an earlier upgrade: remove it/)
  fs.writeFileSync(path.join(home, 'data', 'PG_VERSION'), '7\n')
  assert.match(
    upgradeDatabase(dataDir).out,
    /^The database was made by PostgreSQL 7, from which this release cannot upgrade\.$/m,
  )
  assert.match(upgradeDatabase(dataDir, '--elsewhere').out, /--elsewhere/)
  assert.match(upgradeDatabase(serviceFolder(t)).out, /^There is no database in /m)
})

const cluster = async (t: Ends) => {
  const server = await startEmbedded({ dir: serviceFolder(t), name: 'till', fast: true })
  atEnd(t, () => server.stop())
  return server
}

function upgradeDatabase(dataDir: string, ...args: string[]) {
  const env = { ...bareEnvironment(), DATA_DIR: dataDir, SECRET }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/upgrade-database.ts', ...args], { cwd: ROOT, env, encoding: 'utf8' }) // oxfmt-ignore
  return { status, out: stdout + stderr }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return (await client.query(text).finally(() => client.end())).rows
}
