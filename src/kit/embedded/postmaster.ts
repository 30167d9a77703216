import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CannotStart } from '../cannot-start.ts'
import { afterUs } from './after-us.ts'
import { makeWalFolder } from './gap.ts'
import { isAnswered } from './guard.ts'
import { findPostmaster, FOLDER_SETTING, isAlive, isServer, type Postmaster, removeForeignPidFile } from './pid-file.ts'
import { giveTo, insideFolder, makeSocketFolder, type Place, runProgram, spawnOptions, WINDOWS } from './place.ts'

const START_TIMEOUT_MS = 60_000
/** After a server was killed, its backends hold the shared memory for a moment. So a launch is tried a few times before it fails. */
const MOST_LAUNCHES = 8
const LAUNCH_PAUSE_MS = 150
const POLL_MS = 20
const PORT = 5432
/** A fast stop takes about 30 ms. After this time the server is stopped without the last checkpoint, which loses no data. */
const STOP_TIMEOUT_MS = 10_000
const REAP_TIMEOUT_MS = 500
const MOST_LOG_BYTES = 5_000_000
/** How often a restore looks for the segment that it has asked for. */
const LOOK_SECONDS = 0.05

export interface Running extends Postmaster {
  /** Another process started the server. */
  adopted: boolean
  /** Lets the server outlive this process from now on. */
  letGo(): void
}

export interface ServerOptions {
  durable: boolean
  maxConnections: number
  /** Puts finished segments of the write-ahead log (WAL) into this folder beside the data. */
  walFolder?: string | undefined
  /** Lets a copy become a database again: it asks for each segment in this folder, see `recovery.ts`. */
  recovery?: { folder: string; timeline: number; until?: Date | undefined; answerWithinMs: number } | undefined
}

/** If the machine is lost, at most this much of the log is lost, and half a minute more that is on its way to the backup. */
const ARCHIVE_SECONDS = 30

/**
 * Returns the cluster's server once it accepts connections: the server that an earlier run left behind, or a new one. When several
 * calls or processes do this at once, one starts the server and the others share it.
 */
export async function ensureRunning(
  place: Place,
  options: ServerOptions,
  meanwhile: () => void = () => {},
  timeoutMs = START_TIMEOUT_MS,
): Promise<Running> {
  const deadline = Date.now() + timeoutMs
  let child: ChildProcess | undefined
  let letGo = () => {}
  for (let launches = 0; Date.now() < deadline; await sleep(POLL_MS)) {
    const found = findPostmaster(place.dataDir)
    if (found?.status === 'ready') {
      const adopted = found.pid !== child?.pid
      if (adopted) letGo()
      return { ...found, adopted, letGo: adopted ? stopWithUs(place, found.pid) : letGo }
    }
    // wait for a server that starts or stops, and for our own, which may not have written its pid file yet
    if (found || (child && child.exitCode === null && child.signalCode === null)) continue
    letGo()
    if (launches === MOST_LAUNCHES) break
    if (launches++ > 0) await sleep(LAUNCH_PAUSE_MS)
    if (await isServed(place)) {
      if (findPostmaster(place.dataDir)) continue // it has started just now
      throw inUse(place.home)
    }
    child = launch(place, options)
    if (child.pid) letGo = stopWithUs(place, child.pid)
    meanwhile()
  }
  throw new CannotStart(`PostgreSQL did not start, see ${logFile(place)}: ${lastWords(place)}`)
}

function archiveSettings(place: Place, { walFolder, recovery }: ServerOptions): Record<string, string | number> {
  const inside = insideFolder(place, place.dataDir)
  if (recovery) {
    return {
      wal_level: 'replica',
      // no connection before the recovery has ended
      hot_standby: 'off',
      restore_command: restoreCommand(inside.reach(recovery.folder), recovery.answerWithinMs),
      recovery_target_timeline: recovery.timeline,
      ...(recovery.until && {
        // the abbreviation Z is not known yet when PostgreSQL reads this
        recovery_target_time: recovery.until.toISOString().replace('Z', '+00'),
        recovery_target_action: 'promote',
      }),
    }
  }
  // there is no replication
  if (!walFolder) return { wal_level: 'minimal' }
  makeWalFolder(walFolder)
  giveTo(place.account, walFolder)
  return {
    wal_level: 'replica',
    archive_mode: 'on',
    archive_library: 'basic_archive',
    'basic_archive.archive_directory': inside.reach(walFolder),
    archive_timeout: ARCHIVE_SECONDS,
  }
}

/**
 * Asks for a segment in the folder and waits for the answer. When no answer comes, because the process of the restore was killed, it
 * ends with a status by which PostgreSQL ends too. With any other status PostgreSQL would assume that the log ends here, and open the
 * database.
 */
