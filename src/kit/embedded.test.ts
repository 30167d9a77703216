import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts'
import { findPostmaster } from './embedded/postmaster.ts'

const NAME = 'till-test'
const AS_ROOT = process.getuid?.() === 0

/** A cluster takes a second or two to make and moments to copy: all but the first test copy that of the first. */
const prepared = fs.mkdtempSync(path.join(os.tmpdir(), `${NAME}-prepared-`))
after(() => fs.rmSync(prepared, { recursive: true, force: true }))

test('from nothing: a database whose role is no superuser, on a socket, and gone when stopped', async (t) => {
  fs.chmodSync(prepared, 0o711)
  const killed = spawn('true')
  await once(killed, 'exit')
  fs.mkdirSync(path.join(prepared, `new-${killed.pid}`, 'data'), { recursive: true })

  const postgres = await start(t, prepared)
  const [row] = await query(
    postgres,
    `select current_user, rolsuper, current_setting('listen_addresses') as listens,
    current_setting('max_connections') as connections from pg_roles where rolname = current_user`,
  )
  assert.deepEqual(row, { current_user: 'app', rolsuper: false, listens: '', connections: '100' })
  assert.equal(postgres.adopted, false)
  assert.deepEqual(
    fs.readdirSync(prepared).sort(),
    ['data', 'postgres.log', 's'],
    'what a start that was killed left behind is gone',
  )

  await postgres.stop()
  assert.throws(() => process.kill(postgres.pid, 0), { code: 'ESRCH' })
  await assert.rejects(query(postgres, 'select 1'))
})

test('a later start finds what an earlier one wrote, and a start beside a living one shares its server', async (t) => {
  const folder = clusterFolder(t)
  const first = await start(t, folder)
  await query(first, 'create table kept as select 7 as n')
  await first.stop()
  const second = await start(t, folder)
  const beside = await start(t, folder)
  assert.equal(second.adopted, false)
  assert.equal(beside.adopted, true)
  assert.equal(beside.pid, second.pid)
  assert.deepEqual(await query(beside, 'select n from kept'), [{ n: 7 }])
})

test('a server killed under a living service comes back by itself, with all that was committed', async (t) => {
  const postgres = await start(t, clusterFolder(t), { fast: false })
  await query(postgres, 'create table kept as select 7 as n')
  const { pid } = postgres
  process.kill(pid, 'SIGKILL')
  await until(() => postgres.pid !== pid)
  assert.deepEqual(await query(postgres, 'select n from kept'), [{ n: 7 }])
})

test('a service killed with kill -9 takes its server along, and the next start finds everything', async (t) => {
  const folder = clusterFolder(t)
  const { service, dataDir } = await startProcess(t, folder)
  service.kill('SIGKILL')
  await until(() => findPostmaster(dataDir) === undefined)
  const next = await start(t, folder)
  assert.deepEqual(await query(next, 'select 1 as n'), [{ n: 1 }])
})

test('service and server killed together: the next start recovers', async (t) => {
  const folder = clusterFolder(t)
  const { service, pid } = await startProcess(t, folder)
  process.kill(pid, 'SIGKILL')
  service.kill('SIGKILL')
  const next = await start(t, folder)
  assert.notEqual(next.pid, pid)
  assert.deepEqual(await query(next, 'select 1 as n'), [{ n: 1 }])
})

test('two services that start at once on nothing share one server, and one outlives the other', async (t) => {
  const folder = temporaryFolder(t)
  const [one, other] = await Promise.all([startProcess(t, folder), startProcess(t, folder)])
  assert.equal(one.pid, other.pid)
  assert.deepEqual([one.adopted, other.adopted].sort(), [false, true])
  one.service.kill('SIGKILL')
  await until(() => ![undefined, one.pid].includes(findPostmaster(one.dataDir)?.pid))
  assert.deepEqual(fs.readdirSync(folder).sort(), ['data', 'postgres.log', 's'])
})

test('a pid file that names a foreign process, as after a restart of a container, is no server', async (t) => {
  const folder = clusterFolder(t)
  const first = await start(t, folder)
  const pidFile = path.join(first.dataDir, 'postmaster.pid')
  const content = fs.readFileSync(pidFile, 'utf8')
  await first.stop()
  fs.writeFileSync(pidFile, content.replace(/^\d+/, String(process.pid)))
  const second = await start(t, folder)
  assert.equal(second.adopted, false)
})

