import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { copyDatabase } from '../../scripts/upgrade-database/copy.ts'
import { bringUp } from '../../scripts/upgrade-database/schema.ts'
import { findRunning, startEmbedded } from '../../src/kit/embedded.ts'
import { BACKUP_KEY, backUp, buy, end, runScript, sendAll } from '../support/backups.ts'
import { type Service, request, serviceFolder, startService } from '../support/service.ts'
import { type Ends, temporaryFolder } from '../support/shop.ts'

// A gap in the log: changes after it can be restored only from a later copy of the database.

async function places(t: Ends) {
  const place = await temporaryFolder(t)
  return { place, dataDir: serviceFolder(t), env: { SECRET: '', BACKUP_KEY, BACKUP_URL: `file:${place}` } }
}

async function restored(t: Ends, env: Record<string, string>, args: string[] = []): Promise<Service> {
  const DATA_DIR = path.join(serviceFolder(t), 'elsewhere')
  const ran = await runScript('restore', { ...env, DATA_DIR }, args)
  assert.equal(ran.status, 0, ran.out + ran.err)
  return startService(t, DATA_DIR, { ...env, BACKUP_URL: '', BACKUP_KEY: '' })
}

async function schedulesIn(dataDir: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: findRunning(path.join(dataDir, 'postgres'))!.superuserUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(`select name from pgboss.schedule where name like 'backup%'`)
  await client.end()
  return rows.map(({ name }) => name)
}

const isPaid = async (service: Service, orderId: string) => (await service.status(orderId)).body.status === 'paid'

test('a command that starts the database by itself leaves no gap, and --at takes a moment after the last change', async (t) => {
  const { dataDir, env, place } = await places(t)
  const service = await startService(t, dataDir, env)
  await backUp({ ...env, DATA_DIR: dataDir })
  const before = await buy(service)
  await end(service)
  const ran = await runScript('reconcile', { ...env, DATA_DIR: dataDir })
  assert.equal(ran.status, 0, ran.err)
  const again = await startService(t, dataDir, env)
  const after = await buy(again)
  await sendAll(dataDir, place)
  await end(again)
  const back = await restored(t, env, ['--at', new Date().toISOString()])
  for (const { orderId, link } of [before, after]) {
    assert(await isPaid(back, orderId))
    assert.equal((await request('GET', back.url + link)).status, 200)
  }
})

test('after a time without BACKUP_URL, and at a new place, the service copies everything at once, so that nothing is lost', async (t) => {
  const { dataDir, env, place } = await places(t)
  const first = await startService(t, dataDir, env)
  await backUp({ ...env, DATA_DIR: dataDir })
  assert.equal((await schedulesIn(dataDir)).length, 3)
  await end(first)
  const without = await startService(t, dataDir, { SECRET: '' })
  assert.deepEqual(await schedulesIn(dataDir), [], 'their jobs would all run when BACKUP_URL is back')
  const sold = await buy(without)
  await assertSaysLost(without, dataDir, place)
  await end(without)
  const off = await startService(t, dataDir, { SECRET: '', BACKUP_KEY, BACKUP_URL: 'none' })
  assert.doesNotMatch(off.output(), /BACKUP_URL/)
  assert.doesNotMatch((await off.call('GET', '/metrics')).body, /till_backup/)
  await end(off)
  // the new place has no file yet, not even those that the former one has
  const moved = await temporaryFolder(t)
  const settings = { ...env, BACKUP_URL: `file:${moved}` }
  assert(fs.readdirSync(path.join(place, 'files')).length > 0)
  const again = await startService(t, dataDir, settings)
  await until(() => fs.existsSync(path.join(moved, 'base')) && manifestsIn(moved).length > 0)
  await until(() => !fs.existsSync(path.join(dataDir, 'postgres', 'wal', 'gap')))
  // they come after the database
  const filesAt = (at: string) =>
    fs.readdirSync(path.join(at, 'files')).filter((name) => !name.endsWith('.part')).length
  await until(() => fs.existsSync(path.join(moved, 'files')) && filesAt(moved) === filesAt(place))
  await again.kill()
  const back = await restored(t, settings)
  assert(await isPaid(back, sold.orderId))
  assert.equal((await request('GET', back.url + sold.link)).status, 200)
})

