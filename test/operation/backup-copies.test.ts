import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { makeBase } from '../../src/backup/base.ts'
import { baseManifest } from '../../src/backup/names.ts'
import { prune, readBases } from '../../src/backup/retention.ts'
import { sendWal } from '../../src/backup/wal.ts'
import { findRunning } from '../../src/kit/embedded.ts'
import { clusterId } from '../../src/kit/embedded/cluster.ts'
import { markGap } from '../../src/kit/embedded/gap.ts'
import { newId } from '../../src/kit/ids.ts'
import { diskPath } from '../../src/kit/storage/disk.ts'
import { type Vault, openVault } from '../../src/kit/vault/vault.ts'
import { imageKeys } from '../../src/products/images/store.ts'
import { BACKUP_KEY, backUp, buy, runScript, sendAll } from '../support/backups.ts'
import { serviceFolder, startService } from '../support/service.ts'
import { SECRET, eventually, startedOnce } from '../support/shop.ts'

// The copies in the place of one running service: which there are, what an older one brings back, and what none of them has.

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

test('a copy that was cut off makes room before the next one, and a complete one stays', async () => {
  const { dataDir, place, vault } = started()
  const complete = await idsOf(vault)
  const [left, old] = [
    `base/${new Date().toISOString().slice(0, 10).replaceAll('-', '')}T000000Z-cutoff/data`,
    'base/20261102T024000Z-cutoff/data.0a.part',
  ]
  await vault.putJson(left!, {})
  fs.mkdirSync(path.dirname(path.join(place, old!)))
  fs.writeFileSync(path.join(place, old!), '')
  fs.utimesSync(path.join(place, old!), 1, 1)
  const copy = await copyThatWaits(dataDir, vault)
  try {
    for (const name of [left, old]) assert(!fs.existsSync(path.join(place, name!)), name)
    assert.deepEqual(await idsOf(vault), complete)
  } finally {
    await copy.goOn()
  }
})

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

test('a weekly copy comes back as it was, after all but its own part of the log was removed', async () => {
  const { t, env, service, dataDir, vault } = started()
  const sold = await buy(service)
  await backUp(env)
  const weekly = (await readBases(vault)).at(-1)!
  const [{ now }] = await ask(dataDir, 'select clock_timestamp() as now')
  const later = await buy(service)
  const between = await switchSegments(dataDir, 8)
  await backUp(env)
  const newest = (await readBases(vault)).at(-1)!
  // A Saturday night. The seven daily copies are of this week and of the Sunday before it; the weekly one is of a Sunday two weeks earlier.
  await age(vault, { weekly: weekly.id, newest: newest.id })
  const dailies = [17, 18, 19, 20, 21, 22].map((day) => ({ id: `202411${day}T024000Z-daily`, day }))
  for (const [at, { id, day }] of dailies.entries()) {
    const [segment = ''] = between.slice(2 + at)
    const startedAt = `2024-11-${day}T02:40:00.000Z`
    await vault.putJson(baseManifest(id), { ...newest, id, startedAt, firstSegment: segment, lastSegment: segment })
  }
  const log = await vault.list('wal/')
  await prune(vault, new Date('2024-11-23T03:00:00Z'))

  assert.deepEqual(await idsOf(vault), [...dailies.map(({ id }) => id), weekly.id, newest.id].sort())
  const segmentOf = (name: string) => path.basename(name).slice(0, 24)
  const isKept = (segment: string) =>
    (segment >= weekly.firstSegment && segment <= weekly.lastSegment) || segment >= between[2]!
  const left = new Set(await vault.list('wal/'))
  assert.deepEqual(log.filter((name) => left.has(name)), log.filter((name) => isKept(segmentOf(name)))) // oxfmt-ignore
  assert(
    log.some((name) => segmentOf(name) > weekly.lastSegment && !left.has(name)),
    'the log has a gap',
  )

  const elsewhere = path.join(serviceFolder(t), 'elsewhere')
  const ran = await runScript('restore', { ...env, DATA_DIR: elsewhere }, ['--at', now.toISOString()])
  assert.deepEqual([ran.status, ran.err], [0, ''], ran.out)
  assert(ran.out.includes(`from the backup of ${weekly.finishedAt}`), ran.out)
  const back = await startService(t, elsewhere)
  const { body } = await back.status(sold.orderId)
  assert.equal(body.status, 'paid')
  assert.equal((await back.call('GET', sold.link)).status, 200)
  assert.equal((await back.status(later.orderId)).status, 404)
  await back.kill()
})

