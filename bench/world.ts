import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbedded } from '../src/kit/embedded.ts'
import { cpuMsOfTree, endChildren } from './children.ts'
import { startService } from './service.ts'

export interface Database {
  name: string
  host: string
  port: number
  user: string
  password: string
  url: string
}

/** A folder of its own, and in it the database as the service makes it: safe against a loss of power, which is most of its cost. */
export interface World {
  dir: string
  start(): Promise<void>
  stop(): Promise<void>
  database(name: string): Database
  /** The CPU time that its server has taken, in ms. */
  databaseMs(): number
  /**
   * Gives `work` a function that says how many statements a database has had. The server starts anew before and after it, because it
   * counts with a library that takes some of its time. Undefined where the server has no such library.
   */
  countStatements<T>(work: (statementsOf: (name: string) => Promise<number>) => Promise<T>): Promise<T | undefined>
  /** Everything ends, and nothing is left. */
  end(): Promise<void>
}

/** The database that the service itself makes and fills. */
export const APP = 'app'

/** Makes an empty folder. The first start of the service makes its database there: the schema, the job library's tables, the demo. */
export async function newWorld(): Promise<World> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'till-bench-'))
  // root's PostgreSQL runs under another account, which must get in
  fs.chmodSync(dir, 0o711)
  let postgres: EmbeddedPostgres | undefined
  let home: string | undefined

  const world: World = {
    dir,
    async start() {
      postgres = await startEmbedded({ dir: path.join(dir, 'postgres'), name: 'till' })
      home = path.dirname(postgres.dataDir)
    },
    async stop() {
      await postgres?.stop()
      postgres = undefined
    },
    database(name) {
      const { host, port, user, password, url } = postgres!
      return { name, host, port, user, password, url: url.replace(/[^/]+$/, name) }
    },
    databaseMs: () =>
      cpuMsOfTree(Number(fs.readFileSync(path.join(postgres!.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])),
    async countStatements(work) {
      const own = () => ({ url: postgres!.superuserUrl })
      const [library] = await query(own(), `select from pg_available_extensions where name = 'pg_stat_statements'`)
      if (!library) return undefined
      await query(own(), `alter system set shared_preload_libraries = 'pg_stat_statements'`)
      await world.stop()
      await world.start()
      await query(own(), 'create extension pg_stat_statements')
      try {
        return await work(async (name) => {
          const [row] = await query<{ calls: number }>(
            own(),
            'select sum(s.calls)::float8 as calls from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = $1',
            [name],
          )
          return row!.calls
        })
      } finally {
        await query(own(), 'drop extension pg_stat_statements')
        await query(own(), 'alter system reset shared_preload_libraries')
        await world.stop()
        await world.start()
      }
    },
    async end() {
      await endChildren()
      await world.stop()
      for (const folder of [home, dir]) if (folder) fs.rmSync(folder, { recursive: true, force: true })
    },
  }
  return world
}

/** The first start of all, on an empty folder; returns how long it took, in ms. */
export async function firstStart({ dir }: World): Promise<number> {
  const service = await startService({ DATA_DIR: dir, PROCESSORS: 'sandbox' })
  await service.stop()
  return service.startMs
}

export async function query<Row extends object>(
  { url }: Pick<Database, 'url'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
