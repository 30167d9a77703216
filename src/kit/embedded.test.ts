import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedPostgres, findEmbedded, startEmbedded } from './embedded.ts'
import { atEnd } from '../../test/support/ends.ts'
import { claimData } from './embedded/cluster.ts'
import { isGuarded, standGuard } from './embedded/guard.ts'
import { findPostmaster } from './embedded/pid-file.ts'
import { type Place, socketFolder } from './embedded/place.ts'
import { restoreCommand } from './embedded/postmaster.ts'

const NAME = 'till'
const AS_ROOT = process.getuid?.() === 0

/** A cluster takes a second or two to make and moments to copy: all but the first test copy that of the first. */
const prepared = fs.mkdtempSync(path.join(os.tmpdir(), `${NAME}-prepared-`))
after(() => fs.rmSync(prepared, { recursive: true, force: true }))

test('from nothing: a database whose role is no superuser, on a socket, and gone when stopped', async (t) => {
  fs.mkdirSync(path.join(prepared, `new-${await endedPid()}`, 'data'), { recursive: true })

  const postgres = await start(t, prepared)
  const [row] = await query(
    postgres,
    `select current_user, rolsuper, current_setting('listen_addresses') as listens,
    current_setting('max_connections') as connections from pg_roles where rolname = current_user`,
  )
  assert.deepEqual(row, { current_user: 'app', rolsuper: false, listens: '', connections: '100' })
  assert.deepEqual(
    fs.readdirSync(prepared).sort(),
    ['data', 'lock', 'postgres.log', 's'],
    'the remains of a killed start are gone',
  )

  await postgres.stop()
  assert.throws(() => process.kill(postgres.pid, 0), { code: 'ESRCH' })
  await assert.rejects(query(postgres, 'select 1'))
})

test('a later start finds the data of an earlier one', async (t) => {
  const folder = clusterFolder(t)
  const first = await start(t, folder)
  await query(first, 'create table kept as select 7 as n')
  await first.stop()
  const second = await start(t, folder)
  assert.deepEqual(await query(second, 'select n from kept'), [{ n: 7 }])
})

test('a start beside a running service is refused with an explanation, and the running one keeps its server', async (t) => {
  const folder = clusterFolder(t)
  const { service, pid, dataDir } = await startProcess(t, folder)
  const inUse = new RegExp(`^Error: .* is in use by another process \\(${service.pid}\\): stop that one`)
  await assert.rejects(startEmbedded({ dir: folder, name: NAME, lockWaitMs: 0 }), (error) => inUse.test(String(error)))
  const url = findEmbedded(folder)
  assert(url, 'a program that only reads shares it')
  assert.equal(findPostmaster(dataDir)?.pid, pid)
  service.kill('SIGKILL')
  const next = await start(t, folder)
  assert.deepEqual(await query(next, 'select 1 as n'), [{ n: 1 }])
})

