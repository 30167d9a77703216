import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbedded } from '../src/kit/embedded.ts'
import { endChildren, processorMsOfTree } from './children.ts'
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
  /** The processor time that its server has taken, in ms. */
  databaseMs(): number
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
      processorMsOfTree(Number(fs.readFileSync(path.join(postgres!.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])),
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
  { url }: Database,
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
