import fs from 'node:fs'
import { checkVersion, claimData, DATABASE, makeCluster, readPassword, ROLE } from './embedded/cluster.ts'
import { findPlace, type Place, WINDOWS } from './embedded/place.ts'
import { ensureRunning, findPostmaster, type Postmaster, stopPostmaster } from './embedded/postmaster.ts'

const DEFAULT_CONNECTIONS = 100
/** How soon a server that was killed under a living service is noticed and started again. */
const LOOK_EVERY_MS = 500

export interface EmbeddedOptions {
  /** The folder of the cluster. It is made when it is missing; with it goes the database. */
  dir: string
  /** Names the folder below /var/lib that is used where root's PostgreSQL cannot reach `dir`. */
  name: string
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
  /** True when the server was running already: left behind by a run that was killed, or shared with one that lives. */
  adopted: boolean
  /** Stops the server and returns when it has ended, also one that was adopted. */
  stop(): Promise<void>
}

/**
 * Starts a real PostgreSQL in `dir`, or takes over the one that runs there, and keeps it running until `stop`. It ends
 * with this process, however that dies. Needs no installed PostgreSQL, no network and no account of its own.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dir, name, fast = false, maxConnections = DEFAULT_CONNECTIONS, log = () => {} } = options
  const server = { durable: !fast, maxConnections }
  const place = findPlace(dir, name)
  if (place.home !== fs.realpathSync(dir)) log(`embedded PostgreSQL keeps its data in ${place.home}`)
  claimData(place)
  makeCluster(place, server)
  checkVersion(place)

  let running = await ensureRunning(place, server)
  let restart: Promise<void> | undefined
  const look = setInterval(() => {
    if (findPostmaster(place.dataDir)?.pid === running.pid) return
    restart ??= startAgain().finally(() => (restart = undefined))
  }, LOOK_EVERY_MS).unref()

  /** Somebody killed the server, or a service that shared it has stopped it. */
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
    ...addressOf(place, running),
    dataDir: place.dataDir,
    get pid() {
      return running.pid
    },
    adopted: running.adopted,
    async stop() {
      clearInterval(look)
      await restart
      await stopPostmaster(place, running)
    },
  }
}

/** The address of the server that runs in `dir`, whoever has started it. It goes on whatever becomes of this process. */
export function findEmbedded({ dir, name }: Pick<EmbeddedOptions, 'dir' | 'name'>): string | undefined {
  const place = findPlace(dir, name)
  const running = findPostmaster(place.dataDir)
  return running?.status === 'ready' ? addressOf(place, running).url : undefined
}

function addressOf({ dataDir }: Place, { socketDir, port }: Postmaster) {
  const host = WINDOWS ? '127.0.0.1' : socketDir
  const password = readPassword(dataDir)
  const url = `postgres://${ROLE}:${password}@${encodeURIComponent(host)}:${port}/${DATABASE}`
  return { host, port, user: ROLE, password, database: DATABASE, url }
}
