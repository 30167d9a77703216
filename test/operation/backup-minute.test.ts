import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { sql } from 'kysely'
import { bringFilesBack, knownKeys } from '../../src/backup/files.ts'
import { IDENTITY, fileName } from '../../src/backup/names.ts'
import { registerBackup } from '../../src/backup/register.ts'
import { claimPlace, ownInstallation } from '../../src/backup/place.ts'
import { type Processes, ownProcesses } from '../../src/backup/processes.ts'
import { lastRuns, noteRun } from '../../src/backup/runs.ts'
import type { EmbeddedPostgres } from '../../src/kit/embedded.ts'
import { gapOf, markGap } from '../../src/kit/embedded/gap.ts'
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
async function minuteJob(t: Ends, shop: TestShop, storage: Storage, processes?: Processes) {
  const [folder, dataDir, walFolder] = [await temporaryFolder(t), await temporaryFolder(t), await temporaryFolder(t)]
  fs.mkdirSync(path.join(dataDir, 'global'))
  fs.mkdirSync(path.join(dataDir, 'pg_wal'))
  fs.writeFileSync(path.join(dataDir, 'global', 'pg_control'), Buffer.alloc(8, 1))
  const handlers = new Map<string, (data?: object) => Promise<void>>()
  const added: { queue: string; data: object }[] = []
  const jobs = {
    add: async (_: unknown, queue: string, [{ data }]: [{ data: object }]) => void added.push({ queue, data }),
    on: async (queue: string, _: object, handler: () => Promise<void>) => void handlers.set(queue, handler),
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
    // no segment leaves during a test
    sendEveryMs: 3_600_000,
    ...(processes && { processes }),
  })
  t.after(() => backup.stop())
  const [run, runDrill, runBackup] = ['backup_files', 'backup_drill', 'backup'].map((queue) => handlers.get(queue)!) as [() => Promise<void>, () => Promise<void>, (data: object) => Promise<void>] // oxfmt-ignore
  return { run, runDrill, runBackup, added, backup, walFolder, vault: openVault({ folder }, [BACKUP_KEY]) }
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

test('an emptied place that the operator calls new has a gap until a backup ends, and a place that is kept has none', async (t) => {
  const shop = await startTestShop(t)
  const { run, vault, walFolder } = await minuteJob(t, shop, await openStorage(shop.config))
  await run()
  await claimPlace(shop.db, vault, walFolder, { isNew: true })
  assert.equal(gapOf(walFolder), undefined)
  await vault.remove(IDENTITY)
  await claimPlace(shop.db, vault, walFolder, { isNew: true })
  assert.notEqual(gapOf(walFolder), undefined)
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

test('a backup that ends after its copy of the database is not repeated, and is not complete', async (t) => {
  const shop = await startTestShop(t)
  const isCopied = [false, true]
  const processes = {
    async run() {
      if (isCopied.shift()) await noteRun(shop.db, { kind: 'base', startedAt: new Date() })
      return { status: null, lastLine: 'The process was killed.' }
    },
    stop: () => {},
  }
  const { runBackup } = await minuteJob(t, shop, await openStorage(shop.config), processes)
  await assert.rejects(runBackup({ fast: true }), { message: 'The process was killed.' })
  await runBackup({ fast: true })
  const [last] = await lastRuns(shop.db)
  assert.match(last!.problem!, /^the backup is not complete: .* The process was killed\.$/)
})

test('while the log has a gap and another backup is under way, the service comes back to it, and only as long as the gap is there', async (t) => {
  const shop = await startTestShop(t)
  let runs = 0
  const processes = { run: async () => ({ status: runs++ < 2 ? 2 : 0, lastLine: '' }), stop: () => {} }
  const { runBackup, added, walFolder } = await minuteJob(t, shop, await openStorage(shop.config), processes)
  added.length = 0
  await runBackup({ fast: true })
  assert.deepEqual(added, [])
  markGap(walFolder)
  await runBackup({ fast: true })
  const { data } = added[0]!
  fs.rmSync(path.join(walFolder, 'gap'))
  await runBackup(data)
  assert.deepEqual([runs, added.length], [2, 1])
})

test('of several starts before the first copy is complete, only one makes a copy', async (t) => {
  const shop = await startTestShop(t)
  let runs = 0
  const processes = {
    async run() {
      runs++
      await noteRun(shop.db, { kind: 'base', startedAt: new Date() })
      return { status: 0, lastLine: '' }
    },
    stop: () => {},
  }
  const { runBackup, added, walFolder } = await minuteJob(t, shop, await openStorage(shop.config), processes)
  const [{ queue, data }] = added as [{ queue: string; data: object }]
  assert.equal(queue, 'backup')
  for (let starts = 0; starts < 3; starts++) await runBackup(data)
  assert.equal(runs, 1)
  markGap(walFolder)
  await runBackup(data)
  assert.equal(runs, 2)
})

test('a drill that outlasts its job is not begun a second time beside itself, and the next one is', async (t) => {
  const shop = await startTestShop(t)
  const ends = Promise.withResolvers<void>()
  let runs = 0
  const processes = {
    async run() {
      runs++
      await ends.promise
      return { status: 0, lastLine: '' }
    },
    stop: () => {},
  }
  const { runDrill } = await minuteJob(t, shop, await openStorage(shop.config), processes)
  const tries = [runDrill(), runDrill()]
  assert.equal(runs, 1)
  ends.resolve()
  await Promise.all(tries)
  await runDrill()
  assert.equal(runs, 2)
})

test('a damaged file of the storage leaves the copy that the backup has as it is, and is named', async (t) => {
  const shop = await startTestShop(t)
  await shop.product()
  const [key = ''] = await keysOf(shop)
  const disk = await openStorage(shop.config)
  const { run, vault } = await minuteJob(t, shop, disk)
  await run()
  const whole = await buffer((await vault.read(fileName(key)))!)
  // as after a restore to a moment before the copy
  await sql`delete from backup_files`.execute(shop.db)
  await disk.put(key, Readable.from([Buffer.alloc(whole.length)]))
  await assert.rejects(run(), { message: `the storage does not have these files, or has other bytes: ${key}` })
  assert((await buffer((await vault.read(fileName(key)))!)).equals(whole))
  assert((await knownKeys(shop.db)).includes(key), 'a later copy of the database names it, so the clean-up leaves it')
})

test('a program of the backup that takes too long is ended', async () => {
  const { status } = await ownProcesses(1).run('backup')
  assert.equal(status, null)
})

test('files and pictures that come after a copy of the database belong to it, and a restore brings them back or names them', async (t) => {
  const shop = await startTestShop(t)
  await shop.product()
  await sql`insert into images (id, product_id) select ${`img_${'a'.repeat(26)}`}, id from products limit 1`.execute(
    shop.db,
  )
  const keys = await knownKeys(shop.db)
  assert(keys.some((key) => key.startsWith('file_')) && keys.some((key) => key.includes('img_')), String(keys))
  const { vault } = await minuteJob(t, shop, await openStorage(shop.config))
  assert.deepEqual((await bringFilesBack(shop.db, await openStorage({ storageDir: await temporaryFolder(t) }), vault)).missing, keys) // oxfmt-ignore
  for (const key of keys.filter((one) => one.includes('img_')))
    await vault.put(fileName(key), Readable.from(['a picture']))
  const back = await bringFilesBack(shop.db, await openStorage({ storageDir: await temporaryFolder(t) }), vault)
  assert.deepEqual(back.missing, keys.filter((one) => one.startsWith('file_'))) // oxfmt-ignore
  assert(back.copied > 0)
})