/** The log, the alarm for an old backup, and the doctor. */
async function assertSaysLost(service: Service, dataDir: string, place: string): Promise<void> {
  const [line, ...more] = service.output().split('\n').filter((one) => one.includes('BACKUP_URL')) // oxfmt-ignore
  const { level, place: was, msg } = JSON.parse(line!) as { level: number; place: string; msg: string }
  assert.deepEqual([level, was, more], [50, place, []])
  assert.match(msg, /set it again, or BACKUP_URL=none/)
  const { body } = await service.call('GET', '/metrics')
  assert.match(body, /^till_backup_timestamp_seconds\{kind="backup"\} \d/m)
  assert.doesNotMatch(body, /till_backup_waiting_seconds/)
  const { out } = await runScript('doctor', { SECRET: '', DATA_DIR: dataDir })
  assert.match(out, /BACKUP_URL is not set, and the backups were at /)
}

test('back at a former place, whose copy is of today, the service copies everything at once too', async (t) => {
  const { dataDir, env, place } = await places(t)
  const first = await startService(t, dataDir, env)
  await backUp({ ...env, DATA_DIR: dataDir })
  await end(first)
  const moved = { ...env, BACKUP_URL: `file:${await temporaryFolder(t)}` }
  const second = await startService(t, dataDir, moved)
  const sold = await buy(second)
  await backUp({ ...moved, DATA_DIR: dataDir })
  await end(second)
  const copies = manifestsIn(place).length
  const third = await startService(t, dataDir, env)
  await until(() => manifestsIn(place).length > copies)
  await third.kill()
  const back = await restored(t, env)
  assert(await isPaid(back, sold.orderId))
  assert.equal((await request('GET', back.url + sold.link)).status, 200)
})

test('after the files were moved and the storage adopted, the backup goes on at its place, and comes back whole', async (t) => {
  const { dataDir, env } = await places(t)
  const first = await startService(t, dataDir, env)
  const before = await buy(first)
  await backUp({ ...env, DATA_DIR: dataDir })
  await end(first)
  const files = await temporaryFolder(t)
  fs.cpSync(path.join(dataDir, 'files'), files, { recursive: true })
  fs.rmSync(path.join(files, 'id'), { recursive: true })
  const moved = { ...env, STORAGE_URL: `file:${files}` }
  for (let n = 0; n < 2; n++) {
    const adopted = await runScript('adopt', { ...moved, DATA_DIR: dataDir }, ['storage'])
    assert.equal(adopted.status, 0, adopted.err)
  }
  const again = await startService(t, dataDir, moved)
  const after = await buy(again)
  await backUp({ ...moved, DATA_DIR: dataDir })
  await again.kill()
  const back = await restored(t, env)
  for (const { orderId, link } of [before, after]) {
    assert(await isPaid(back, orderId))
    assert.equal((await request('GET', back.url + link)).status, 200)
  }
})

test('while the disk of the backup is not mounted nothing is written below it, and nothing is missing afterwards', async (t) => {
  const { dataDir, env, place } = await places(t)
  const first = await startService(t, dataDir, env)
  const before = await buy(first)
  await backUp({ ...env, DATA_DIR: dataDir })
  await end(first)
  const mounted = `${place}-mounted`
  t.after(() => fs.rmSync(mounted, { recursive: true, force: true }))
  fs.renameSync(place, mounted)
  fs.mkdirSync(place)
  const again = await startService(t, dataDir, env)
  const after = await buy(again)
  const refused = await runScript('backup', { ...env, DATA_DIR: dataDir })
  assert.equal(refused.status, 1)
  assert.match(refused.err, /Is its disk mounted\? For an empty place: npm run backup -- --new-place/)
  await end(again)
  const waiting = () => fs.readdirSync(path.join(dataDir, 'postgres', 'wal')).length
  assert(waiting() > 0)
  assert.deepEqual(fs.readdirSync(place), [])
  fs.rmdirSync(place)
  fs.renameSync(mounted, place)
  const last = await startService(t, dataDir, env)
  await sendAll(dataDir, place)
  await end(last)
  const back = await restored(t, env)
  for (const { orderId } of [before, after]) assert(await isPaid(back, orderId))
})