export function restoreCommand(folder: string, answerWithinMs: number): string {
  const asked = `'${folder.replaceAll("'", `'\\''`).replaceAll('%', '%%')}/%f'`
  const looks = Math.ceil(answerWithinMs / 1000 / LOOK_SECONDS)
  return (
    `touch ${asked}.want; left=${looks}; while [ ! -e ${asked}.here ] && [ ! -e ${asked}.none ]; do ` +
    `[ $left -gt 0 ] || exit 255; left=$((left - 1)); sleep ${LOOK_SECONDS}; done; mv ${asked}.here '%p'`
  )
}

function launch(place: Place, options: ServerOptions): ChildProcess {
  const { durable, maxConnections } = options
  const inside = insideFolder(place, place.dataDir)
  const sockets = inside.reach(place.socketDir)
  const settings = {
    [FOLDER_SETTING]: place.dataDir,
    // The socket lies in a closed folder, so other accounts cannot even try to connect. On Windows the driver cannot use sockets.
    listen_addresses: WINDOWS ? '127.0.0.1' : '',
    unix_socket_directories: WINDOWS ? '' : `"${sockets.replaceAll('"', '""')}"`, // PostgreSQL reads a list separated by commas, hence the quotes
    port: WINDOWS ? 49_152 + Math.floor(Math.random() * 16_000) : PORT,
    max_connections: maxConnections,
    ...archiveSettings(place, options),
    max_wal_senders: 0,
    max_logical_replication_workers: 0,
    max_wal_size: '512MB',
    log_min_messages: 'warning',
    // the detail of an error and the statement hold buyers' data
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' }),
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  makeSocketFolder(place)
  removeForeignPidFile(place.dataDir)
  removeForeignLock(place)
  const log = openLog(place)
  const child = spawn(path.join(place.bin, 'postgres'), ['-D', inside.path, ...args], {
    ...spawnOptions(place.account, inside.cwd),
    stdio: ['ignore', log, log],
    // Ctrl-C goes to a whole process group. It must reach only the service, which then stops the database.
    detached: true,
  })
  fs.closeSync(log)
  child.on('error', () => {}) // ensureRunning() notices it as a process that has ended
  child.unref()
  return child
}

/**
 * Whether a server answers on the cluster's socket. Only this finds a server in another container on the same volume, and two
 * servers on one folder destroy the data.
 */
const isServed = ({ socketDir }: Place): Promise<boolean> =>
  WINDOWS ? Promise.resolve(false) : isAnswered(path.join(socketDir, `.s.PGSQL.${PORT}`))

/** @param holder the process that uses the folder, if it is known */
export const inUse = (home: string, holder?: number) =>
  new CannotStart(
    `${home} is in use by another process (${holder ?? 'perhaps in another container'}): stop that one, or give this one another DATA_DIR.`,
  )

const logFile = ({ home }: Place) => path.join(home, 'postgres.log')

/** Opens the log, and empties it when it is too large. Nothing rotates it while the server runs. */
function openLog(place: Place): number {
  const file = logFile(place)
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MOST_LOG_BYTES) fs.truncateSync(file)
  const log = fs.openSync(file, 'a', 0o600)
  giveTo(place.account, file)
  return log
}

/** Removes the locks that killed servers left beside their sockets. Their numbers can belong to another process or a zombie now. */
function removeForeignLock({ socketDir, dataDir }: Place): void {
  for (const name of WINDOWS ? [] : fs.readdirSync(socketDir).filter((file) => file.endsWith('.lock'))) {
    const lock = path.join(socketDir, name)
    const pid = Number.parseInt(fs.readFileSync(lock, 'utf8'), 10)
    if (!isServer(pid, dataDir)) fs.rmSync(lock, { force: true })
  }
}

function lastWords(place: Place): string {
  const fatal = fs
    .readFileSync(logFile(place), 'utf8')
    .split('\n')
    .findLast((line) => line.includes('FATAL:'))
  return fatal?.replace(/^.*FATAL:\s*/, '') ?? 'it did not become ready in time'
}

/** Ends the server and returns when it has ended. */
export async function stopPostmaster(place: Place, { pid, letGo }: Running): Promise<void> {
  letGo()
  if (WINDOWS)
    return void runProgram(place, 'pg_ctl', place.dataDir, (folder) => ['stop', '-D', folder, '-m', 'fast', '-w'])
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (isServer(pid, place.dataDir)) process.kill(pid, signal)
    await waitWhile(() => isServer(pid, place.dataDir), STOP_TIMEOUT_MS)
  }
  // an ended process keeps its number until its parent, which is usually this process, has noticed
  await waitWhile(() => isAlive(pid), REAP_TIMEOUT_MS)
}

async function waitWhile(condition: () => boolean, atMostMs: number): Promise<void> {
  const deadline = Date.now() + atMostMs
  while (condition() && Date.now() < deadline) await sleep(POLL_MS)
}

/** Has the server stop when our process dies, even after kill -9. The returned function ends that, and leaves the server running. */
function stopWithUs({ account }: Place, pid: number): () => void {
  if (WINDOWS) return () => {}
  const end = afterUs('read word; [ "$word" = stay ] || kill -INT "$1"', String(pid), spawnOptions(account))
  return () => end('stay')
}
