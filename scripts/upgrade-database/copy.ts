import fs from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { CannotStart } from '../../src/kit/cannot-start.ts'
import { connect } from '../../src/kit/database.ts'
import type { EmbeddedPostgres } from '../../src/kit/embedded.ts'
import { SUPERUSER, SUPERUSER_PASSWORD_FILE } from '../../src/kit/embedded/cluster.ts'
import { trialBalance } from '../../src/ledger/trial-balance.ts'

interface Table {
  /** Quoted, with its schema. */
  name: string
  /** Quoted, in an order that both databases share. */
  columns: string
}

/**
 * Copies all rows and sequences into a database with the same tables, and compares each table's rows and the trial balance. Throws, and
 * leaves the copy empty, when they differ. No other program may use the databases meanwhile.
 */
export async function copyDatabase(
  old: EmbeddedPostgres,
  fresh: EmbeddedPostgres,
): Promise<{ tables: number; rows: number }> {
  const [source, target] = await Promise.all([asSuperuser(old), asSuperuser(fresh)])
  try {
    await source.query('begin isolation level repeatable read read only')
    // foreign keys and triggers have checked these rows once, and the rows of one table can come before those that they refer to
    await target.query(`begin; set local session_replication_role = replica`)
    const tables = await sharedTables(source, target)
    await target.query(`truncate ${tables.map(({ name }) => name).join(', ')}`)
    let rows = 0
    for (const table of tables) rows += await copyTable(source, target, table)
    await copySequences(source, target)
    await target.query('commit')
    await target.query('analyze')
    const [before, after] = await Promise.all([balanceOf(old), balanceOf(fresh)])
    if (before !== after) throw new CannotStart(`The trial balance of the copy differs: ${after}`)
    return { tables: tables.length, rows }
  } finally {
    await Promise.all([source.end(), target.end()])
  }
}

async function asSuperuser({ host, port, database, dataDir }: EmbeddedPostgres): Promise<pg.Client> {
  const password = fs.readFileSync(path.join(dataDir, SUPERUSER_PASSWORD_FILE), 'utf8').trim()
  const client = new pg.Client({ host, port, database, user: SUPERUSER, password })
  await client.connect()
  return client
}

/** The tables of the old database. The new one must have them all, with the same columns. */
async function sharedTables(source: pg.Client, target: pg.Client): Promise<Table[]> {
  const [ours, theirs] = await Promise.all([tablesOf(source), tablesOf(target)])
  for (const { name, columns } of ours) {
    if (theirs.some((one) => one.name === name && one.columns === columns)) continue
    throw new CannotStart(
      `This release has no table for ${name} (${columns}): start the release that has made it on the old data once.`,
    )
  }
  return ours
}

/** A partitioned table stands for its partitions. A generated column is computed again. */
async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.oid::regclass::text as name, string_agg(quote_ident(a.attname), ', ' order by a.attname) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and c.relnamespace in (select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema')
    group by c.oid order by name`)
  return rows
}

async function copyTable(source: pg.Client, target: pg.Client, { name, columns }: Table): Promise<number> {
  await pipeline(
    source.query(copyTo(`copy (select ${columns} from ${name}) to stdout`)),
    target.query(copyFrom(`copy ${name} (${columns}) from stdin`)),
  )
  const [before, after] = await Promise.all([source, target].map((client) => summary(client, name, columns)))
  if (before!.count !== after!.count || before!.content !== after!.content)
    throw new CannotStart(`The copy of ${name} differs: ${before!.count} rows, and ${after!.count} in the copy.`)
  return after!.count
}

/** The number of rows, and a sum over all of them that no order changes. */
async function summary(client: pg.Client, name: string, columns: string): Promise<{ count: number; content: string }> {
  const { rows } = await client.query(
    `select count(*)::int as count, coalesce(sum(hashtextextended(row(${columns})::text, 0)::numeric), 0)::text as content from ${name}`,
  )
  return rows[0]
}

/** A sequence that was never used stays as it is. */
async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query(`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences where last_value is not null`)
  for (const { name, value } of rows) await target.query('select setval($1::regclass, $2::bigint)', [name, value])
}

async function balanceOf({ url }: EmbeddedPostgres): Promise<string> {
  const { db, close } = connect({ connectionString: url }, { connections: 1, patient: true })
  const differences = await db.transaction().execute(trialBalance).finally(close)
  return JSON.stringify(differences)
}