test('after its disk was lost, the backup begins anew in an empty place when the operator says so', async (t) => {
  const { dataDir, env, place } = await places(t)
  const service = await startService(t, dataDir, env)
  const { orderId, link } = await buy(service)
  await backUp({ ...env, DATA_DIR: dataDir })
  await end(service)
  for (const name of fs.readdirSync(place)) fs.rmSync(path.join(place, name), { recursive: true })
  const ran = await runScript('backup', { ...env, DATA_DIR: dataDir }, ['--new-place'])
  assert.equal(ran.status, 0, ran.err)
  const back = await restored(t, env)
  assert(await isPaid(back, orderId))
  assert.equal((await request('GET', back.url + link)).status, 200)
})

test('a key of the backups can be replaced: once no object needs the old one, the backup goes on and comes back without it', async (t) => {
  const { dataDir, env, place } = await places(t)
  const first = await startService(t, dataDir, env)
  const before = await buy(first)
  await backUp({ ...env, DATA_DIR: dataDir })
  await end(first)
  const former = manifestsIn(place)
  const key = 'another key of the backups that is long enough'
  const both = { ...env, BACKUP_KEY: `${key},${BACKUP_KEY}` }
  const second = await startService(t, dataDir, both)
  assert.match(await backUp({ ...both, DATA_DIR: dataDir }), /; \d+ objects still need an earlier key$/m)
  // as in time: the copies of before go, and with them their part of the log
  for (const id of former) fs.rmSync(path.join(place, 'base', id), { recursive: true })
  assert.match(await backUp({ ...both, DATA_DIR: dataDir }), /; no object needs an earlier key any more$/m)
  await end(second)
  const alone = { ...env, BACKUP_KEY: key }
  const third = await startService(t, dataDir, alone)
  const after = await buy(third)
  await sendAll(dataDir, place)
  await end(third)
  const back = await restored(t, alone)
  for (const { orderId, link } of [before, after]) {
    assert(await isPaid(back, orderId))
    assert.equal((await request('GET', back.url + link)).status, 200)
  }
})

test('a segment that is missing in the backup is named, and the restore does not end as if it were whole', async (t) => {
  const { dataDir, env, place } = await places(t)
  const service = await startService(t, dataDir, env)
  await backUp({ ...env, DATA_DIR: dataDir })
  const early = new Date().toISOString()
  // with a change after that moment, the restore to it needs no later segment
  await buy(service)
  for (let at = 0; at < 3; at++) await backUp({ ...env, DATA_DIR: dataDir })
  await service.kill()
  const manifests = manifestsIn(place)
  const [cluster = ''] = fs.readdirSync(path.join(place, 'wal'))
  const log = path.join(place, 'wal', cluster)
  const segments = () => fs.readdirSync(log).filter((name) => /^[0-9A-F]{24}$/.test(name)).sort() // oxfmt-ignore
  // only the first copy stays, and the segment before the last is lost
  for (const id of manifests.slice(1)) fs.rmSync(path.join(place, 'base', id), { recursive: true })
  fs.rmSync(path.join(log, segments().at(-2)!))
  const ran = await runScript('restore', { ...env, DATA_DIR: path.join(serviceFolder(t), 'elsewhere') })
  assert.equal(ran.status, 2, ran.out + ran.err)
  assert.match(ran.err, /A segment of the log is missing in the backup: 1 later ones could not be used\./)
  const restoreTo = (at: string) => runScript('restore', { ...env, DATA_DIR: path.join(serviceFolder(t), 'elsewhere') }, ['--at', at]) // oxfmt-ignore
  const late = await restoreTo(new Date().toISOString())
  assert.equal(late.status, 2, late.out + late.err)
  const before = await restoreTo(early)
  assert.equal(before.status, 0, before.out + before.err)
  const drill = await runScript('drill', { ...env, DATA_DIR: path.join(serviceFolder(t), 'none') })
  assert.equal(drill.status, 1)
  assert.match(drill.err, /The backup cannot be relied on: .*the log has a gap, and 1 segments after it are lost/)
})