/** Makes the database begin new segments of its log, and waits until the place has them. Returns their names. */
async function switchSegments(dataDir: string, count: number): Promise<string[]> {
  const names: string[] = []
  for (let at = 0; at < count; at++) {
    await ask(dataDir, `select pg_logical_emit_message(false, 'test', 'something')`)
    const [{ name }] = await ask(dataDir, 'select pg_walfile_name(pg_switch_wal()) as name')
    names.push(name)
  }
  const { vault } = started()
  await eventually(
    async () => (await vault.list('wal/')).map((name) => path.basename(name)),
    (sent) => names.every((name) => sent.includes(name)),
  )
  return names
}

/** Dates the copies back: all before the weekly one are of the day before it, in the same week and month. */
async function age(vault: Vault, { weekly, newest }: { weekly: string; newest: string }): Promise<void> {
  const days: Record<string, string> = { [weekly]: '2024-11-03', [newest]: '2024-11-23' }
  for (const base of await readBases(vault))
    await vault.putJson(baseManifest(base.id), {
      ...base,
      startedAt: `${days[base.id] ?? '2024-11-02'}T02:40:00.000Z`,
    })
}

test('a picture that the service has removed is in no later copy of the database, and a restore does not bring it back', async () => {
  const { t, env, dataDir, place, vault } = started()
  const pictures = [newId('img'), newId('img'), newId('img')]
  const [stays, goes, later] = pictures.map(imageKeys) as [string[], string[], string[]]
  const inStorage = (folder: string, key: string) => diskPath(path.join(folder, 'files'), key)
  for (const key of [...stays, ...goes, ...later]) {
    fs.mkdirSync(path.dirname(inStorage(dataDir, key)), { recursive: true })
    fs.writeFileSync(inStorage(dataDir, key), key)
  }
  await ask(dataDir, 'insert into images (id, product_id) select unnest($1::text[]), min(id) from products', [pictures])
  // as the sweep does a month after no product shows it
  const sweep = (id: string) => ask(dataDir, 'delete from images where id = $1', [id])
  const keysOfNewest = async () => (await readBases(vault)).at(-1)!.files
  const assertHas = (files: string[], keys: string[], has: boolean) =>
    assert.deepEqual(keys.filter((key) => files.includes(key)), has ? keys : []) // oxfmt-ignore

  await backUp(env)
  const before = await keysOfNewest()
  assertHas(before, [...stays, ...goes, ...later], true)
  await sweep(pictures[1]!)
  await backUp(env)
  const since = await keysOfNewest()
  assert.deepEqual(since, before.filter((key) => !goes.includes(key))) // oxfmt-ignore
  await sweep(pictures[2]!)
  await sendAll(dataDir, place)
  const elsewhere = path.join(serviceFolder(t), 'elsewhere')
  const ran = await runScript('restore', { ...env, DATA_DIR: elsewhere })
  assert.deepEqual([ran.status, ran.err], [0, ''], ran.out)
  for (const key of since) assert.equal(fs.existsSync(inStorage(elsewhere, key)), !later.includes(key), key)
  for (const key of goes) assert(!fs.existsSync(inStorage(elsewhere, key)), key)
})

