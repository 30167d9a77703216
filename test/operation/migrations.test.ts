import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { connect } from '../../src/kit/database.ts'
import type { Log } from '../../src/kit/log.ts'
import { migrate, migrationsOf, neededBy } from '../../src/kit/migrate.ts'
import { atEnd } from '../support/ends.ts'
import { emptyDatabase } from '../support/databases.ts'
import { type Ends, eventually, temporaryFolder } from '../support/shop.ts'

const SCHEMA = fileURLToPath(new URL('../../schema', import.meta.url))
/** Before this migration no database has noted what each one needs. */
const FIRST_NOTED = '044'
/** Changes after which a program that does not know of them could miss something or be refused. */
const CONTRACTS = /\b(drop\s+(table|column|function|view|type)|rename|set\s+not\s+null|alter\s+column\s+\w+\s+type)\b/i

/** An empty database, and a folder with the migrations that are put there. */
async function open(t: Ends) {
  const folder = await temporaryFolder(t)
  const put = (name: string, text: string) => fs.writeFileSync(path.join(folder, `${name}.sql`), text)
  const { db, close } = connect({ connectionString: await emptyDatabase(t) }, { connections: 3, patient: true })
  atEnd(t, close)
  return { db, folder, put }
}

test('a migration that takes something away names the migration that a program must know', () => {
  const files = fs.readdirSync(SCHEMA).filter((file) => file.slice(0, 3) >= FIRST_NOTED)
  for (const file of files) {
    const text = fs.readFileSync(path.join(SCHEMA, file), 'utf8')
    const needs = neededBy(text)
    if (CONTRACTS.test(text.replaceAll(/--.*/g, ''))) assert(needs, `${file}: add a line "-- needs: …"`)
    if (needs) assert(fs.existsSync(path.join(SCHEMA, `${needs}.sql`)), `${file}: there is no ${needs}`)
  }
})

test('a program goes on beside migrations of a newer one that only add, also when both have added', async (t) => {
  const folders = await Promise.all(['older', 'newer', 'contracting'].map(() => temporaryFolder(t)))
  const [older, newer, contracting] = folders as [string, string, string]
  const put = (name: string, text: string, ...into: string[]) => {
    for (const folder of into) fs.writeFileSync(path.join(folder, `${name}.sql`), text)
  }
  put('001_first', 'create table first (n integer);', ...folders)
  put('003_more', 'alter table first add column m integer;', newer, contracting)
  put('004_less', '-- needs: 003_more\nalter table first drop column n;', contracting)
  const { db, close } = connect({ connectionString: await emptyDatabase(t) }, { connections: 2, patient: true })
  atEnd(t, close)

  await Promise.all([migrate(db, older), migrate(db, older), migrate(db, newer)])
  await migrate(db, older)
  put('002_fix', 'create table fix (n integer);', older)
  await migrate(db, older)
  const names = async () => (await sql`select name, needs from migration_needs order by name`.execute(db)).rows
  assert.deepEqual(await names(), [
    { name: '001_first', needs: null },
    { name: '002_fix', needs: null },
    { name: '003_more', needs: null },
  ])

  await migrate(db, contracting)
  await migrate(db, newer)
  await assert.rejects(
    migrate(db, older),
    /cannot use the schema after its migration 004_less\. Start the newer version/,
  )
  assert.deepEqual((await names()).at(-1), { name: '004_less', needs: '003_more' })
})

test('a migration that ends with a deadlock is tried again, at most five times, and those before it stay', async (t) => {
  const { db, folder, put } = await open(t)
  // a sequence goes on counting when a transaction is rolled back
  put('001_tries', 'create sequence tries;')
  await migrate(db, folder)
  put('002_more', 'create table more (n integer);')
  put(
    '003_refused',
    `do $$ begin
      if nextval('tries') < 3 then raise exception 'deadlock detected' using errcode = 'deadlock_detected'; end if;
    end $$;`,
  )
  await migrate(db, folder)
  const { rows } = await sql`select last_value::int as tries, (select count(*)::int from more) from tries`.execute(db)
  assert.deepEqual(rows, [{ tries: 3, count: 0 }])

  put('004_before', 'create table before (n integer);')
  put(
    '005_always',
    `select nextval('tries'); do $$ begin raise exception 'again' using errcode = 'deadlock_detected'; end $$;`,
  )
  put('006_after', 'create table after (n integer);')
  await assert.rejects(migrate(db, folder), /met a deadlock with a running service\. Start again/)
  assert.deepEqual((await sql`select last_value::int as tries from tries`.execute(db)).rows, [{ tries: 3 + 5 }])
  assert.deepEqual((await migrationsOf(db)).slice(3), ['004_before'])
  put('005_always', 'create table always (n integer);')
  await migrate(db, folder)
  assert.deepEqual((await migrationsOf(db)).slice(3), ['004_before', '005_always', '006_after'])
})

test('a migration holds no lock of the one before it, and so waits for a service without a deadlock', async (t) => {
  const { db, folder, put } = await open(t)
  put('001_tables', 'create table first (n integer); create table second (n integer);')
  await migrate(db, folder)
  put('002_first', 'alter table first add column m integer;')
  put('003_second', 'alter table second add column m integer;')
  // the order of a running service: the second table, and later the first one
  const lines: string[] = []
  const log = { info: () => {}, warn: (text: string) => void lines.push(text) } as unknown as Log
  const migrating = await db.transaction().execute(async (tx) => {
    await sql`insert into second (n) values (1)`.execute(tx)
    const result = migrate(db, folder, log)
    await eventually(
      () => migrationsOf(db),
      (names) => names.includes('002_first'),
    )
    await sql`insert into first (n) values (1)`.execute(tx)
    return { result }
  })
  await migrating.result
  assert(!lines.some((line) => line.includes('deadlock')), lines.join())
  assert.deepEqual(await migrationsOf(db), ['001_tables', '002_first', '003_second'])
})

test('a migration that has to wait for a long reader lets all others through meanwhile', async (t) => {
  const { db, folder, put } = await open(t)
  put('001_table', 'create table busy (n integer);')
  await migrate(db, folder)
  put('002_more', 'alter table busy add column m integer;')
  const warned = Promise.withResolvers<string>()
  const log = { info: () => {}, warn: (text: string) => warned.resolve(text) } as unknown as Log
  // as a reconciliation, which reads on for as long as the processors take for their lists
  const migrating = await db.transaction().execute(async (tx) => {
    await sql`select from busy`.execute(tx)
    const result = migrate(db, folder, log)
    assert.equal(await warned.promise, 'a migration waits for another program that uses its tables')
    await sql`insert into busy (n) values (1)`.execute(db)
    assert.deepEqual(await migrationsOf(db), ['001_table'])
    return { result }
  })
  await migrating.result
  assert.deepEqual(await migrationsOf(db), ['001_table', '002_more'])
})