if (process.platform === 'linux') {
  test('a folder that a service of another container uses is refused, whatever its numbers say here', async (t) => {
    const folder = clusterFolder(t)
    const { pid, dataDir } = await startProcess(t, folder)
    const lock = path.join(folder, 'lock')
    const claim = fs.readdirSync(lock).find((name) => /^\d+$/.test(name))!
    const ofAnother = `${await endedPid()} 12345 ${fs.statSync(lock).ino}\n`
    fs.writeFileSync(path.join(lock, claim), ofAnother)
    await assert.rejects(
      startEmbedded({ dir: folder, name: NAME, lockWaitMs: 0 }),
      /is in use by another process \(perhaps in another container\): stop that one/,
    )
    assert.equal(fs.readFileSync(path.join(lock, claim), 'utf8'), ofAnother, 'its claim is left alone')
    assert.equal(findPostmaster(dataDir)?.pid, pid)
  })

  test('a server of another container is found by its socket, and keeps its files', async (t) => {
    const folder = clusterFolder(t)
    const { service, pid, dataDir } = await startProcess(t, folder)
    // so far away that its server is all that is left to be seen
    service.kill('SIGSTOP')
    fs.rmSync(path.join(folder, 'lock'), { recursive: true })
    const pidFile = path.join(dataDir, 'postmaster.pid')
    const content = fs.readFileSync(pidFile, 'utf8')
    atEnd(t, () => fs.writeFileSync(pidFile, content))
    for (const strange of [process.pid, await endedPid()]) {
      const ofAnother = content.replace(/^\d+/, String(strange))
      fs.writeFileSync(pidFile, ofAnother)
      const sockets = fs.readdirSync(path.join(folder, 's')).sort()
      await assert.rejects(
        startEmbedded({ dir: folder, name: NAME, lockWaitMs: 0 }),
        /is in use by another process \(perhaps in another container\)/,
      )
      assert.equal(fs.readFileSync(pidFile, 'utf8'), ofAnother)
      assert.deepEqual(fs.readdirSync(path.join(folder, 's')).sort(), sockets)
      assert.equal(process.kill(pid, 0), true)
    }
  })

  test('of many simultaneous guards at most one holds, and ended ones leave nothing behind', async (t) => {
    const folder = temporaryFolder(t)
    fs.writeFileSync(path.join(folder, 'guard-0123456789abcdef'), '')
    const guards = (await Promise.all(Array.from({ length: 8 }, () => standGuard(folder)))).filter(Boolean)
    assert(guards.length <= 1)
    for (const guard of guards) guard!.close()
    const guard = await standGuard(folder)
    assert(guard)
    assert.equal(await standGuard(folder), undefined)
    assert.equal(fs.readdirSync(folder).length, 1)
    guard.close()
    assert.deepEqual(fs.readdirSync(folder), [])
    assert.equal(await isGuarded(folder), false)
  })
}

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

test('after a kill of service and server together the next start recovers', async (t) => {
  const folder = clusterFolder(t)
  const { service, pid, dataDir } = await startProcess(t, folder)
  process.kill(pid, 'SIGKILL')
  service.kill('SIGKILL')
  // on a busy machine a killed process lives on for a moment
  await until(() => findPostmaster(dataDir) === undefined)
  const next = await start(t, folder)
  assert.notEqual(next.pid, pid)
  assert.deepEqual(await query(next, 'select 1 as n'), [{ n: 1 }])
})

test('of two services that start at once on nothing one runs, and the other is refused', async (t) => {
  const folder = temporaryFolder(t)
  const both = await Promise.allSettled([startProcess(t, folder), startProcess(t, folder)])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const { value } = both.find((one) => one.status === 'fulfilled')!
  assert.equal(findPostmaster(value.dataDir)?.pid, value.pid)
  assert.deepEqual(fs.readdirSync(folder).sort(), ['data', 'lock', 'postgres.log', 's'])
})

test('a pid file that names a foreign process, as after a restart of a container, does not count as a server', async (t) => {
  const folder = clusterFolder(t)
  const first = await start(t, folder)
  const pidFile = path.join(first.dataDir, 'postmaster.pid')
  const content = fs.readFileSync(pidFile, 'utf8')
  await first.stop()
  fs.writeFileSync(pidFile, content.replace(/^\d+/, String(process.pid)))
  const second = await start(t, folder)
  assert.deepEqual(await query(second, 'select 1 as n'), [{ n: 1 }])
})

test('the log is emptied at start once it is large', async (t) => {
  const folder = clusterFolder(t)
  fs.writeFileSync(path.join(folder, 'postgres.log'), Buffer.alloc(6_000_000))
  await start(t, folder)
  assert.ok(fs.statSync(path.join(folder, 'postgres.log')).size < 10_000)
})