test('files that the storage and the backup have lost are named by backup, restore and drill, and none of these ends as if it were whole', async () => {
  const { t, env, service, dataDir, place, vault } = started()
  const stored = fs.readdirSync(path.join(place, 'files')).filter((key) => key.startsWith('file_'))
  const [gone = '', broken = '', ...others] = stored.sort()
  assert(others.length > 0)
  const inStorage = (key: string) => diskPath(path.join(dataDir, 'files'), key)
  const bytes = fs.readFileSync(inStorage(gone))
  fs.rmSync(inStorage(gone))
  fs.appendFileSync(inStorage(broken), 'other')
  for (const key of [gone, broken]) fs.rmSync(path.join(place, 'files', key))
  const before = await idsOf(vault)
  const failed = async () => /^till_backup_failed\{kind="backup"\} (\d)$/m.exec((await service.call('GET', '/metrics')).body)?.[1] // oxfmt-ignore

  assert.equal(await runBackupJob(dataDir), 'completed', 'the service does not copy the database again for it')
  await eventually(
    async () => service.output(),
    (log) => log.includes(`${gone}, ${broken}`),
  )
  const ran = await runScript('backup', env)
  assert.equal(ran.status, 3, ran.out + ran.err)
  assert.equal(ran.err, `the backup is not complete: the storage does not have these files, or has other bytes: ${gone}, ${broken}. See docs/backup.md\n`) // oxfmt-ignore
  assert.doesNotMatch(ran.out, /(?<!not )complete/)
  assert.equal(await failed(), '1')
  assert.equal((await idsOf(vault)).length, before.length + 2, 'the database is copied all the same')

  const restored = await runScript('restore', { ...env, DATA_DIR: path.join(serviceFolder(t), 'elsewhere') })
  assert.equal(restored.status, 2, restored.out + restored.err)
  const named = [...restored.err.matchAll(/^missing or damaged: (\S+)$/gm)].map(([, key]) => key)
  assert.deepEqual(named, [gone, broken])
  const drill = await runScript('drill', env)
  assert.equal(drill.status, 1, drill.out + drill.err)
  assert.equal(drill.err, `The backup cannot be relied on: these files are missing or damaged: ${gone}, ${broken}.\n`)

  // one is found again, and the other one is given up
  fs.writeFileSync(inStorage(gone), bytes)
  const recalled = await runScript('recall', env, [broken, 'Its bytes are lost.'])
  assert.equal(recalled.status, 0, recalled.err)
  const whole = await runScript('backup', env)
  assert.deepEqual([whole.status, whole.err], [0, ''], whole.out)
  assert(fs.existsSync(path.join(place, 'files', gone)))
  assert.equal(await failed(), '0')
  const again = await runScript('drill', env)
  assert.deepEqual([again.status, again.err], [0, ''], again.out)
})

test('a file that cannot be read keeps no copy of the database from being made, and is named until it is copied or recalled', async () => {
  const { env, service, dataDir, place, vault } = started()
  // The example products share files, and a recalled file takes every other one with its bytes along.
  const found = await ask(
    dataDir,
    'select min(id) as id from files where sha256 not in (select sha256 from withdrawn_files) group by sha256 order by 1',
  )
  const [first = '', second = ''] = found.map(({ id }) => id as string)
  const inStorage = (key: string) => diskPath(path.join(dataDir, 'files'), key)
  for (const key of [first, second]) {
    // a folder in its place gives an error of the disk, also to root
    fs.renameSync(inStorage(key), `${inStorage(key)}-away`)
    fs.mkdirSync(inStorage(key))
    fs.rmSync(path.join(place, 'files', key))
  }
  const before = await idsOf(vault)
  const ran = await runScript('backup', env)
  assert.equal(ran.status, 3, ran.out + ran.err)
  assert.match(ran.err, new RegExp(`^the backup is not complete: these files could not be copied: ${first}, ${second} \\(EISDIR.*\\)\\. See docs/backup\\.md\\n$`)) // oxfmt-ignore
  assert.match(ran.out, /not complete: \d+ MB, \d+ files; \d+ old objects removed/)
  assert.match(ran.out, /the database\n[^]*the files\n/, 'the database does not wait for them')
  assert.equal((await idsOf(vault)).length, before.length + 1)
  assert.match((await service.call('GET', '/metrics')).body, /^till_backup_failed\{kind="backup"\} 1$/m)
  assert.equal(await runBackupJob(dataDir), 'completed', 'the service does not copy the database again for it')

  fs.rmdirSync(inStorage(first))
  fs.renameSync(`${inStorage(first)}-away`, inStorage(first))
  assert.equal((await runScript('recall', env, [second, 'Its disk is broken.'])).status, 0)
  const whole = await runScript('backup', env)
  assert.deepEqual([whole.status, whole.err], [0, ''], whole.out)
  assert(fs.existsSync(path.join(place, 'files', first)))
})

test('a copy during which parts of the log were lost is not taken for a whole one', async () => {
  const { dataDir, vault } = started()
  const before = await idsOf(vault)
  const copy = await copyThatWaits(dataDir, vault)
  markGap(running(dataDir).walFolder)
  await assert.rejects(copy.goOn(), /^Error: the log has got a gap during the copy/)
  assert.deepEqual(await idsOf(vault), before)
})
