import { once } from 'node:events'
import fs from 'node:fs'
import module from 'node:module'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedPostgres } from './kit/embedded.ts'

// Without the cache, half of the time to start goes into compiling the same code again. It lies beside the packages, because any account
// of the machine could put code for us into Node's default folder in /tmp.
module.enableCompileCache(path.resolve(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled'))
const { readConfig } = await import('./config.ts')
const { CannotStart } = await import('./kit/cannot-start.ts')
const { startEmbedded } = await import('./kit/embedded.ts')
const { errorForLog, newLog } = await import('./kit/log.ts')
const { returnMemoryWhenCalm } = await import('./kit/memory.ts')
const { diskPath } = await import('./kit/storage/disk.ts')
const { STORAGE_ID } = await import('./kit/storage/storage.ts')

/** Connections for requests of buyers and sellers. A few more are reserved for work that must never wait for those. */
const MAIN_CONNECTIONS = 16
const RESERVED_CONNECTIONS = 4
/** The time limit for closing after a signal, and the part of it for requests. The jobs and the database need the rest. */
const CLOSE_TIMEOUT_MS = 15_000
const REQUESTS_CLOSE_MS = 6_000
/** The last pieces of files and of the log take milliseconds. */
const LAST_FILES_MS = 1_000
const LOOK_EVERY_MS = 20

const own: { database?: EmbeddedPostgres } = {}
const config = await orExit(() => readConfig())
const log = newLog(config.logLevel)
const { port, release } = await takePort(config.port, config.host)
if (!config.databaseUrl) own.database = await orExit(startOwnDatabase)
const { buildApp, connect } = await loadApp()
const database = { connectionString: config.databaseUrl ?? own.database!.url }
const onError = (error: Error) => log.warn(errorForLog(error), 'a database connection was lost')
const main = connect(database, { connections: MAIN_CONNECTIONS, onError })
const reserved = connect(database, { connections: RESERVED_CONNECTIONS, onError })

const ownUrl = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  .replace('//0.0.0.0:', '//127.0.0.1:')
  .replace('//[::]:', '//[::1]:')
const baseUrl = config.baseUrl ?? ownUrl
const appUrl = config.appUrl ?? baseUrl
const parts = { config, log, main, reserved, database, embedded: own.database, ownUrl: () => ownUrl, baseUrl, appUrl }
const app = await orExit(() => buildApp(parts))
let closing = false
const hurry = new AbortController()

/**
 * Stops the service. While it drains, it still answers requests, but /readyz fails and each connection is closed after its response, so
 * that a proxy moves to other instances without losing a request. A second signal ends the wait.
 */
async function close(why: string, { code = 0, drainSeconds = 0 } = {}): Promise<void> {
  if (closing) return hurry.abort()
  closing = true
  log.info({ why, drainSeconds }, 'closing')
  app.startDraining()
  await sleep(drainSeconds * 1000, undefined, { signal: hurry.signal }).catch(() => {})
  const finished = (async () => {
    await app.close(REQUESTS_CLOSE_MS)
    await Promise.all([main.close(), reserved.close()])
    await own.database?.stop()
    await app.sendLastOfBackup()
  })()
  const failed = finished.catch((error) => log.error(errorForLog(error), 'closing failed'))
  const overtime = sleep(CLOSE_TIMEOUT_MS).then(() => log.warn('closing was cut short: something still ran'))
  await Promise.race([failed, overtime])
  await killIfFilesHang()
  process.exit(code)
}

/** `exit` waits for the threads that work on files. One that waits for a shared folder without an answer would keep the process for ever. */
async function killIfFilesHang(): Promise<void> {
  const areUnderWay = () => process.getActiveResourcesInfo().some((one) => /^(?:FSReq|CloseReq)/.test(one))
  for (const end = Date.now() + LAST_FILES_MS; areUnderWay() && Date.now() < end;) await sleep(LOOK_EVERY_MS)
  // the last listener: the log has been written by then
  if (areUnderWay()) process.once('exit', () => process.kill(process.pid, 'SIGKILL'))
}
// no draining after Ctrl-C, because a person waits; a supervisor that replaces the service sends SIGTERM
process.on('SIGINT', () => void close('SIGINT'))
process.on('SIGTERM', () => void close('SIGTERM', config))
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    log.fatal(errorForLog(error), event)
    void close(event, { code: 1 })
  })
}
await app.server.ready()
await release()
await app.server.listen({ port, host: config.host })
announce()
// now, because a process that is killed writes nothing at its end, and the next start would compile all of it again
module.flushCompileCache()
returnMemoryWhenCalm()

// npm starts the service through a shell that forwards no signals, so the service stops when that shell is gone
if (config.startedByNpm) {
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && !closing && void close('npm ended', config), 500).unref()
}

function announce(): void {
  const demo = app.demo.map(({ id, label }) => `  ${label.padEnd(17)}  ${appUrl}/pay/?product=${id}`)
  const outbox = app.outboxUrl ? [`  mails sent         ${app.outboxUrl}`] : []
  const lines = [
    '',
    `Till is ready.`,
    `  home               ${appUrl}/`,
    ...demo,
    `  sign in            ${appUrl}/sign-in/`,
    ...outbox,
    `  the API            ${baseUrl}/api/docs`,
    '',
  ]
  // a full disk or a closed terminal must not end the service
  process.stdout.on('error', () => {})
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Loads most of the program. It comes after the settings, so that the embedded database can start at the same time. */
async function loadApp() {
  const [{ buildApp }, { connect }] = await Promise.all([import('./app.ts'), import('./kit/database.ts')])
  return { buildApp, connect }
}

/** Starts the embedded database. If the storage has files, they belong to a database, so it must not make a new, empty one. */
function startOwnDatabase() {
  const hadFiles = fs.existsSync(diskPath(config.storageDir, STORAGE_ID))
  return startEmbedded({
    dir: path.join(config.dataDir, 'postgres'),
    name: 'till',
    mayMake: !hadFiles,
    archive: config.backup !== undefined,
    log: (line) => log.info(line),
    meanwhile: () => void loadApp(),
  })
}

/** Prints an error that the operator can fix, and exits. Other errors are faults of the program, and keep their stack. */
async function orExit<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    process.stderr.write(`${error.message}\n`)
    await own.database?.stop()
    process.exit(1)
  }
}

/**
 * Returns the port to listen on. It runs first, so that a second start does not disturb the running service. For 0 it finds a free port
 * and keeps it until `release`: otherwise another program could take the port while this one starts.
 */
async function takePort(port: number, host: string): Promise<{ port: number; release: () => Promise<void> }> {
  const probe = net.createServer((socket) => socket.destroy()).listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const hint =
      code === 'EADDRINUSE'
        ? `another service listens there. To start beside it: PORT=${port < 65_535 ? port + 1 : 4001} npm start`
        : 'choose another PORT or HOST'
    process.stderr.write(`PORT ${port} of HOST ${host} cannot be listened on (${code}): ${hint}\n`)
    process.exit(1)
  }
  const taken = (probe.address() as net.AddressInfo).port
  const release = async () => {
    probe.close()
    await once(probe, 'close')
  }
  // a port that was asked for by name stays closed until the service is ready, so that nothing takes the open port for a running service
  if (port !== 0) await release()
  return { port: taken, release: port === 0 ? release : async () => {} }
}
