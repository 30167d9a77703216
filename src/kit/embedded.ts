import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CannotStart, troubleWith } from './cannot-start.ts'
import {
  checkPresence,
  checkVersion,
  claimData,
  DATABASE,
  makeCluster,
  readPassword,
  ROLE,
  WHERE_ELSE,
} from './embedded/cluster.ts'
import { findPostmaster, type Postmaster } from './embedded/pid-file.ts'
import { type Guard, isGuarded, standGuard } from './embedded/guard.ts'
import { findPlace, type Place, WINDOWS } from './embedded/place.ts'
import { ensureRunning, inUse, stopPostmaster } from './embedded/postmaster.ts'
import { holderOf, tryLock } from './lock.mjs'

const DEFAULT_CONNECTIONS = 100
/** How soon a server that was killed under a living service is noticed and started again. */
const LOOK_EVERY_MS = 500
/** A service that was told to end may need a moment, and the next one is started meanwhile. */
const LOCK_WAIT_MS = 5_000
const LOCK_POLL_MS = 100

export interface EmbeddedOptions {
  /** The folder of the cluster. It is made when it is missing; with it goes the database. */
  dir: string
  /** Names root's account for PostgreSQL, and the folder below /var/lib for copies of its programs. */
  name: string
  /** False: a folder without a database is refused. For a service that had one, and for programs that only read. */
  mayMake?: boolean
  /** How long a process that uses the folder already is waited for, before this one is refused. */
  lockWaitMs?: number
  /** For tests: commits reach the memory and not the disk. */
  fast?: boolean
  maxConnections?: number
  log?: (line: string) => void
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
  /** The server's main process; another one after it was killed and started again. */
  readonly pid: number
  /** True when the server was running already, left behind by a run that was killed. */
  adopted: boolean
  /** Stops the server and returns when it has ended, also one that was adopted. */
  stop(): Promise<void>
}

/**
 * Starts a real PostgreSQL in `dir`, or takes over the one that a killed run left there, and keeps it running until `stop`. It
 * ends with this process, however that dies. Needs no installed PostgreSQL and no network. One process at a time: a second one is
 * refused, since the first one's server would end with it.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    return await startInside(options)
  } catch (error) {
    throw troubleWith('DATA_DIR', options.dir, error)
  }
}

async function startInside(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dir, name, mayMake = true, lockWaitMs = LOCK_WAIT_MS } = options
  if (fs.existsSync(dir)) checkPresence(whereIn(dir), mayMake)
  else if (!mayMake) throw new CannotStart(`There is no database in ${dir}. ${WHERE_ELSE}.`)
  const place = findPlace(dir, name, options.log)
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

/** The claim keeps out the processes of this container, the guard those of others, whose claims look dead here. */
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
  { fast = false, maxConnections = DEFAULT_CONNECTIONS, log = () => {} }: EmbeddedOptions,
  release: () => void,
): Promise<EmbeddedPostgres> {
  const server = { durable: !fast, maxConnections }
  claimData(place)
  makeCluster(place, server)
  checkVersion(place)

  let running = await ensureRunning(place, server)
  let restart: Promise<void> | undefined
  const look = setInterval(() => {
    if (findPostmaster(place.dataDir)?.pid === running.pid) return
    restart ??= startAgain().finally(() => (restart = undefined))
  }, LOOK_EVERY_MS).unref()

  /** The server was killed. */
  async function startAgain() {
    log('embedded PostgreSQL has ended by itself, starting it again')
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
    get pid() {
      return running.pid
    },
    adopted: running.adopted,
    async stop() {
      clearInterval(look)
      await restart
      await stopPostmaster(place, running)
      release()
    },
  }
}

/** The address of the server that runs in `dir`, whichever process has started it. It goes on whatever becomes of this process. */
export function findEmbedded(dir: string): string | undefined {
  if (!fs.existsSync(dir)) return undefined
  const { dataDir } = whereIn(dir)
  const running = findPostmaster(dataDir)
  return running?.status === 'ready' ? addressOf(dataDir, running).url : undefined
}

function whereIn(dir: string) {
  const home = fs.realpathSync(dir)
  return { home, dataDir: path.join(home, 'data') }
}

function addressOf(dataDir: string, { socketDir, port }: Postmaster) {
  const host = WINDOWS ? '127.0.0.1' : socketDir
  const password = readPassword(dataDir)
  const url = `postgres://${ROLE}:${password}@${encodeURIComponent(host)}:${port}/${DATABASE}`
  return { host, port, user: ROLE, password, database: DATABASE, url }
}