test('a long path with special characters works', async (t) => {
  const folder = clusterFolder(t, `it's, "quoted" ${'and long '.repeat(10)}`)
  const postgres = await start(t, folder)
  atEnd(t, () => fs.rmSync(postgres.host, { recursive: true, force: true }))
  assert.deepEqual(await query(postgres, 'select 1 as n'), [{ n: 1 }])
})

test('a path that is long in bytes, and not in characters, works', async (t) => {
  const folder = clusterFolder(t, 'größe/'.repeat(4) + 'データ'.repeat(12))
  const postgres = await start(t, folder)
  atEnd(t, () => fs.rmSync(postgres.host, { recursive: true, force: true }))
  assert.deepEqual(await query(postgres, 'select 1 as n'), [{ n: 1 }])
})

test('where no path is short enough for a socket, the start says so in one line', () => {
  assert.equal(socketFolder('/srv/till', '/tmp/till-1'), '/srv/till/s')
  for (const long of [`/${'x'.repeat(84)}`, `/${'é'.repeat(42)}`])
    assert.match(socketFolder(long, '/tmp/till-1'), /^\/tmp\/till-1-[0-9a-f]{10}$/)
  assert.throws(() => socketFolder(`/${'x'.repeat(84)}`, `/${'y'.repeat(80)}/till-1`), {
    message:
      /^DATA_DIR: the path \/x+ is too long for PostgreSQL's socket: choose a shorter DATA_DIR, or a shorter TMPDIR than \/y+\.$/,
  })
})

test('a restore whose process was killed ends with a status that PostgreSQL does not take for the end of the log', (t) => {
  const folder = path.join(clusterFolder(t, `it's 100% here`), 'asked')
  fs.mkdirSync(folder)
  // PostgreSQL works in its folder, and names the file from there
  const inPostgres = () => {
    const command = restoreCommand(folder, 200).replaceAll('%f', '0001').replaceAll('%p', 'got').replaceAll('%%', '%')
    return spawnSync('/bin/sh', ['-c', command], { cwd: path.dirname(folder) }).status
  }
  assert.equal(inPostgres(), 255)
  assert.deepEqual(fs.readdirSync(folder), ['0001.want'])
  fs.writeFileSync(path.join(folder, '0001.none'), '')
  assert.equal(inPostgres(), 1)
  fs.writeFileSync(path.join(folder, '0001.here'), 'its bytes')
  assert.equal(inPostgres(), 0)
  assert.equal(fs.readFileSync(path.join(folder, '../got'), 'utf8'), 'its bytes')
})

test('data of another major version are refused with an explanation', async (t) => {
  const folder = clusterFolder(t)
  for (const [made, way] of [
    ['9', 'run "npm run upgrade-database"'],
    ['99', 'start the newer release that has made it'],
  ] as const) {
    fs.writeFileSync(path.join(folder, 'data', 'PG_VERSION'), `${made}\n`)
    await assert.rejects(
      start(t, folder),
      new RegExp(`was made by PostgreSQL ${made}, and this release runs \\d+: ${way}\\.$`),
    )
  }
})

test('the server’s log has no rows and no failed statements', async (t) => {
  const folder = clusterFolder(t)
  const postgres = await start(t, folder)
  await query(postgres, 'create table people (email text primary key, age int check (age > 0))')
  await query(postgres, `insert into people values ('bob@private.example', 7)`)
  for (const values of [`('bob@private.example', 8)`, `('ann@private.example', -1)`])
    await assert.rejects(query(postgres, `insert into people values ${values}`))
  await postgres.stop()
  const log = fs.readFileSync(path.join(folder, 'postgres.log'), 'utf8')
  assert.match(log, /people_pkey[^]*people_age_check/)
  assert.doesNotMatch(log, /private\.example|insert into/)
})

