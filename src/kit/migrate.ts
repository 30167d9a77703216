import fs from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import type { Migration, MigrationProvider } from 'kysely/migration'
import pg from 'pg'
import { CannotStart } from './cannot-start.ts'
import { type Db, isDatabaseOutage } from './database.ts'
import type { Log } from './log.ts'

const NO_RIGHT = '42501'

/**
 * Brings the schema up to date with the numbered files of `folder`, under a lock, so that only one of several starts does the work.
 * It is the first to use the database, so it tells the operator when the database cannot be reached or has a newer schema.
 */
export async function migrate(db: Db, folder: string, log?: Log): Promise<void> {
  const files = (await fs.readdir(folder)).filter((file) => file.endsWith('.sql'))
  const done = await migrationsOf(db)
  refuseNewer(done, new Set(files.map(nameOf)))
  // the usual start has nothing to do; migrations are committed together, so there is no half of them to see
  if (files.every((file) => done.includes(nameOf(file)))) return
  const provider: MigrationProvider = {
    async getMigrations() {
      const read = async (file: string): Promise<[string, Migration]> => {
        const text = await fs.readFile(path.join(folder, file), 'utf8')
        return [nameOf(file), { up: async (tx) => void (await sql.raw(text).execute(tx)) }]
      }
      return Object.fromEntries(await Promise.all(files.map(read)))
    },
  }
  const { Migrator } = await import('kysely/migration')
  // a developer takes a number when work begins, so a file with a lower number can be released later
  const migrator = new Migrator({ db, provider, allowUnorderedMigrations: true })
  const { error, results } = await migrator.migrateToLatest()
  if (error) throw startProblem(error)
  const migrated = (results ?? []).map((result) => result.migrationName)
  if (migrated.length > 0) log?.info({ migrated }, 'the schema is up to date')
}

const nameOf = (file: string): string => file.replace(/\.sql$/, '')

function refuseNewer(done: readonly string[], ours: ReadonlySet<string>): void {
  const newest = done.findLast((name) => !ours.has(name))
  if (!newest) return
  throw new CannotStart(
    `The database was brought up to date by a newer version of Till, whose migration ${newest} this one does not know: start the newer version.`,
  )
}

/** The names of the migrations that a database has, in order. An empty database has none. */
export async function migrationsOf(db: Db): Promise<string[]> {
  try {
    const { rows } = await sql<{ made: boolean }>`select to_regclass('kysely_migration') is not null as made`.execute(
      db,
    )
    if (!rows[0]?.made) return []
    const { rows: done } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
    return done.map(({ name }) => name)
  } catch (error) {
    throw startProblem(error)
  }
}

/** Turns an unreachable or refusing database into a `CannotStart`. The driver's messages hold no password. */
function startProblem(error: unknown): unknown {
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code = '', message = '', syscall } = first as NodeJS.ErrnoException
  // 28…: user or password refused, 3D…: no such database
  const isRefused = first instanceof pg.DatabaseError && (/^(28|3D)/.test(code) || code === NO_RIGHT)
  if (!isRefused && syscall === undefined && !isDatabaseOutage(first)) return error
  return new CannotStart(
    `DATABASE_URL: the database cannot be used (${message}): start its server, or correct the setting. "npm run doctor" finds out more.`,
    { cause: error },
  )
}
