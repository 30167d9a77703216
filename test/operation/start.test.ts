import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { pino } from 'pino'
import { examine } from '../../scripts/doctor/examine.ts'
import { patienceOf } from '../../scripts/doctor/finding.ts'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { CannotStart } from '../../src/kit/cannot-start.ts'
import { connect } from '../../src/kit/database.ts'
import { findPostmaster } from '../../src/kit/embedded/pid-file.ts'
import { openInstallation } from '../../src/kit/installation.ts'
import { newLog } from '../../src/kit/log.ts'
import { refuseOtherMode } from '../../src/payments/mode.ts'
import { startS3Server } from '../stand-ins/s3-server.ts'
import { atEnd } from '../support/ends.ts'
import { bareEnvironment, embeddedOf, serviceFolder, startService } from '../support/service.ts'
import { type Ends, SECRET, newDatabase, startTestShop, temporaryFolder } from '../support/shop.ts'

// A start that cannot succeed says why in one line, with the name of the setting or the command that helps.

const OTHER_SECRET = 'another secret of the tests as long as it must be'

/** A public service for tries, on two hosts. */
const PUBLIC = {
  PUBLIC: '1',
  BASE_URL: 'https://api.shop.example',
  APP_URL: 'https://pay.shop.example',
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'Shop <shop@shop.example>',
  PROCESSORS: 'sandbox',
  TRUST_PROXY: 'none',
  LIMITS: 'status=1000/60',
}

/** Runs a program with these settings to its end. */
async function run(script: string, env: Record<string, string>, args: string[] = []) {
  const file = fileURLToPath(new URL(`../../${script}`, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...bareEnvironment(), PORT: '0', SECRET, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    texts.out += String(chunk)
    // it should have refused, and would run for ever
    if (texts.out.includes('Till is ready')) child.kill('SIGKILL')
  })
  child.stderr.on('data', (chunk) => (texts.err += String(chunk)))
  const [status] = await once(child, 'close')
  return { status: status as number | null, ...texts }
}

async function assertRefused(env: Record<string, string>, says: RegExp): Promise<void> {
  const { status, out, err } = await run('src/main.ts', env)
  assert.equal(status, 1, out + err)
  assert.match(err, says)
  assert.match(err, /^[^\n]+\n$/, 'it is one line')
  assert.doesNotMatch(out, /Till is ready/)
}

