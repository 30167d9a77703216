import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CannotStart, folderProblem } from './cannot-start.ts'
import {
  checkPresence,
  checkVersion,
  claimData,
  DATABASE,
  makeCluster,
  readPassword,
  readSuperuserPassword,
  ROLE,
  SUPERUSER,
  WHERE_ELSE,
} from './embedded/cluster.ts'
import { bringHome } from './embedded/earlier-place.ts'
import { findPostmaster, type Postmaster } from './embedded/pid-file.ts'
import { type Guard, isGuarded, standGuard } from './embedded/guard.ts'
import { findPlace, type Place, WINDOWS } from './embedded/place.ts'
import { ensureRunning, inUse, stopPostmaster } from './embedded/postmaster.ts'
import { holderOf, tryLock } from './lock.mjs'

const DEFAULT_CONNECTIONS = 100
/** How often the service checks that its PostgreSQL server still runs, to start it again. */
const LOOK_EVERY_MS = 500
/** A service that is ending needs a moment while the next one already starts. */
const LOCK_WAIT_MS = 5_000
const LOCK_POLL_MS = 100
const WAL_FOLDER = 'wal'

export interface EmbeddedOptions {
  /** The folder of the cluster, made when it is missing. Removing it removes the database. */
  dir: string
  /** Names root's account for PostgreSQL, and the folder below /var/lib for copies of its programs. */
  name: string
  /** False: refuse a folder without a database. For a service that had one, and for programs that only read. */
  mayMake?: boolean
  /** How long to wait for another process to release the folder before refusing. */
  lockWaitMs?: number
  /** For tests: commits go to memory and not to the disk. */
  fast?: boolean
  maxConnections?: number
  /**
   * Keeps the finished segments of the write-ahead log in the folder `wal`, until somebody removes them. Undefined: as before, so the
   * segments are kept if `wal` exists. Segments that are not kept would be a gap in the log.
   */
  archive?: boolean
  log?: (line: string) => void
  /** The folder `native` of another package of PostgreSQL's programs, to use data of another major version. */
  programs?: string
  /** Called while the server starts, which takes a while and needs little of this process. Not called for a server that runs already. */
  meanwhile?: () => void
}

export interface EmbeddedPostgres {
  host: string
  port: number
  user: string
  password: string
  database: string
  /** All of the above in one, as `pg` takes it. */
  url: string
  dataDir: string
  /** The same address for the superuser, for backups. */
  superuserUrl: string
  /** Where finished segments of the write-ahead log wait, if the server archives. */
  walFolder: string
  /** The server's main process. It changes when the server was killed and started again. */
  readonly pid: number
  /** Stops the server and returns when it has ended. */
  stop(): Promise<void>
}

/**
 * Starts a real PostgreSQL in `dir`, in place of a server that a killed run left there, and keeps it running until `stop`. The
 * server ends with this process, however the process ends. Needs no installed PostgreSQL and no network. Only one process may use
 * the folder: a second process is refused, because it would lose the server as soon as the first one ends.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    return await startInside(options)
  } catch (error) {
    throw folderProblem('DATA_DIR', options.dir, error)
  }
}

async function startInside(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dir, name, mayMake = true, lockWaitMs = LOCK_WAIT_MS } = options
  if (fs.existsSync(dir)) checkPresence(whereIn(dir), mayMake)
  else if (!mayMake) throw new CannotStart(`There is no database in ${dir}. ${WHERE_ELSE}.`)
  const place = findPlace(dir, name, options.log, options.programs)
  const lock = await lockFolder(place.home, lockWaitMs)
  try {
    return await run(place, options, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function lockFolder(home: string, waitMs: number) {
  const folder = path.join(home, 'lock')
  for (const deadline = Date.now() + waitMs; ; await sleep(LOCK_POLL_MS * (0.5 + Math.random()))) {
    const held = await holdFolder(folder)
    if (held) return held
    if (Date.now() < deadline) continue
    throw inUse(home, holderOf(folder))
  }
}

/** The lock keeps out processes of this container. The guard keeps out those of other containers, whose locks look abandoned here. */
async function holdFolder(folder: string): Promise<{ release(): void } | undefined> {
  if (await isGuarded(folder)) return undefined
  const lock = tryLock(folder)
  let guard: Guard | undefined
  try {
    guard = lock && (await standGuard(folder))
  } finally {
    if (!guard) lock?.release()
  }
  if (!lock || !guard) return undefined
  return {
    release() {
      lock.release()
      guard.close()
    },
  }
}

