import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import type { Config } from '../../src/config.ts'
import { type Connection, type Db, connect } from '../../src/kit/database.ts'
import { findEmbedded, startEmbedded } from '../../src/kit/embedded.ts'
import { newerMigrations } from '../../src/kit/migrate.ts'
import { noteClock } from './ask.ts'
import { DATABASE as CLOCK_OF_DATABASE } from './clock.ts'
import { type Finding, type Patience, type Patient, failure, fine, warning } from './finding.ts'
import { inWords } from './in-words.ts'

const SCHEMA = fileURLToPath(new URL('../../schema', import.meta.url))
const OLDEST_VERSION = 15

export interface Opened {
  /** Undefined: there is no database yet, or it cannot be reached. */
  connection?: Connection
  /** The finding when there is no connection. */
  finding?: Finding
  close(): Promise<void>
}

/**
 * Opens the service's database. To a running embedded server it connects as a client, because a server that the doctor took over would
 * stop with the doctor, under the running service. A stopped one is started and stopped again. It never makes a new one.
 */
export async function openDatabase({ databaseUrl, dataDir }: Config, { requestMs }: Patience): Promise<Opened> {
  const open = (connectionString: string, end: () => Promise<void> = async () => {}): Opened => {
    const connection = connect({ connectionString, connectionTimeoutMillis: requestMs }, { connections: 2 })
    return { connection, close: () => connection.close().finally(end) }
  }
  const about = 'database'
  const close = async () => {}
  if (databaseUrl) return open(databaseUrl)
  const dir = path.join(dataDir, 'postgres')
  try {
    const running = findEmbedded(dir)
    if (running) return open(running)
    if (!fs.existsSync(dir)) return { finding: fine(about, 'embedded; the first start makes it'), close }
    const server = await startEmbedded({ dir, name: 'till', mayMake: false })
    return open(server.url, () => server.stop())
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code ? inWords(error) : message
    const advice = `see ${path.join(dir, 'postgres.log')}; run this as the account that runs the service`
    return { finding: failure(about, `the embedded PostgreSQL cannot be used: ${why}`, advice), close }
  }
}

/** Whether the database has this column. One that the service has not migrated yet can lack it. */
export async function hasColumn(db: Db, table: string, column: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_attribute where attrelid = to_regclass(${table}) and attname = ${column} and not attisdropped`.execute(
    db,
  )
  return rows.length > 0
}

/** Checks whether the service can use the database, and whether its tables are those of this version. */
export async function checkDatabase(patient: Patient, opened: Opened): Promise<Finding> {
  if (!opened.connection) return opened.finding!
  const server = placeOf(patient.config)
  try {
    return await read(patient, opened.connection.db, server)
  } catch (error) {
    const advice = patient.config.databaseUrl
      ? 'correct DATABASE_URL, or let this machine reach that server'
      : 'run this as the account that runs the service'
    return failure('database', `${server}: ${inWords(error)}`, advice)
  }
}

async function read(patient: Patient, db: Db, server: string): Promise<Finding> {
  const about = 'database'
  const { rows } = await sql<{ version: number; now: Date; replica: boolean; migrated: boolean }>`
    select current_setting('server_version_num')::int as version, clock_timestamp() as now, pg_is_in_recovery() as replica,
      to_regclass('kysely_migration') is not null as migrated`.execute(db)
  const { version, now, replica, migrated } = rows[0]!
  if (patient.config.databaseUrl) noteClock(patient, CLOCK_OF_DATABASE, now)
  const major = Math.floor(version / 10_000)
  if (major < OLDEST_VERSION)
    return failure(about, `${server} is PostgreSQL ${major}`, `PostgreSQL ${OLDEST_VERSION} or newer is needed`)
  if (replica)
    return failure(about, `${server} is a replica and takes no writes`, 'let DATABASE_URL lead to the server that does')
  const kind = `${server}, PostgreSQL ${major}`
  if (!migrated) return fine(about, `${kind}; empty, the first start fills it`)
  const { rows: done } = await sql<{ name: string }>`select name from kysely_migration`.execute(db)
  const ours = fs.readdirSync(SCHEMA).flatMap((file) => (file.endsWith('.sql') ? [file.slice(0, -'.sql'.length)] : []))
  const newer = await newerMigrations(
    db,
    done.map(({ name }) => name),
    ours,
  )
  if (newer.problem)
    return failure(about, `${kind}: its schema is of a newer Till (${newer.names[0]})`, 'git pull, and start that one')
  const open = ours.filter((file) => !done.some(({ name }) => name === file))
  if (open.length > 0)
    return warning(about, `${kind}: ${open.length} migrations are not done (${open[0]} …)`, 'the next start does them')
  if (newer.names.length > 0)
    return fine(about, `${kind}; a newer Till has added to its schema, which this one can use`)
  return fine(about, `${kind}; its schema is up to date`)
}

/** The place of a database, without user and password. */
function placeOf({ databaseUrl }: Config): string {
  if (!databaseUrl) return 'embedded'
  const found = /@([^/?]+)\/([^?]*)/.exec(databaseUrl) ?? /:\/\/([^@/?]+)\/([^@?]*)/.exec(databaseUrl)
  return found ? `${decodeURIComponent(found[2]!)} at ${decodeURIComponent(found[1]!)}` : 'the one of DATABASE_URL'
}
