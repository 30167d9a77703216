import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import pg from 'pg'
import { CannotStart } from './cannot-start.ts'
import { type Db, isDatabaseOutage } from './database.ts'
import type { Log } from './log.ts'

const NO_RIGHT = '42501'
const DEADLOCK = '40P01'
const DEADLOCKED =
  'Each try of a migration met a deadlock with a running service. Start again, or stop the other instances first.'
/** A deadlock of one migration with a service under load can come again. PostgreSQL takes a second to find one. */
const MOST_TRIES = 5
const LOCK_NOT_AVAILABLE = '55P03'
/** Requests wait behind a migration that waits for a lock, so it gives way soon, and tries again when they have had their turn. */
const LOCK_WAIT = '2s'
const PAUSE_MS = 5_000
/** A reconciliation holds its locks for as long as it reads the lists of the processors. */
const MOST_LOCK_TRIES = 500
const BLOCKED =
  'Another program has kept a lock on the tables of a migration for an hour, such as a reconciliation or your own report. Start again when it has ended.'
const BY_A_NEWER_VERSION = /^corrupted migrations: previously executed migration \S+ is missing/

/**
 * Brings the schema up to date with the numbered files of `folder`, under a lock, so that only one of several starts does the work. Each
 * migration is a transaction of its own: all of them together would hold the locks of many tables, and meet deadlocks with each
 * service that serves buyers meanwhile. An empty database gets all of them in one transaction, because nothing else uses it yet.
 * A schema of a newer version is left as it is: the service uses it if it only grew, and otherwise refuses in one line. It is the
 * first to use the database, so it also tells the operator when the database cannot be reached.
 */
export async function migrate(db: Db, folder: string, log?: Log, tries = MOST_TRIES): Promise<void> {
  const ours = (await fs.readdir(folder)).filter((file) => file.endsWith('.sql')).map(nameOf)
  const done = await migrationsOf(db)
  const newer = await newerMigrations(db, done, ours)
  if (newer.problem) throw new CannotStart(newer.problem)
  if (newer.names.length > 0) log?.info({ newer: newer.names }, 'a newer version has added to the schema')
  // the usual start has nothing to do
  if (ours.every((name) => done.includes(name))) return
  const migrator = await migratorOf(db, folder, ours, newer.names)
  // an empty database has no service to wait for, and there is no half of a schema after a kill
  const step = done.length === 0 ? () => migrator.migrateToLatest() : () => migrator.migrateUp()
  let blocked = 0
  for (let left = tries; ;) {
    const { error, results = [] } = await step()
    if (isByNewerVersion(error) && tries > 1) return migrate(db, folder, log, tries - 1)
    if (isDeadlock(error)) {
      if (--left === 0) throw new CannotStart(DEADLOCKED, { cause: error })
      log?.warn('a migration met a deadlock with a running service, and is tried again')
      continue
    }
    if (isBlocked(error)) {
      if (++blocked === MOST_LOCK_TRIES) throw new CannotStart(BLOCKED, { cause: error })
      if (blocked === 1) log?.warn('a migration waits for another program that uses its tables')
      await sleep(PAUSE_MS)
      continue
    }
    if (error) throw startProblem(error)
    if (results.length === 0) return
    log?.info({ migrated: results.map(({ migrationName }) => migrationName) }, 'the schema has grown')
    left = tries
  }
}

/** Runs the migrations `ours` of `folder`. Those of a `newer` version have run. */
async function migratorOf(db: Db, folder: string, ours: readonly string[], newer: readonly string[]) {
  const read = async (name: string): Promise<[string, Migration]> => {
    const text = await fs.readFile(path.join(folder, `${name}.sql`), 'utf8')
    const needs = neededBy(text)
    if (needs && !ours.includes(needs)) throw new Error(`${name} needs ${needs}, which is not there`)
    return [name, { up: (tx) => run(tx, name, text, needs) }]
  }
  // the library refuses a database with migrations that it does not know; those have run, so it never asks for them
  const others = newer.map((name): [string, Migration] => [name, { up: async () => {} }])
  const migrations = Object.fromEntries([...others, ...(await Promise.all(ours.map(read)))])
  const { Migrator } = await import('kysely/migration')
  return new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    // a developer takes a number when work begins, so a file with a lower number can be released later
    allowUnorderedMigrations: true,
  })
}

/** An older program that serves beside this start has locked tables in another order, and PostgreSQL has rolled our migration back. */
const isDeadlock = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === DEADLOCK

const isBlocked = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE

/** A newer version has migrated since we looked: the library found migrations that we had not seen. */
const isByNewerVersion = (error: unknown): boolean => error instanceof Error && BY_A_NEWER_VERSION.test(error.message)

const nameOf = (file: string): string => file.replace(/\.sql$/, '')

/**
 * The migration that a program must know to run on the schema after this one, as the line `-- needs: 045_name` of its file says. A
 * migration that only adds needs none, so every earlier program can serve the schema after it.
 */
export const neededBy = (text: string): string | undefined => /^-- needs: (\S+)$/m.exec(text)?.[1]

async function run(tx: Kysely<unknown>, name: string, text: string, needs: string | undefined): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(LOCK_WAIT)}`.execute(tx)
  await sql.raw(text).execute(tx)
  await sql`create table if not exists migration_needs (name text primary key, needs text)`.execute(tx)
  await sql`insert into migration_needs (name, needs) values (${name}, ${needs ?? null})`.execute(tx)
}

/**
 * The migrations of a newer version that a database has, and why this program cannot run on its schema. A newer version whose
 * needs are not noted is not trusted to have only added.
 */
export async function newerMigrations(
  db: Db,
  done: readonly string[],
  ours: readonly string[],
): Promise<{ names: string[]; problem?: string }> {
  const names = done.filter((name) => !ours.includes(name))
  if (names.length === 0) return { names }
  const { rows } = await sql<{ noted: boolean }>`select to_regclass('migration_needs') is not null as noted`.execute(db)
  const { rows: needs } = rows[0]!.noted
    ? await sql<{ name: string; needs: string | null }>`select name, needs from migration_needs`.execute(db)
    : { rows: [] }
  const isServed = (name: string) => {
    const noted = needs.find((one) => one.name === name)
    return noted !== undefined && (noted.needs === null || ours.includes(noted.needs))
  }
  const contracted = names.findLast((name) => !isServed(name))
  if (!contracted) return { names }
  return {
    names,
    problem: `The database was changed by a newer version of Till: this one cannot use the schema after its migration ${contracted}. Start the newer version.`,
  }
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
