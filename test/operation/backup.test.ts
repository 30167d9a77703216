import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { drill } from '../../src/backup/drill.ts'
import { removeLeftDrills } from '../../src/backup/left-drills.ts'
import { baseData, baseManifest } from '../../src/backup/names.ts'
import { restore } from '../../src/backup/restore.ts'
import { readBases } from '../../src/backup/retention.ts'
import { findRunning } from '../../src/kit/embedded.ts'
import { openStorage } from '../../src/kit/storage/open.ts'
import { openVault } from '../../src/kit/vault/vault.ts'
import { BUCKET, KEYS, startS3Server } from '../stand-ins/s3-server.ts'
import { CAN_TRY_AGAIN } from '../support/backups.ts'
import { atEnd } from '../support/ends.ts'
import { type Service, bareEnvironment, request, serviceFolder, startService } from '../support/service.ts'
import { type Ends, SECRET } from '../support/shop.ts'

// A real service is backed up, its folder is lost, and it comes back elsewhere.

const ROOT = path.resolve(import.meta.dirname, '../..')
const BACKUP_KEY = 'the key of the backups of these tests'
const WAIT_MS = 300_000
const LOOK_MS = 100

const ends: (() => unknown)[] = []
const t: Ends = { after: (end) => void ends.push(end) }
/** The place of the backups, the first service, and its sales. */
let place: string
let env: Record<string, string>
let first: { dataDir: string; service: Service }
let early: Sold
let late: Sold
let betweenThem: Date
/** The number of the invoice of each sale. */
let numbers: string[]
/** Where the first service came back. */
let comeBack: string
/** The sales that were made there. */
let sold: Sold

interface Sold {
  orderId: string
  link: string
}