async function query(connectionString: string, text: string): Promise<any[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** A service that has run on this database and in this folder, and is over. */
async function ranOnce(t: Ends, dataDir: string, env: Record<string, string>): Promise<void> {
  const { child } = await startService(t, dataDir, env)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

test('a start uses none of the connections for requests, which give up when a busy machine takes seconds', async (t) => {
  const database = { connectionString: await newDatabase(t) }
  const refused = connect({ connectionString: 'postgres://127.0.0.1:1/none' }, { connections: 1, patient: true })
  atEnd(t, () => refused.close())
  const settings = { DATA_DIR: await temporaryFolder(t), DATABASE_URL: database.connectionString, SECRET, DEMO: '0' }
  const [baseUrl, appUrl] = ['http://shop.test', 'http://shop.test']
  const parts = {
    config: readConfig(settings),
    log: newLog('silent'),
    database,
    ownUrl: () => baseUrl,
    baseUrl,
    appUrl,
  }
  const app = await buildApp({ ...parts, main: refused, reserved: refused })
  await app.close(0)
})

test('a DATA_DIR that cannot be written', async (t) => {
  const file = path.join(await temporaryFolder(t), 'a-file')
  fs.writeFileSync(file, '')
  const says = /^DATA_DIR: \/.*a-file\/data\S* cannot be used \(ENOTDIR\): let the account/
  await assertRefused({ DATA_DIR: `${file}/data` }, says)
  await assertRefused({ DATA_DIR: `${file}/data`, SECRET: '' }, says)
  const storage = /^STORAGE_URL: \/.*a-file\/data\/files cannot be used \(ENOTDIR\)/
  await assertRefused({ DATA_DIR: `${file}/data`, DATABASE_URL: await newDatabase(t) }, storage)
  const [finding] = await examine({ DATA_DIR: `${file}/data`, PUBLIC: '0' }, patienceOf(60))
  assert(finding)
})

test('a database that does not answer, is not there, or belongs to a newer version', async (t) => {
  const DATA_DIR = await temporaryFolder(t)
  const dead = 'postgres://till:a-password@127.0.0.1:1/till'
  await assertRefused({ DATA_DIR, DATABASE_URL: dead }, /^DATABASE_URL: the database cannot be used \(.*ECONNREFUSED.*\): start its server/) // oxfmt-ignore
  const DATABASE_URL = await newDatabase(t)
  const missing = DATABASE_URL.replace(/\/[^/]*$/, '/no_such_database')
  await assertRefused(
    { DATA_DIR, DATABASE_URL: missing },
    /^DATABASE_URL: .*database "no_such_database" does not exist/,
  )
})

test('a schema of a newer version: the service starts when it only grew, and else says so', async (t) => {
  const DATABASE_URL = await newDatabase(t)
  const dataDir = await temporaryFolder(t)
  const refused = /^The database was changed by a newer version of Till: this one cannot use the schema after its migration 902_later\. Start the newer version\.$/m // oxfmt-ignore
  const note = (needs: string) =>
    query(DATABASE_URL, `update migration_needs set needs = ${needs} where name = '902_later'`)
  await query(DATABASE_URL, `insert into kysely_migration (name, timestamp) values ('901_of_tomorrow', 'now'), ('902_later', 'now')`) // oxfmt-ignore
  await query(DATABASE_URL, `insert into migration_needs (name, needs) values ('901_of_tomorrow', null)`)
  await assertRefused({ DATA_DIR: dataDir, DATABASE_URL }, refused)
  await query(DATABASE_URL, `insert into migration_needs (name, needs) values ('902_later', '901_of_tomorrow')`)
  await assertRefused({ DATA_DIR: dataDir, DATABASE_URL }, refused)
  await query(DATABASE_URL, 'alter table migration_needs rename to away')
  await assertRefused({ DATA_DIR: dataDir, DATABASE_URL }, refused)
  await query(DATABASE_URL, 'alter table away rename to migration_needs')

  for (const needs of ['null', `'043_outbox_retention'`]) {
    await note(needs)
    const service = await startService(t, dataDir, { DATABASE_URL })
    assert.equal((await service.call('GET', '/readyz')).status, 200)
    await service.kill()
  }
})

test('a pooler that gives each transaction another connection is refused, before anything is written', async (t) => {
  const { port, asked } = await startSharingPooler(t)
  await assertRefused(
    { DATA_DIR: await temporaryFolder(t), DATABASE_URL: `postgres://till@127.0.0.1:${port}/till` },
    /^DATABASE_URL: a pooler gives each transaction another connection, .*: set pool_mode = session in PgBouncer, or name the server itself\.$/m,
  )
  assert.deepEqual([...new Set(asked)], ['select pg_backend_pid() as pid'])
})

test('a port that is taken: the command for another one', async (t) => {
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  atEnd(t, () => taken.close())
  const { port } = taken.address() as net.AddressInfo
  await assertRefused(
    { DATA_DIR: await temporaryFolder(t), PORT: String(port) },
    new RegExp(`\\(EADDRINUSE\\): another service listens there\\. To start beside it: PORT=${port + 1} npm start\n`),
  )
})

test('a second start in one DATA_DIR is refused and does not disturb the first one', async (t) => {
  const dataDir = serviceFolder(t)
  const { call } = await startService(t, dataDir)
  const { pid } = embeddedOf(dataDir)
  await assertRefused({ DATA_DIR: dataDir }, /postgres is in use by another process \(\d+\): stop that one, or give this one another DATA_DIR/) // oxfmt-ignore
  assert.equal((await call('GET', '/readyz')).status, 200)
  assert.equal(findPostmaster(path.join(dataDir, 'postgres', 'data'))?.pid, pid)
})

test('files without their database: the service does not start with an empty one', async (t) => {
  const dataDir = serviceFolder(t)
  await ranOnce(t, dataDir, {})
  fs.rmSync(path.join(dataDir, 'postgres'), { recursive: true })
  await assertRefused(
    { DATA_DIR: dataDir },
    /^There is no database in .*postgres\. If .* set DATABASE_URL, .*; else put the folder back/,
  )
  assert(!fs.existsSync(path.join(dataDir, 'postgres')))
  await assertRefused({ DATA_DIR: dataDir, DATABASE_URL: await newDatabase(t) }, /^STORAGE_URL: .*files belongs to another database/) // oxfmt-ignore
  const recalled = ['file_01m7y9ddw03mvznr65rfk4ah2z', 'Gone.']
  for (const [script, args] of [
    ['scripts/reconcile.ts', []],
    ['scripts/recall.ts', recalled],
  ] as const) {
    const { status, out, err } = await run(script, { DATA_DIR: dataDir }, [...args])
    assert.equal(status, 2)
    assert.match(out + err, /There is no database in/)
  }
})

test('a bucket with wrong keys, a wrong name or a store that is down, with and without the demo', async (t) => {
  const s3 = await startS3Server(t)
  const DATABASE_URL = await newDatabase(t)
  for (const DEMO of ['0', '1']) {
    const env = { ...s3.env, DATA_DIR: await temporaryFolder(t), DATABASE_URL, DEMO }
    const keys = /^S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: the bucket till-files at http:\S+ cannot be used \(/
    await assertRefused({ ...env, S3_ACCESS_KEY_ID: 'AKIAWRONG' }, keys)
    await assertRefused({ ...env, S3_SECRET_ACCESS_KEY: 'wrong' }, keys)
    const other = env.STORAGE_URL.replace('till-files', 'other')
    await assertRefused({ ...env, STORAGE_URL: other }, /^STORAGE_URL: the bucket other at \S+ cannot be used \(NoSuchBucket, 404\)/) // oxfmt-ignore
    const away = env.STORAGE_URL.replace(/endpoint=[^&]*/, 'endpoint=http://127.0.0.1:1')
    await assertRefused({ ...env, STORAGE_URL: away }, /^STORAGE_URL: the bucket till-files at http:\/\/127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\)/) // oxfmt-ignore
  }
})

test('a bucket whose keys lost the right to read is reported as a problem of the keys, not of the files', async (t) => {
  const s3 = await startS3Server(t)
  // a first start with keys that may not list the bucket
  s3.weather.unlisted = true
  const [dataDir, DATABASE_URL] = [await temporaryFolder(t), await newDatabase(t)]
  await ranOnce(t, dataDir, { ...s3.env, DATABASE_URL })
  s3.weather.unreadable = true
  const env = { ...s3.env, DATA_DIR: dataDir, DATABASE_URL }
  await assertRefused(
    env,
    /^S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: the bucket till-files at \S+ cannot be used \(AccessDenied, 403\)/,
  )
  const found = await examine({ ...env, SECRET }, patienceOf(60))
  assert(!found.some(({ says }) => says.includes('does not hold the files')), JSON.stringify(found))
})

test('a storage that was right before may be away when the service starts again', async (t) => {
  const s3 = await startS3Server(t)
  const [dataDir, DATABASE_URL] = [await temporaryFolder(t), await newDatabase(t)]
  await ranOnce(t, dataDir, { ...s3.env, DATABASE_URL })
  const away = s3.env.STORAGE_URL.replace(/endpoint=[^&]*/, 'endpoint=http://127.0.0.1:1')
  const { output } = await startService(t, dataDir, { ...s3.env, STORAGE_URL: away, DATABASE_URL })
  assert.match(output(), /the storage cannot be reached/)
})

test('an instance with another secret does not start, and a rotation does', async (t) => {
  const [dataDir, DATABASE_URL] = [await temporaryFolder(t), await newDatabase(t)]
  const env = { DATA_DIR: dataDir, DATABASE_URL }
  await ranOnce(t, dataDir, env)
  const refused = /^SECRET: this database was used with another secret\./
  await assertRefused({ ...env, SECRET: OTHER_SECRET }, refused)
  await ranOnce(t, dataDir, { ...env, SECRET: `${SECRET},${OTHER_SECRET}` })
  await assertRefused({ ...env, SECRET: OTHER_SECRET }, refused)
  await ranOnce(t, dataDir, { ...env, SECRET: `${OTHER_SECRET},${SECRET}` })
  await assertRefused({ ...env, SECRET }, refused)
  const found = await examine({ ...env, SECRET }, patienceOf(60))
  assert(
    found.some(({ about, mark }) => about === 'secret' && mark === 'failure'),
    JSON.stringify(found),
  )
  assert.equal((await run('scripts/adopt.ts', { ...env, SECRET }, ['secret'])).status, 0)
  await ranOnce(t, dataDir, env)
})

test('an instance with other files does not start until the database has adopted them', async (t) => {
  const [dataDir, DATABASE_URL] = [await temporaryFolder(t), await newDatabase(t)]
  await ranOnce(t, dataDir, { DATABASE_URL })
  const other = { DATA_DIR: await temporaryFolder(t), DATABASE_URL }
  await assertRefused(other, /^STORAGE_URL: .*files does not hold the files of this database\./)
  const found = await examine({ ...other, SECRET }, patienceOf(60))
  assert(found.some(({ says, mark }) => mark === 'failure' && says.includes('does not hold the files')), JSON.stringify(found)) // oxfmt-ignore
  assert.equal((await run('scripts/adopt.ts', other, ['storage'])).status, 0)
  await ranOnce(t, other.DATA_DIR, { DATABASE_URL })
  await assertRefused(
    { ...other, DATA_DIR: dataDir },
    /^STORAGE_URL: .*files belongs to another database\.|does not hold/,
  )
})

test('without PAYOUTS no service takes the money that a processor passes to sellers, unless the operator says so', async (t) => {
  const [dataDir, DATABASE_URL] = [await temporaryFolder(t), await newDatabase(t)]
  const env = { DATA_DIR: dataDir, DATABASE_URL }
  await ranOnce(t, dataDir, { DATABASE_URL })
  const rules = () => query(DATABASE_URL, 'select is_needed, processor from account_rule')
  for (const [processor, name, setting] of [
    ['stripe', 'Stripe', 'stripe-connect'],
    ['razorpay', 'Razorpay', 'razorpay-route'],
  ]) {
    await query(DATABASE_URL, `update account_rule set is_needed = true, processor = '${processor}'`)
    await assertRefused(
      env,
      new RegExp(`^PAYOUTS: not set, but ${name} pays .* Set PAYOUTS=${setting}, or PAYOUTS=manual `),
    )
    assert.deepEqual(await rules(), [{ is_needed: true, processor }])
    const found = (await examine({ ...env, SECRET }, patienceOf(60))).find(({ about }) => about === 'payouts')
    assert.deepEqual([found?.mark, found?.advice?.includes(setting!)], ['failure', true])
  }
  await ranOnce(t, dataDir, { DATABASE_URL, PAYOUTS: 'manual' })
  assert.equal((await rules())[0].is_needed, false)
  await ranOnce(t, dataDir, { DATABASE_URL })
})

test('real payments and tries never share a database, unless it has adopted the others', async (t) => {
  const [dataDir, DATABASE_URL] = [await temporaryFolder(t), await newDatabase(t)]
  const env = { DATA_DIR: dataDir, DATABASE_URL }
  const { db, close } = connect({ connectionString: DATABASE_URL }, { connections: 1, patient: true })
  atEnd(t, close)
  const live = { processors: ['stripe'], stripe: { secretKey: 'sk_live_x' }, razorpay: undefined }
  const tries = { ...live, stripe: { secretKey: 'sk_test_x' } }
  const none = { ...live, processors: [] }
  await ranOnce(t, dataDir, { DATABASE_URL })
  // without a payment the database takes either
  for (const settings of [live, tries, live, none]) await refuseOtherMode(db, settings)
  const shop = await startTestShop(t, { databaseUrl: DATABASE_URL })
  await shop.paid()
  await shop.close()
  await assert.rejects(refuseOtherMode(db, live), /^Error: PROCESSORS: the payments in this database were tries/)
  await refuseOtherMode(db, none)
  // a database that was used before there was the check
  const forget = () => query(DATABASE_URL, 'update installation set payments_mode = null')
  await forget()
  await assert.rejects(refuseOtherMode(db, live), CannotStart)
  await refuseOtherMode(db, tries)
  await query(DATABASE_URL, "update captures set processor = 'stripe'")
  await forget()
  await refuseOtherMode(db, live)
  await assertRefused({ ...env, PROCESSORS: 'sandbox' }, /^PROCESSORS: the payments in this database are real/)
  const without = await run('scripts/adopt.ts', { ...env, PROCESSORS: 'none' }, ['payments'])
  assert.deepEqual([without.status, /PROCESSORS is none/.test(without.err)], [2, true])
  const adopted = await run('scripts/adopt.ts', env, ['payments'])
  assert.deepEqual([adopted.status, /accepts tries \(PROCESSORS: sandbox\)/.test(adopted.out)], [0, true])
  await ranOnce(t, dataDir, { DATABASE_URL })
  await assert.rejects(refuseOtherMode(db, live), CannotStart)
})

test('of two first instances with different files one is refused, however close together they start', async (t) => {
  for (let round = 0; round < 5; round++) {
    const connectionString = await newDatabase(t)
    await query(connectionString, 'delete from installation')
    const open = async () => {
      const { db, close } = connect({ connectionString }, { connections: 1, patient: true })
      const installed = { secrets: [SECRET], storageDir: await temporaryFolder(t), s3: undefined }
      return openInstallation(db, installed, newLog('silent')).finally(close)
    }
    const both = await Promise.allSettled([open(), open()])
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const { reason } = both.find((one) => one.status === 'rejected')!
    assert.match(String(reason), /does not hold the files of this database/)
  }
})

test('the next start repairs a start that was killed between the database and the storage', async (t) => {
  const [dataDir, DATABASE_URL] = [await temporaryFolder(t), await newDatabase(t)]
  await ranOnce(t, dataDir, { DATABASE_URL })
  await query(DATABASE_URL, 'update installation set storage_confirmed_at = null')
  fs.rmSync(path.join(dataDir, 'files', 'id'), { recursive: true })
  await ranOnce(t, dataDir, { DATABASE_URL })
  const [row] = await query(DATABASE_URL, 'select storage_id, storage_confirmed_at is not null as confirmed from installation') // oxfmt-ignore
  const written = fs.readFileSync(path.join(dataDir, 'files', 'id', 'till-storage-id'), 'utf8').trim()
  assert.deepEqual(row, { storage_id: written, confirmed: true })
})

/** Answers every query of every connection with one server process's number, in PostgreSQL's protocol. */
async function startSharingPooler(t: Ends): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = []
  const message = (type: string, ...parts: Buffer[]) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(4 + Buffer.concat(parts).length)
    return Buffer.concat([Buffer.from(type), length, ...parts])
  }
  const ready = message('Z', Buffer.from('I'))
  // a column "pid", of type int4 in text, and a row with 7
  const answer = [
    message(
      'T',
      Buffer.from('0001', 'hex'),
      Buffer.from('pid\0'),
      Buffer.from(`${'00'.repeat(6)}00000017${'0004'}ffffffff0000`, 'hex'),
    ),
    message('D', Buffer.from('000100000001', 'hex'), Buffer.from('7')),
    message('C', Buffer.from('SELECT 1\0')),
    ready,
  ]
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (chunk[0] === 0) socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]))
      if (chunk.toString('latin1', 0, 1) !== 'Q') return
      asked.push(chunk.toString('utf8', 5, chunk.length - 1))
      socket.write(Buffer.concat(answer))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(t, () => server.close())
  return { port: (server.address() as net.AddressInfo).port, asked }
}

test('a public start says that its payments are tests, and that operators cannot enter by a host without their session', async (t) => {
  const started = async (env: Record<string, string>) => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, new Writable({ write: (line, _encoding, done) => (lines.push(String(line)), done()) })) // oxfmt-ignore
    await startTestShop(t, { env: { ...PUBLIC, ...env }, log })
    return lines.join('')
  }
  assert.match(await started({ OPERATORS: 'ann@shop.example' }), /OPERATORS: .*\/operator\/.* 404: set COOKIE_DOMAIN/)
  assert.doesNotMatch(await started({ OPERATORS: 'ann@shop.example', COOKIE_DOMAIN: 'shop.example' }), /OPERATORS/)
  const tries = await started({})
  assert.doesNotMatch(tries, /OPERATORS/)
  assert.match(tries, /PROCESSORS: the payments of this public service are tests/)
  assert.doesNotMatch(await started({ PROCESSORS: 'none' }), /are tests/)
})