test('the log is emptied at start once it is large', async (t) => {
  const folder = clusterFolder(t)
  fs.writeFileSync(path.join(folder, 'postgres.log'), Buffer.alloc(6_000_000))
  await start(t, folder)
  assert.ok(fs.statSync(path.join(folder, 'postgres.log')).size < 10_000)
})

test('a path that is long and full of marks is as good as any', async (t) => {
  const folder = clusterFolder(t, `it's, "quoted" ${'and long '.repeat(10)}`)
  const postgres = await start(t, folder)
  finallyDo(t, () => fs.rmSync(postgres.host, { recursive: true, force: true }))
  assert.deepEqual(await query(postgres, 'select 1 as n'), [{ n: 1 }])
})

test('data of another major version are refused in words', async (t) => {
  const folder = clusterFolder(t)
  fs.writeFileSync(path.join(folder, 'data', 'PG_VERSION'), '9\n')
  await assert.rejects(start(t, folder), /was made by PostgreSQL 9 and cannot be used with/)
})

if (AS_ROOT) {
  test('in a folder closed to everybody but root the data lie elsewhere, and the folder says where', async (t) => {
    const closed = temporaryFolder(t)
    fs.chmodSync(closed, 0o700)
    finallyDo(t, () => fs.rmSync(path.join('/var/lib', NAME), { recursive: true, force: true }))
    const folder = path.join(closed, 'postgres')
    const first = await start(t, folder)
    assert.ok(first.dataDir.startsWith(path.join('/var/lib', NAME)))
    await query(first, 'create table kept as select 7 as n')
    await first.stop()
    const again = await start(t, folder)
    assert.deepEqual(await query(again, 'select n from kept'), [{ n: 7 }])
    assert.equal(fs.realpathSync(path.join(folder, 'elsewhere')), path.dirname(again.dataDir))
  })
}

/** Undoes in reverse order what a test has made; node:test's own hooks run in the order of their making. */
const undo = new WeakMap<TestContext, (() => unknown)[]>()
function finallyDo(t: TestContext, step: () => unknown): void {
  const steps = undo.get(t) ?? []
  undo.set(t, [step, ...steps])
  if (steps.length > 0) return
  t.after(async () => {
    for (const each of undo.get(t) ?? []) await each()
  })
}

function clusterFolder(t: TestContext, name = ''): string {
  const folder = path.join(temporaryFolder(t), name)
  fs.cpSync(path.join(prepared, 'data'), path.join(folder, 'data'), { recursive: true })
  fs.chmodSync(path.join(folder, 'data'), 0o700)
  return folder
}

function temporaryFolder(t: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `${NAME}-embedded-`))
  fs.chmodSync(folder, 0o711)
  finallyDo(t, () => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function start(t: TestContext, dir: string, { fast = true } = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbedded({ dir, name: NAME, fast })
  finallyDo(t, () => postgres.stop())
  return postgres
}

/** A service in a process of its own, which can be killed. */
async function startProcess(t: TestContext, dir: string) {
  const module = JSON.stringify(new URL('embedded.ts', import.meta.url).href)
  const options = JSON.stringify({ dir, name: NAME, fast: true })
  const script = `
    const { startEmbedded } = await import(${module})
    const { pid, adopted, dataDir } = await startEmbedded(${options})
    process.send({ pid, adopted, dataDir })
    process.on('message', () => {}) // lives until it is killed`
  const service: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(service, 'exit')
  finallyDo(t, async () => {
    service.kill('SIGKILL')
    await ended
    // killed in the moment in which it had just started the server anew, nobody watched over that one yet
    await until(() => !endServer(findPostmaster(path.join(dir, 'data'))?.pid))
  })
  const [started] = await Promise.race([once(service, 'message'), ended])
  assert.ok(started?.pid, 'the service did not start')
  return { service, ...(started as { pid: number; adopted: boolean; dataDir: string }) }
}

/** Asks a server to end; false when there is none. */
function endServer(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 'SIGINT')
  } catch {
    return false
  }
}

async function query({ url }: EmbeddedPostgres, text: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function until(condition: () => boolean, ms = 30_000): Promise<void> {
  for (const deadline = Date.now() + ms; !condition(); await sleep(20)) {
    if (Date.now() > deadline) assert.fail(`not within ${ms} ms: ${condition}`)
  }
}