async function run(
  place: Place,
  { fast = false, maxConnections = DEFAULT_CONNECTIONS, archive, log = () => {}, meanwhile }: EmbeddedOptions,
  release: () => void,
): Promise<EmbeddedPostgres> {
  const walFolder = path.join(place.home, WAL_FOLDER)
  const archives = archive ?? fs.existsSync(walFolder)
  const server = { durable: !fast, maxConnections, walFolder: archives ? walFolder : undefined }
  bringHome(place, log)
  claimData(place)
  makeCluster(place, server)
  checkVersion(place)
  if (!archives) fs.rmSync(walFolder, { recursive: true, force: true })

  let running = await ensureRunning(place, server, meanwhile)
  if (running.adopted) {
    // it may have other settings, and the watcher of the process that was killed may end it a moment later
    await stopPostmaster(place, running)
    running = await ensureRunning(place, server, meanwhile)
  }
  let restart: Promise<void> | undefined
  const look = setInterval(() => {
    if (findPostmaster(place.dataDir)?.pid === running.pid) return
    restart ??= startAgain().finally(() => (restart = undefined))
  }, LOOK_EVERY_MS).unref()

  async function startAgain() {
    log('embedded PostgreSQL ended unexpectedly, starting it again')
    running.letGo()
    try {
      running = await ensureRunning(place, server)
    } catch (error) {
      log(`embedded PostgreSQL: ${(error as Error).message}`)
    }
  }

  return {
    ...addressOf(place.dataDir, running),
    dataDir: place.dataDir,
    superuserUrl: superuserUrlOf(place.dataDir, running),
    walFolder,
    get pid() {
      return running.pid
    },
    async stop() {
      clearInterval(look)
      await restart
      await stopPostmaster(place, running)
      release()
    },
  }
}

/** The address of the server that runs in `dir`, started by any process. The server does not end with this process. */
export function findEmbedded(dir: string): string | undefined {
  return findRunning(dir)?.url
}

/** The server that runs in `dir`, as a backup needs it. */
export function findRunning(
  dir: string,
): Pick<EmbeddedPostgres, 'url' | 'dataDir' | 'superuserUrl' | 'walFolder'> | undefined {
  if (!fs.existsSync(dir)) return undefined
  const { home, dataDir } = whereIn(dir)
  const running = findPostmaster(dataDir)
  if (running?.status !== 'ready') return undefined
  const { url } = addressOf(dataDir, running)
  return { url, dataDir, superuserUrl: superuserUrlOf(dataDir, running), walFolder: path.join(home, WAL_FOLDER) }
}

function whereIn(dir: string) {
  const home = fs.realpathSync(dir)
  return { home, dataDir: path.join(home, 'data') }
}

function superuserUrlOf(dataDir: string, postmaster: Postmaster): string {
  const { host, port } = addressOf(dataDir, postmaster)
  return `postgres://${SUPERUSER}:${readSuperuserPassword(dataDir)}@${encodeURIComponent(host)}:${port}/${DATABASE}`
}

function addressOf(dataDir: string, { socketDir, port }: Postmaster) {
  const host = WINDOWS ? '127.0.0.1' : socketDir
  const password = readPassword(dataDir)
  const url = `postgres://${ROLE}:${password}@${encodeURIComponent(host)}:${port}/${DATABASE}`
  return { host, port, user: ROLE, password, database: DATABASE, url }
}