test('another major version begins another log: the service makes a copy at once, and all sales come back', async (t) => {
  const { dataDir, env, place } = await places(t)
  const first = await startService(t, dataDir, env)
  await backUp({ ...env, DATA_DIR: dataDir })
  const before = await buy(first)
  await end(first)
  await copyIntoNewCluster(path.join(dataDir, 'postgres'))
  const finished = await runScript('upgrade-database', { ...env, DATA_DIR: dataDir })
  assert.equal(finished.status, 0, finished.err)
  const known = new Set(manifestsIn(place))
  const second = await startService(t, dataDir, env)
  const after = await buy(second)
  await until(() => manifestsIn(place).some((id) => !known.has(id)))
  await sendAll(dataDir, place)
  await end(second)
  const back = await restored(t, env)
  for (const { orderId } of [before, after]) assert(await isPaid(back, orderId))
  assert.equal(fs.readdirSync(path.join(place, 'wal')).length, 2)
})

test('back at the former major version, the service makes a copy at once, and what it sells from then on comes back', async (t) => {
  const { dataDir, env, place } = await places(t)
  const former = await startService(t, dataDir, env)
  await backUp({ ...env, DATA_DIR: dataDir })
  const before = await buy(former)
  await end(former)
  const home = path.join(dataDir, 'postgres')
  await copyIntoNewCluster(home)
  assert.equal((await runScript('upgrade-database', { ...env, DATA_DIR: dataDir })).status, 0)
  const ofFormer = manifestsIn(place).length
  const upgraded = await startService(t, dataDir, env)
  await until(() => manifestsIn(place).length > ofFormer)
  await end(upgraded)
  fs.renameSync(path.join(home, 'data'), path.join(home, 'data-18'))
  fs.renameSync(path.join(home, 'data-17'), path.join(home, 'data'))
  const copies = manifestsIn(place).length
  const again = await startService(t, dataDir, env)
  const after = await buy(again)
  await until(() => manifestsIn(place).length > copies)
  await sendAll(dataDir, place)
  await end(again)
  const back = await restored(t, env)
  for (const { orderId } of [before, after]) assert(await isPaid(back, orderId))
})

/** The steps of `npm run upgrade-database` before its last rename. It needs another major version, and this one stands for it. */
async function copyIntoNewCluster(home: string): Promise<void> {
  const made = path.join(home, 'upgraded')
  const old = await startEmbedded({ dir: home, name: 'till' })
  const fresh = await startEmbedded({ dir: made, name: 'till' })
  for (const { url } of [old, fresh]) await bringUp(url, path.resolve(import.meta.dirname, '../../schema'))
  await copyDatabase(old, fresh)
  await fresh.stop()
  await old.stop()
  fs.writeFileSync(path.join(made, 'complete'), '17')
  fs.renameSync(path.join(home, 'data'), path.join(home, 'data-17'))
}

const manifestsIn = (place: string): string[] =>
  fs.readdirSync(path.join(place, 'base')).filter((id) => fs.existsSync(path.join(place, 'base', id, 'manifest'))).sort() // oxfmt-ignore

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50))
}