test('a folder that had a database is never given an empty one', async (t) => {
  const folder = clusterFolder(t)
  await (await start(t, folder)).stop()
  fs.rmSync(path.join(folder, 'data'), { recursive: true })
  await assert.rejects(
    start(t, folder),
    /There is no database in .*\(there was one here before\)\. .* set DATABASE_URL.* put the folder back .*or remove/,
  )

  // the content of a backup of a folder whose database was elsewhere
  const restored = temporaryFolder(t)
  fs.symlinkSync('/var/lib/till/5f1c0a9b7e42', path.join(restored, 'elsewhere'))
  await assert.rejects(start(t, restored), /There is no database in .*\(it was in \/var\/lib\/till\/5f1c0a9b7e42\)/)

  const nothing = temporaryFolder(t)
  const other = path.join(nothing, 'not-yet')
  for (const dir of [nothing, other])
    await assert.rejects(
      startEmbedded({ dir, name: NAME, mayMake: false }),
      /There is no database in .* set DATABASE_URL.* put the folder back/,
    )
  assert.deepEqual([fs.readdirSync(nothing), fs.existsSync(other)], [[], false], 'reading makes nothing')
  fs.mkdirSync(path.join(nothing, 'data', 'pg_wal'), { recursive: true })
  await assert.rejects(start(t, nothing), /its folder holds something else/)
})

test('a database in an earlier version’s place is copied into its folder by the start, and never while its server runs', async (t) => {
  const [folder, elsewhere] = [temporaryFolder(t), clusterFolder(t)]
  fs.symlinkSync(elsewhere, path.join(folder, 'elsewhere'))
  const old = await start(t, elsewhere)
  await query(old, 'create table kept as select 7 as n')
  await assert.rejects(start(t, folder), /is in use by another process/)
  assert(!fs.existsSync(path.join(folder, 'data')))
  await old.stop()
  await assert.rejects(
    startEmbedded({ dir: folder, name: NAME, mayMake: false }),
    /lies in .*: start the service once, which copies it here/,
  )

  const postgres = await start(t, folder)
  assert.equal(postgres.dataDir, path.join(fs.realpathSync(folder), 'data'))
  assert.deepEqual(await query(postgres, 'select n from kept'), [{ n: 7 }])
  await postgres.stop()
  const original = await start(t, elsewhere)
  assert.deepEqual(await query(original, 'select n from kept'), [{ n: 7 }], 'the original is whole')
})

test('a copy of the folder is a database of its own, and stopping it stops no other', async (t) => {
  const folder = clusterFolder(t)
  const original = await start(t, folder)
  const copied = path.join(temporaryFolder(t), 'copy')
  await query(original, 'checkpoint').catch(() => {})
  fs.cpSync(folder, copied, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !fs.lstatSync(file).isSocket(),
  })
  fs.chmodSync(path.join(copied, 'data'), 0o700)
  const copy = await start(t, copied)
  assert.notEqual(copy.pid, original.pid)
  await query(copy, 'create table only_here as select 1 as n')
  await copy.stop()
  await assert.rejects(query(original, 'select n from only_here'), /does not exist/)
  assert.equal(findPostmaster(original.dataDir)?.pid, original.pid)
})

