import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { sql } from 'kysely'
import { IDENTITY, fileName } from '../../src/backup/names.ts'
import { registerBackup } from '../../src/backup/register.ts'
import { ownInstallation } from '../../src/backup/place.ts'
import type { EmbeddedPostgres } from '../../src/kit/embedded.ts'
import type { Jobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { openStorage } from '../../src/kit/storage/open.ts'
import type { Storage } from '../../src/kit/storage/storage.ts'
import { openVault } from '../../src/kit/vault/vault.ts'
import { BACKUP_KEY } from '../support/backups.ts'
import { startS3Server } from '../stand-ins/s3-server.ts'
import { query } from '../stand-ins/processor.ts'
import { type Ends, type TestShop, startTestShop, temporaryFolder } from '../support/shop.ts'

// The job that copies new files, which the clock starts each minute. Here the test does.

/** The job on a shop whose storage the test has in its hand. */
async function minuteJob(t: Ends, shop: TestShop, storage: Storage) {
  const [folder, dataDir, walFolder] = [await temporaryFolder(t), await temporaryFolder(t), await temporaryFolder(t)]
  fs.mkdirSync(path.join(dataDir, 'global'))
  fs.mkdirSync(path.join(dataDir, 'pg_wal'))
  fs.writeFileSync(path.join(dataDir, 'global', 'pg_control'), Buffer.alloc(8, 1))
  const handlers = new Map<string, () => Promise<void>>()
  const jobs = {
    add: async () => {},
    on: async () => {},
    every: async (_: string, queue: string, handler: () => Promise<void>) => void handlers.set(queue, handler),
  }
  const backup = await registerBackup({
    db: shop.db,
    jobs: jobs as unknown as Jobs,
    storage,
    embedded: { dataDir, walFolder } as EmbeddedPostgres,
    config: { backup: { place: { folder }, keys: [BACKUP_KEY] }, operators: [] },
    mailer: Object.assign(() => assert.fail('no mail'), { atOnce: 1, outcomes: () => [], close: () => {} }),
    appUrl: 'http://shop.test',
    log: newLog('silent'),
  })
  t.after(() => backup.stop())
  const run = handlers.get('backup_files')!
  return { run, backup, walFolder, vault: openVault({ folder }, [BACKUP_KEY]) }
}

const keysOf = async (shop: TestShop): Promise<string[]> =>
  (await query<{ id: string }>(shop.db, sql`select id from files order by id`)).map(({ id }) => id)

test('while one copy of new files goes on, the next minutes begin no other one; after it, a new file is copied', async (t) => {
  const shop = await startTestShop(t)
  await shop.product()
  const reads: string[] = []
  const [reached, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const disk = await openStorage(shop.config)
  const { run, vault } = await minuteJob(t, shop, {
    ...disk,
    async read(key, part) {
      // a second copy would read the first file again
      if (reads.includes(key)) mayGoOn.resolve()
      reads.push(key)
      reached.resolve()
      await mayGoOn.promise
      return disk.read(key, part)
    },
  })
  const first = run()
  await reached.promise
  await run()
  assert.equal(reads.length, 1)
  mayGoOn.resolve()
  await first
  await shop.product()
  await run()
  const keys = await keysOf(shop)
  assert.deepEqual(reads.toSorted(), keys)
  assert.deepEqual(await vault.list('files/'), keys.map((key) => `files/${key}`)) // oxfmt-ignore
})

test('a file that the storage has lost fails the minute that finds it, by name, and the others are copied', async (t) => {
  const shop = await startTestShop(t)
  await shop.product()
  await shop.product()
  const [gone = '', ...others] = await keysOf(shop)
  assert(others.length > 0)
  const disk = await openStorage(shop.config)
  const { run, vault } = await minuteJob(t, shop, disk)
  await disk.remove(gone)
  await assert.rejects(run(), { message: `the storage does not have these files, or has other bytes: ${gone}` })
  assert.deepEqual(await vault.list('files/'), others.map((key) => `files/${key}`)) // oxfmt-ignore
  // the nightly backup looks for it again, and not each minute
  await run()
})

test('a file that cannot be copied now keeps no other file out of the backup, and its turn comes again', async (t) => {
  const s3 = await startS3Server(t)
  const shop = await startTestShop(t, { env: s3.env })
  for (let times = 0; times < 3; times++) await shop.product()
  const keys = await keysOf(shop)
  const { run, vault } = await minuteJob(t, shop, await openStorage(shop.config))
  const bytes = s3.objects.get(keys[0]!)!
  s3.objects.delete(keys[0]!)
  // the bucket refuses to say that it is missing
  s3.weather.unlisted = true
  await assert.rejects(run(), ({ $metadata }) => $metadata.httpStatusCode === 403)
  assert.deepEqual(await vault.list('files/'), keys.slice(1).map(fileName))
  s3.objects.set(keys[0]!, bytes)
  // a place that takes the bytes slowly lets the bucket end its answer early
  Object.assign(s3.weather, { cuts: 1, cutAfterBytes: 2 })
  await run()
  assert.equal(s3.weather.cuts, 0)
  assert.deepEqual(await vault.list('files/'), keys.map(fileName))
  assert.deepEqual(await buffer((await vault.read(fileName(keys[0]!)))!), bytes)
})

test('a service that ends before it was at the place sends no part of its log without the history', async (t) => {
  const shop = await startTestShop(t)
  const { backup, vault, walFolder } = await minuteJob(t, shop, await openStorage(shop.config))
  await vault.putJson(IDENTITY, { installation: await ownInstallation(shop.db) })
  const segment = path.join(walFolder, '000000020000000000000007')
  fs.writeFileSync(segment, 'the log of a restored database')
  await backup.sendLast()
  assert.deepEqual(await vault.list('wal/'), [])
  assert(fs.existsSync(segment), 'it waits for the next start')
})