before(async () => {
  place = serviceFolder(t)
  env = { BACKUP_URL: `file:${place}`, BACKUP_KEY }
  const dataDir = serviceFolder(t)
  first = { dataDir, service: await startService(t, dataDir, env) }
  await asSuperuser(dataDir, `
    insert into invoice_profiles (seller_id, prefix, is_on, legal_name, address, city, postcode, country)
    select seller_id, 'K7Q2', true, 'Ann Books', '{"1 Street"}', 'Dublin', '', 'IE' from products limit 1`) // oxfmt-ignore
  early = await sell(first.service)
  const { status, out } = await backUp(dataDir)
  assert.equal(status, 0, out)
  assert.match(out, /complete: \d+ MB, \d+ files/)
  betweenThem = new Date(await nowOf(dataDir))
  late = await sell(first.service)
  numbers = await numbersIn(dataDir)
  await sendAll(dataDir)
  first.service.child.kill('SIGKILL')
  await once(first.service.child, 'exit').catch(() => {})
  // the machine is gone
  await eventually(() => findRunning(path.join(dataDir, 'postgres')) === undefined)
  fs.rmSync(dataDir, { recursive: true, maxRetries: 10, retryDelay: 100 })
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

/** An order that is paid, with the first of its links. */
async function sell(service: Service): Promise<Sold> {
  const { body: order } = await service.checkout()
  assert.equal((await service.confirm(order.clientSecret)).status, 200)
  let link = ''
  await eventually(async () => {
    const { body } = await service.status(order.orderId, true)
    link = body.downloads?.[0]?.url ?? ''
    return body.paid && link !== ''
  })
  return { orderId: order.orderId, link: new URL(link).pathname }
}

async function run(script: string, settings: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, [path.join(ROOT, 'scripts', `${script}.ts`), ...args], {
    env: { ...bareEnvironment(), SECRET, LOG_LEVEL: 'warn', ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  atEnd(t, () => child.kill('SIGKILL'))
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += String(chunk)))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, out }
}

async function backUp(dataDir: string, settings: Record<string, string> = {}) {
  for (;;) {
    const done = await run('backup', { DATA_DIR: dataDir, ...settings })
    if (!CAN_TRY_AGAIN.test(done.out)) return done
    await sleep(LOOK_MS)
  }
}

const restoreInto = (dataDir: string, settings: Record<string, string> = {}, ...args: string[]) =>
  run('restore', { DATA_DIR: dataDir, ...settings }, ...args)

/** The segments of the log in the place, of every cluster. */
const logIn = (folder: string): string[] =>
  fs.readdirSync(path.join(folder, 'wal'), { recursive: true, encoding: 'utf8' }).map((name) => path.basename(name))

/** A path at which nothing is yet. */
const newPlace = () => path.join(serviceFolder(t), 'elsewhere', 'data')

async function eventually(holds: () => unknown): Promise<void> {
  for (const end = Date.now() + WAIT_MS; !(await holds()); await sleep(LOOK_MS))
    assert(Date.now() < end, 'it never came')
}

async function asSuperuser(dataDir: string, text: string): Promise<any[]> {
  const { superuserUrl } = findRunning(path.join(dataDir, 'postgres'))!
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const numbersIn = async (dataDir: string): Promise<string[]> =>
  (await asSuperuser(dataDir, 'select number from invoices order by id')).map(({ number }) => number)

const nowOf = async (dataDir: string): Promise<string> =>
  (await asSuperuser(dataDir, 'select clock_timestamp()::text as now'))[0].now

/** Everything until now is in the backup. */
async function sendAll(dataDir: string): Promise<void> {
  const [{ name }] = await asSuperuser(dataDir, 'select pg_walfile_name(pg_switch_wal()) as name')
  await eventually(() => logIn(place).includes(name))
}

async function assertSold(service: Service, { orderId, link }: Sold): Promise<void> {
  const { body } = await service.status(orderId)
  assert.equal(body.status, 'paid', JSON.stringify(body))
  const file = await request('GET', service.url + link)
  assert.equal(file.status, 200, 'a link from before still opens')
  const fresh = await request('GET', body.downloads[0].url)
  assert.equal(fresh.body, file.body)
}

test('a lost machine comes back elsewhere, with every sale until the last moment, its files, and the links in old mails', async () => {
  const dataDir = (comeBack = newPlace())
  const { status, out } = await restoreInto(dataDir)
  assert.equal(status, 0, out)
  assert.match(out, /The last change in it is of /)
  const service = await startService(t, dataDir, env)
  await assertSold(service, early)
  await assertSold(service, late)
  const receipts = async () =>
    (await service.mails(late.orderId)).filter((subject) => subject.includes('receipt')).length
  await eventually(async () => (await receipts()) > 0)
  assert.equal(await receipts(), 1)
  const again = (sold = await sell(service))
  // the restored service is backed up too, and a backup of it is restored again
  await eventually(() => logIn(place).includes('00000002.history'))
  await sendAll(dataDir)
  const withoutItsOwnBase = newPlace()
  assert.equal((await restoreInto(withoutItsOwnBase)).status, 0)
  await assertSold(await startService(t, withoutItsOwnBase, { ...env, BACKUP_URL: '', BACKUP_KEY: '' }), again)
  assert.equal((await backUp(dataDir)).status, 0)
  await service.kill()
  const third = newPlace()
  assert.equal((await restoreInto(third)).status, 0)
  await assertSold(await startService(t, third, { ...env, BACKUP_URL: '', BACKUP_KEY: '' }), again)
})

test('a restore without the secret takes it from the backup, which nobody can read without the key', async () => {
  const dataDir = newPlace()
  const { status, out } = await restoreInto(dataDir, { SECRET: '' })
  assert.equal(status, 0, out)
  assert.equal(fs.readFileSync(path.join(dataDir, 'secret'), 'utf8').trim(), SECRET)
  const service = await startService(t, dataDir, { SECRET: '', BACKUP_URL: '', BACKUP_KEY: '' })
  await assertSold(service, early)
  const everything = fs.readdirSync(place, { recursive: true, encoding: 'utf8' }).map((name) => path.join(place, name))
  for (const file of everything.filter((name) => fs.statSync(name).isFile())) {
    const bytes = fs.readFileSync(file)
    for (const plain of ['bob@example.com', SECRET, '%PDF']) assert(!bytes.includes(plain), `${file} holds ${plain}`)
  }
})

test('--at brings back a moment: what was sold later is not there, and the number of its invoice is not given again', async () => {
  const dataDir = newPlace()
  const { status, out } = await restoreInto(dataDir, {}, '--at', betweenThem.toISOString())
  assert.equal(status, 0, out)
  const service = await startService(t, dataDir, { ...env, BACKUP_URL: '', BACKUP_KEY: '' })
  await assertSold(service, early)
  assert.equal((await service.status(late.orderId)).status, 404)
  await sell(service)
  const [kept, ...given] = await numbersIn(dataDir)
  assert.equal(kept, numbers[0])
  assert.equal(given.length, 1)
  assert.match(given[0]!, /^[A-Z][0-9A-Z]{5}-20\d\d-000002$/)
  assert.deepEqual(numbers.map((one) => one.slice(-6)), ['000001', '000002']) // oxfmt-ignore
})

test('a restore overwrites nothing, and refuses what it cannot use, in one line each', async () => {
  const full = serviceFolder(t)
  fs.writeFileSync(path.join(full, 'something'), '')
  const empty = serviceFolder(t)
  const broken = serviceFolder(t)
  fs.cpSync(place, broken, { recursive: true })
  for (const id of fs.readdirSync(path.join(broken, 'base'))) {
    const data = path.join(broken, 'base', id, 'data')
    if (!fs.existsSync(data)) continue
    fs.truncateSync(data, fs.statSync(data).size - 1000)
  }
  const strange = serviceFolder(t)
  fs.mkdirSync(path.join(strange, 'base', 'x'), { recursive: true })
  fs.writeFileSync(path.join(strange, 'base', 'x', 'manifest'), 'x'.repeat(1000))
  const [older, newer] = [await ofVersion('17'), await ofVersion('99')]
  const cases: [says: RegExp, dataDir: string, settings: Record<string, string>, ...args: string[]][] = [
    [/^DATA_DIR: .* is not empty/, full, {}],
    [/^BACKUP_KEY \(or SECRET\): the backup was written with another key/, newPlace(), { BACKUP_KEY: 'y'.repeat(40) }],
    [/^SECRET: the backup was made with another secret/, newPlace(), { SECRET: 'z'.repeat(40) }],
    [/^BACKUP_URL: there is no complete backup in this place/, newPlace(), { BACKUP_URL: `file:${empty}` }],
    [/BACKUP_URL: the backup is damaged/, newPlace(), { BACKUP_URL: `file:${broken}` }],
    [
      /^BACKUP_URL: this place holds something that is no backup of Till/,
      newPlace(),
      { BACKUP_URL: `file:${strange}` },
    ],
    [
      /^BACKUP_URL: the backup of 20\S+Z was made by PostgreSQL 17, and this release runs 18\. Restore it with the release that made it, and upgrade that one then/,
      newPlace(),
      { BACKUP_URL: `file:${older}` },
    ],
    [
      /^BACKUP_URL: .* by PostgreSQL 99, .* Restore it with the newer release that made it\.$/,
      newPlace(),
      { BACKUP_URL: `file:${newer}` },
    ],
    [/^--at: the oldest backup is of 20/, newPlace(), {}, '--at', '2020-01-01T00:00:00Z'],
    [/^--at: expected a moment of the past/, newPlace(), {}, '--at', 'yesterday'],
    [/^--at: expected a moment of the past/, newPlace(), {}, '--at', '2999-01-01'],
    [/^BACKUP_URL: not set/, newPlace(), { BACKUP_URL: '', BACKUP_KEY: '' }],
    [/BACKUP_URL: required with BACKUP_KEY/, newPlace(), { BACKUP_URL: '' }],
    [/BACKUP_KEY: required/, newPlace(), { BACKUP_KEY: '', SECRET: '' }],
  ]
  for (const [says, dataDir, settings, ...args] of cases) {
    const { status, out } = await restoreInto(dataDir, settings, ...args)
    assert.equal(status, 1, out)
    assert.match(out, new RegExp(says.source, 'm'))
    assert(!fs.existsSync(path.join(dataDir, 'postgres')), 'nothing that a start could take for a database')
    assert.doesNotMatch(out, /^ +at /m, 'no stack')
  }
  assert.deepEqual(fs.readdirSync(full), ['something'])
})

/** A copy of the backup whose database is of another major version of PostgreSQL, as its manifest says. */
async function ofVersion(version: string): Promise<string> {
  const folder = serviceFolder(t)
  fs.cpSync(place, folder, { recursive: true })
  const vault = openVault({ folder }, [BACKUP_KEY])
  for (const base of await readBases(vault)) await vault.putJson(baseManifest(base.id), { ...base, version })
  return folder
}

test('a place that answers no more ends the restore in one line, and its PostgreSQL', async () => {
  const vault = openVault({ folder: place }, [BACKUP_KEY])
  const silent: typeof vault = {
    ...vault,
    read: (name, options) => (name.startsWith('wal/') ? new Promise<never>(() => {}) : vault.read(name, options)),
  }
  const dataDir = newPlace()
  const openStorage = () => assert.fail('the files come after the database')
  await assert.rejects(restore({ vault: silent, dataDir, secrets: [SECRET], openStorage, segmentTimeoutMs: 300 }), {
    message:
      /^BACKUP_URL: [0-9A-F]{8,24}(?:\.history)? has not come within 0\.3 s\. Run the restore again when the place answers\.$/,
  })
  assert.equal(findRunning(path.join(dataDir, 'restoring', 'postgres')), undefined)
})

test('a restore whose log goes while it works, because the service still runs, does not end as if it were whole', async () => {
  const folder = serviceFolder(t)
  fs.cpSync(place, folder, { recursive: true })
  const vault = openVault({ folder }, [BACKUP_KEY])
  const bases = await readBases(vault)
  // the copy was one of the daily ones
  const { id, finishedAt, lastSegment } = bases.findLast(
    (base) => Date.parse(base.finishedAt) <= betweenThem.getTime(),
  )!
  const later = (await vault.list('wal/')).filter((name) => path.basename(name).slice(8) > lastSegment.slice(8))
  assert(later.length > 0)
  const dataDir = newPlace()
  const restored = await restore({
    vault: {
      ...vault,
      async read(name, options) {
        if (name === baseData(id)) for (const segment of later) await vault.remove(segment)
        return vault.read(name, options)
      },
    },
    dataDir,
    secrets: [SECRET],
    until: betweenThem,
    openStorage: (inside) => openStorage({ storageDir: path.join(inside, 'files') }),
  })
  assert.equal(restored.base.finishedAt, finishedAt)
  assert(restored.unused > 0, JSON.stringify(restored.unused))
})

test('files go back into the folder of STORAGE_URL, also when its name begins like that of DATA_DIR', async () => {
  const dataDir = newPlace()
  const storage = `${dataDir}-files`
  const { status, out } = await restoreInto(dataDir, { STORAGE_URL: `file:${storage}` })
  assert.equal(status, 0, out)
  assert(fs.readdirSync(storage, { recursive: true, encoding: 'utf8' }).some((name) => /(?:^|\/)file_/.test(name)))
  assert.deepEqual(
    fs.readdirSync(dataDir).filter((name) => name.includes('files')),
    [],
  )
})

test('files that are missing or damaged in the backup are named, and everything else comes back', async () => {
  const damaged = serviceFolder(t)
  fs.cpSync(place, damaged, { recursive: true })
  const [gone = '', broken = '', ...others] = fs.readdirSync(path.join(damaged, 'files'))
  assert(others.length > 0)
  fs.rmSync(path.join(damaged, 'files', gone))
  flipBit(path.join(damaged, 'files', broken))
  const dataDir = newPlace()
  const { status, out } = await restoreInto(dataDir, { BACKUP_URL: `file:${damaged}` })
  assert.equal(status, 2, out)
  const named = [...out.matchAll(/^missing or damaged: (\S+)$/gm)].map(([, key]) => key)
  assert.deepEqual(named.sort(), [gone, broken].sort())
  const stored = new Set(fs.readdirSync(path.join(dataDir, 'files'), { recursive: true, encoding: 'utf8' }).map((name) => path.basename(name))) // oxfmt-ignore
  for (const key of others) assert(stored.has(key), key)
})

test('damaged manifests and histories are named, and the copies that are whole lead to the same state', async () => {
  const damaged = serviceFolder(t)
  fs.cpSync(place, damaged, { recursive: true })
  const env = { BACKUP_URL: `file:${damaged}` }
  const bases = await readBases(openVault({ folder: damaged }, [BACKUP_KEY]))
  const damage = (name: string) => (flipBit(path.join(damaged, name)), `damaged, so it was left out: ${name}`)
  const restored = async (...args: string[]) => {
    const dataDir = newPlace()
    const { status, out } = await restoreInto(dataDir, env, ...args)
    return { dataDir, status, out, named: out.split('\n').filter((line) => line.startsWith('damaged')) }
  }
  const old = damage(baseManifest(bases[0]!.id))
  const whole = await restored()
  assert.deepEqual([whole.status, whole.named], [0, [old]], whole.out)

  const newest = bases.at(-1)!
  const begins = bases.filter(({ firstSegment }) => firstSegment.startsWith('00000002'))
  assert(begins.length > 1)
  const later = [
    damage(baseManifest(newest.id)),
    damage(`wal/${newest.cluster}/00000002.history`),
    damage(`timelines/${newest.cluster}/00000002`),
  ]
  const { dataDir, status, out, named } = await restored()
  // it could be less than there was
  assert.deepEqual([status, named.sort()], [2, [old, ...later].sort()], out)
  const service = await startService(t, dataDir, { ...env, BACKUP_URL: '', BACKUP_KEY: '' })
  for (const one of [early, late, sold]) await assertSold(service, one)
  await service.kill()
  const before = await restored('--at', betweenThem.toISOString())
  assert.equal(before.status, 2, before.out)
  assert(before.out.includes(`from the backup of ${bases[1]!.finishedAt}`), before.out)
})

test('the drill tries the newest backup, leaves nothing, and says what would be lost; a broken one fails', async () => {
  const { status, out } = await run('drill', { DATA_DIR: newPlace() })
  assert.equal(status, 0, out)
  assert.match(out, /If this machine were gone now, the last \d+ s would be lost/)
  const broken = serviceFolder(t)
  fs.cpSync(place, broken, { recursive: true })
  const [gone = '', ...others] = fs.readdirSync(path.join(broken, 'files'))
  fs.rmSync(path.join(broken, 'files', gone))
  const parent = serviceFolder(t)
  let kept: string[] = []
  const { problem } = await drill({
    vault: openVault({ folder: broken }, [BACKUP_KEY]),
    secrets: [SECRET],
    parent,
    // a service can have more files than there is room for
    onProgress: (step) => {
      if (step === 'the books') kept = fs.readdirSync(parent, { recursive: true, encoding: 'utf8' })
    },
  })
  assert.equal(problem, `these files are missing or damaged: ${gone}`)
  assert(kept.some((name) => name.endsWith('PG_VERSION')))
  assert(!kept.some((name) => others.includes(path.basename(name))), 'a drill keeps no file')
  assert.deepEqual(fs.readdirSync(parent), [])
})

test('a drill that is killed leaves no copy of the database behind, and the next one removes those of others', async () => {
  const parent = serviceFolder(t)
  const drilling = spawn(process.execPath, [path.join(ROOT, 'scripts', 'drill.ts')], {
    env: { ...bareEnvironment(), ...env, SECRET, DATA_DIR: newPlace(), TMPDIR: parent },
    stdio: 'ignore',
  })
  const found = () => fs.readdirSync(parent, { recursive: true, encoding: 'utf8' })
  await eventually(() => found().some((name) => name.endsWith('postmaster.pid')))
  drilling.kill('SIGKILL')
  await eventually(() => fs.readdirSync(parent).length === 0)
  const [left, underWay] = ['old', 'new'].map((name) => path.join(parent, `till-drill-${name}`)) as [string, string]
  for (const folder of [left, underWay]) fs.mkdirSync(folder)
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
  fs.utimesSync(left, twoDaysAgo, twoDaysAgo)
  await removeLeftDrills(parent)
  assert.deepEqual(fs.readdirSync(parent), ['till-drill-new'])
})

function flipBit(file: string): void {
  const bytes = fs.readFileSync(file)
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  fs.writeFileSync(file, bytes)
}

test('another service is refused at the place of this one, and changes nothing there', async () => {
  const dataDir = serviceFolder(t)
  const before = fs.readFileSync(path.join(place, 'identity'))
  const files = fs.readdirSync(path.join(place, 'files'))
  const service = await startService(t, dataDir, env)
  const { status, out } = await backUp(dataDir)
  assert.equal(status, 1, out)
  assert.match(out, /BACKUP_URL: this place holds the backup of another service/)
  assert.deepEqual(fs.readFileSync(path.join(place, 'identity')), before)
  assert.deepEqual(fs.readdirSync(path.join(place, 'files')), files)
  await service.kill()
})

test('while the place is away sales go on and the alarm rises; when it is back, everything is sent', async () => {
  const s3 = await startS3Server(t)
  const dataDir = serviceFolder(t)
  const settings = {
    BACKUP_KEY,
    BACKUP_URL: `s3://${BUCKET}?endpoint=${encodeURIComponent(s3.endpoint)}&region=eu-test-1`,
    BACKUP_S3_ACCESS_KEY_ID: KEYS.id,
    BACKUP_S3_SECRET_ACCESS_KEY: KEYS.secret,
  }
  const service = await startService(t, dataDir, settings)
  const done = await backUp(dataDir, settings)
  assert.equal(done.status, 0, done.out)
  s3.weather.failing = true
  const sold = await sell(service)
  await asSuperuser(dataDir, 'select pg_switch_wal()')
  const waiting = async () =>
    Number(/^till_backup_waiting_seconds (\S+)$/m.exec((await service.call('GET', '/metrics')).body)?.[1])
  await eventually(async () => (await waiting()) > 0)
  const cut = await run('backup', { DATA_DIR: dataDir, ...settings })
  assert.equal(cut.status, 1)
  const away = await restoreInto(newPlace(), settings)
  assert.equal(away.status, 1)
  assert.match(away.out, /^BACKUP_URL: the place cannot be used \(\w+\)\. Run the restore again when it answers\.$/m)
  assert.doesNotMatch(away.out, /^ +at /m, 'no stack')
  s3.weather.failing = false
  await eventually(async () => (await waiting()) === 0)
  await asSuperuser(dataDir, 'select pg_switch_wal()')
  await eventually(async () => fs.readdirSync(path.join(dataDir, 'postgres', 'wal')).length === 0)
  // what cannot be removed is no reason to make the backup again, but an alarm
  s3.objects.set('base/unreadable/manifest', Buffer.alloc(1000))
  const untidy = await backUp(dataDir, settings)
  assert.equal(untidy.status, 0, untidy.out)
  assert.match(untidy.out, /the backup is complete, but old objects could not be removed: /)
  assert.match((await service.call('GET', '/metrics')).body, /^till_backup_failed\{kind="backup"\} 1$/m)
  s3.objects.delete('base/unreadable/manifest')
  await service.kill()
  const back = newPlace()
  // its keys may not list it, so it refuses to say that a file is missing
  const storage = await startS3Server(t)
  storage.weather.unlisted = true
  const { status, out } = await restoreInto(back, { ...settings, ...storage.env })
  assert.equal(status, 0, out)
  const restored = await startService(t, back, { ...storage.env, BACKUP_URL: '', BACKUP_KEY: '' })
  assert.equal((await restored.status(sold.orderId)).body.status, 'paid')
  assert([...storage.objects.keys()].some((key) => key.startsWith('file_')))
})

test('a backup that is killed in the middle counts for nothing, and two at once make one', async () => {
  const dataDir = newPlace()
  assert.equal((await restoreInto(dataDir)).status, 0)
  const service = await startService(t, dataDir, env)
  const child = spawn(process.execPath, [path.join(ROOT, 'scripts/backup.ts')], {
    env: { ...bareEnvironment(), SECRET, ...env, DATA_DIR: dataDir },
    stdio: 'ignore',
  })
  const known = new Set(fs.readdirSync(path.join(place, 'base')))
  const begun = () => fs.readdirSync(path.join(place, 'base')).find((id) => !known.has(id))
  await eventually(() => begun() !== undefined || child.exitCode !== null)
  child.kill('SIGKILL')
  const two = await Promise.all([run('backup', { DATA_DIR: dataDir }), run('backup', { DATA_DIR: dataDir })])
  for (const { status, out } of two) assert(status === 0 || out.includes('another backup is under way'), out)
  const third = await backUp(dataDir)
  assert.equal(third.status, 0, third.out)
  await service.kill()
  assert.equal((await run('drill', { DATA_DIR: dataDir })).status, 0)
  // A machine that was taken for lost still runs. A restore would take the copy's backups, so its own would be for nothing.
  await startService(t, comeBack, env)
  const other = await backUp(comeBack)
  assert.equal(other.status, 1, other.out)
  assert.match(other.out, /BACKUP_URL: a restored copy of this service has its backup in the same place/)
})