if (AS_ROOT) {
  test('for root the database is inside the folder too, if other accounts cannot enter it', async (t) => {
    const closed = temporaryFolder(t)
    const folder = path.join(closed, 'below', 'postgres')
    fs.mkdirSync(path.dirname(folder), { mode: 0o700 })
    const first = await start(t, folder)
    assert.equal(first.dataDir, path.join(fs.realpathSync(folder), 'data'))
    await query(first, 'create table kept as select 7 as n')
    await first.stop()
    assert.deepEqual(fs.readdirSync(folder).sort(), ['data', 'lock', 'postgres.log', 's'])
    assert.equal(fs.statSync(closed).mode & 0o777, 0o700)

    const backup = path.join(closed, 'all.tar')
    const restored = path.join(closed, 'restored')
    fs.mkdirSync(restored)
    assert.equal(spawnSync('tar', ['-cf', backup, '-C', path.dirname(folder), 'postgres']).status, 0)
    fs.rmSync(folder, { recursive: true })
    assert.equal(spawnSync('tar', ['-xf', backup, '-C', restored, '--no-same-owner']).status, 0)
    const again = await start(t, path.join(restored, 'postgres'))
    assert.deepEqual(await query(again, 'select n from kept'), [{ n: 7 }])
  })

  test('for root a folder whose owner was changed half-way is finished by the next start', async (t) => {
    const folder = clusterFolder(t)
    const dataDir = path.join(folder, 'data')
    const all = fs.readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    const [before, after] = [54_321, 54_322]
    for (const name of ['.', ...all]) fs.lchownSync(path.join(dataDir, name), before, before)
    const place = { home: folder, dataDir, account: { uid: after, gid: after } } as Place
    let left = 10
    const killed = t.mock.method(fs, 'lchownSync', (...args: Parameters<typeof fs.chownSync>) => {
      if (left-- === 0) throw new Error('killed')
      fs.chownSync(...args)
    })
    assert.throws(() => claimData(place), /killed/)
    killed.mock.restore()
    claimData(place)
    for (const name of ['.', ...all]) assert.equal(fs.lstatSync(path.join(dataDir, name)).uid, after, name)
  })

  test('for root the server runs under an account of its own, never under one that others share', async (t) => {
    const folder = clusterFolder(t)
    const nobody = Number(/^nobody:[^:]*:(\d+):/m.exec(fs.readFileSync('/etc/passwd', 'utf8'))?.[1])
    for (const name of ['.', ...fs.readdirSync(path.join(folder, 'data'), { recursive: true, encoding: 'utf8' })])
      fs.lchownSync(path.join(folder, 'data', name), nobody, nobody)
    const { pid, dataDir } = await start(t, folder)
    const uid = Number(/^Uid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    assert(uid > 0 && uid !== nobody)
    assert.equal(fs.statSync(path.join(dataDir, 'base')).uid, uid)
    const [name] = new RegExp(`^[^:]+(?=:[^:]*:${uid}:)`, 'm').exec(fs.readFileSync('/etc/passwd', 'utf8')) ?? []
    assert(['till', 'postgres'].includes(name!), name)
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
  atEnd(t, () => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function start(t: TestContext, dir: string, { fast = true } = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbedded({ dir, name: NAME, fast })
  atEnd(t, () => postgres.stop())
  return postgres
}

/** A service in a process of its own, which can be killed. */
async function startProcess(t: TestContext, dir: string) {
  const module = JSON.stringify(new URL('embedded.ts', import.meta.url).href)
  const options = JSON.stringify({ dir, name: NAME, fast: true, lockWaitMs: 0 })
  const script = `
    const { startEmbedded } = await import(${module})
    const { pid, dataDir } = await startEmbedded(${options})
    process.send({ pid, dataDir })
    process.on('message', () => {}) // lives until it is killed`
  const service: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  })
  const ended = once(service, 'exit')
  atEnd(t, async () => {
    service.kill('SIGKILL')
    await ended
    // killed at the moment when it had just restarted the server, before a watcher guarded that one
    await until(() => !endServer(findPostmaster(path.join(dir, 'data'))?.pid))
  })
  const [started] = await Promise.race([once(service, 'message'), ended])
  assert.ok(started?.pid, 'the service did not start')
  return { service, ...(started as { pid: number; dataDir: string }) }
}

/** The number of a process that was. */
async function endedPid(): Promise<number> {
  const ended = spawn('true')
  await once(ended, 'exit')
  return ended.pid!
}

/** Asks a server to end. False when there is none. */
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

async function until(condition: () => boolean, ms = 300_000): Promise<void> {
  for (const deadline = Date.now() + ms; !condition(); await sleep(20)) {
    if (Date.now() > deadline) assert.fail(`not within ${ms} ms: ${condition}`)
  }
}
