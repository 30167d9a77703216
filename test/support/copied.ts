import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Ends } from './shop.ts'

/** A copy of the database at this moment, like a backup. No connection to it may be open. */
export async function copyOf(t: Ends, databaseUrl: string): Promise<string> {
  const [, server = '', name = '', query = ''] = /^(.*\/)([^/?]+)(\?.*)?$/.exec(databaseUrl)!
  const copy = `t_${randomBytes(8).toString('hex')}`
  await asAdmin(`create database ${copy} template ${name} strategy file_copy`)
  t.after(() => asAdmin(`drop database if exists ${copy} with (force)`))
  return `${server}${copy}${query}`
}

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
