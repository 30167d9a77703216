import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { type Ends, atEnd } from './ends.ts'

/** A copy of a database that `fill` has filled, once for all tests of a run. Goes with the test. */
export async function filledDatabase(t: Ends, fill: (url: string) => Promise<void>): Promise<string> {
  const name = newName()
  const url = await onServer(async (client, server) => {
    await client.query(`select pg_advisory_lock(hashtext('till test template'))`)
    try {
      const { rows } = await client.query(`select 1 from pg_database where datname = 'till_template'`)
      if (rows.length === 0) await makeTemplate(client, databaseOf(server, 'till_making'), fill)
      await client.query(`create database ${name} template till_template strategy file_copy`)
    } finally {
      // a connection that is lost has no lock
      await client.query(`select pg_advisory_unlock(hashtext('till test template'))`).catch(() => {})
    }
    return databaseOf(server, name)
  })
  atEnd(t, () => dropDatabase(name))
  return url
}

async function makeTemplate(client: pg.ClientBase, url: string, fill: (url: string) => Promise<void>): Promise<void> {
  // a run that was killed in the middle has left one
  await client.query('drop database if exists till_making')
  await client.query('create database till_making')
  await fill(url)
  // renamed when whole: a test that finds the template finds all of it
  await client.query('alter database till_making rename to till_template')
}

/** A database with nothing in it, not even a schema. Goes with the test. */
export async function emptyDatabase(t: Ends): Promise<string> {
  const name = newName()
  atEnd(t, () => dropDatabase(name))
  return onServer(async (client, server) => {
    await client.query(`create database ${name}`)
    return databaseOf(server, name)
  })
}

/** A copy of the database at this moment, like a backup. No connection to it may be open. Goes with the test. */
export async function copyOf(t: Ends, databaseUrl: string): Promise<string> {
  const name = newName()
  const original = new URL(databaseUrl).pathname.slice(1)
  await onServer((client) => client.query(`create database ${name} template ${original} strategy file_copy`))
  atEnd(t, () => dropDatabase(name))
  return databaseOf(databaseUrl, name)
}

/** Runs statements on a connection of their own. */
export async function runOn(databaseUrl: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(statements)
  } finally {
    await client.end()
  }
}

const newName = () => `t_${randomBytes(8).toString('hex')}`

const dropDatabase = (name: string): Promise<unknown> =>
  onServer((client) => client.query(`drop database if exists ${name} with (force)`))

/** Makes and drops the databases of a process: a connection for each statement would take as long as the statement. */
let servers: pg.Pool | undefined

async function onServer<T>(work: (client: pg.ClientBase, server: string) => Promise<T>): Promise<T> {
  const server = process.env.TEST_DATABASE_URL
  assert(server, 'TEST_DATABASE_URL: the tests run through `npm test`')
  if (!servers) {
    servers = new pg.Pool({ connectionString: server, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
    servers.on('error', () => {}) // the server ends before this process
  }
  const client = await servers.connect()
  try {
    return await work(client, server)
  } finally {
    client.release()
  }
}

function databaseOf(server: string, name: string): string {
  const at = /^(.*\/)[^/?]+(\?.*)?$/.exec(server)
  assert(at, 'TEST_DATABASE_URL names a database')
  return `${at[1]}${name}${at[2] ?? ''}`
}
