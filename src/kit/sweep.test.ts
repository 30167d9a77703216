import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { type Ends, eventually, newDatabase } from '../../test/support/shop.ts'
import { type Db, connect } from './database.ts'
import { sweepOld, sweepRows } from './sweep.ts'

const OLD_MAILS = { table: 'outbox', time: 'sent_at', days: 30 }

async function openDatabase(t: Ends): Promise<{ url: string; db: Db }> {
  const url = await newDatabase(t)
  return { url, db: open(t, url) }
}

function open(t: Ends, url: string): Db {
  // the machine may be busy while a test holds a statement
  const patience = { statement_timeout: 60_000, query_timeout: 61_000 }
  const { db, close } = connect({ connectionString: url, ...patience }, { connections: 4 })
  t.after(close)
  return db
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

/** Adds mails that came `days` days ago, a second apart. */
const addMails = (db: Db, count: number, days: number) =>
  sql`insert into outbox (id, recipient, subject, text, html, sent_at)
    select gen_random_uuid(), ${`${days} days`}, 'A mail', '', '', now() - make_interval(days => ${days}::int, secs => n)
    from generate_series(1, ${count}::int) n`.execute(db)

/** The remaining mails by their age. */
async function mailsOf(db: Db): Promise<Record<string, number>> {
  const { rows } = await sql<{ age: string; count: number }>`
    select recipient as age, count(*)::int as count from outbox group by 1 order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ age, count }) => [age, count]))
}

/** From now on the database notes how many mails each statement removes, and in which transaction. */
async function noteStatements(db: Db): Promise<() => Promise<{ most: number; statements: number; commits: number }>> {
  await sql`
    create table noted (rows int, commit bigint default txid_current());
    create function note() returns trigger language plpgsql as $$ begin
      insert into noted (rows) select count(*) from gone;
      return null;
    end $$;
    create trigger note after delete on outbox referencing old table as gone for each statement execute function note()`.execute(
    db,
  )
  return async () => {
    const { rows } = await sql<{ most: number; statements: number; commits: number }>`
      select max(rows) as most, count(*)::int as statements, count(distinct commit)::int as commits from noted`.execute(
      db,
    )
    return rows[0]!
  }
}

test('20,000 old rows are removed by statements of at most 1,000 rows, each with a commit of its own, and new rows stay', async (t) => {
  const { db } = await openDatabase(t)
  await addMails(db, 20_000, 31)
  await addMails(db, 500, 29)
  const noted = await noteStatements(db)
  assert.equal(await sweepOld(db, OLD_MAILS, { budgetMs: Infinity }), 20_000)
  assert.deepEqual(await mailsOf(db), { '29 days': 500 })
  // the last statement finds nothing more
  assert.deepEqual(await noted(), { most: 1000, statements: 21, commits: 21 })
  assert.equal(await sweepOld(db, OLD_MAILS), 0, 'a repeat removes nothing')
})

test('sweeps of several instances at once remove each row once', async (t) => {
  const { url, db } = await openDatabase(t)
  const other = open(t, url)
  await addMails(db, 20_000, 31)
  await addMails(db, 500, 29)
  const removed = await Promise.all(
    [db, other, db, other].map((one) => sweepOld(one, OLD_MAILS, { budgetMs: Infinity })),
  )
  assert.equal(
    removed.reduce((sum, count) => sum + count),
    20_000,
  )
  assert.deepEqual(await mailsOf(db), { '29 days': 500 })
})

test('a sweep whose time is over stops between two statements, the oldest rows first, and the next one goes on', async (t) => {
  const { db } = await openDatabase(t)
  await addMails(db, 30, 40)
  await addMails(db, 30, 31)
  assert.equal(await sweepOld(db, OLD_MAILS, { rowsAtOnce: 25, budgetMs: 0 }), 25)
  assert.deepEqual(await mailsOf(db), { '31 days': 30, '40 days': 5 })
  assert.equal(await sweepOld(db, OLD_MAILS, { rowsAtOnce: 25 }), 35)
  assert.deepEqual(await mailsOf(db), {})
})

test('a sweep that is killed within a statement leaves its rows, and the next one removes them', async (t) => {
  const { url, db } = await openDatabase(t)
  await addMails(db, 60, 31)
  assert.equal(await sweepOld(db, OLD_MAILS, { rowsAtOnce: 25, budgetMs: 0 }), 25)
  await withClient(url, async (holder) => {
    await holder.query('begin; lock table outbox in share mode')
    const killed = assert.rejects(sweepOld(open(t, url), OLD_MAILS, { rowsAtOnce: 25 }), /terminat/)
    await eventually(
      async () => {
        const { rows } = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%delete from%'`.execute(db)
        return rows.length
      },
      (count) => count > 0,
    )
    await killed
    await holder.query('commit')
  })
  assert.deepEqual(await mailsOf(db), { '31 days': 35 })
  assert.equal(await sweepOld(db, OLD_MAILS, { rowsAtOnce: 25 }), 35)
})

test('a sweep does not wait for a row that a request holds, and the next one removes it', async (t) => {
  const { url, db } = await openDatabase(t)
  await addMails(db, 60, 31)
  await withClient(url, async (request) => {
    await request.query('begin; select from outbox order by sent_at limit 1 for update')
    assert.equal(await sweepOld(db, OLD_MAILS), 59)
    await request.query('commit')
  })
  assert.equal(await sweepOld(db, OLD_MAILS), 1)
})

test('rows that are over by any rule are removed in small statements too, also by several sweeps at once', async (t) => {
  const { db } = await openDatabase(t)
  await sql`
    insert into limits (key, count, until) select 'key ' || n, 1, now() + make_interval(secs => case when n <= 5000 then -n else n end)
    from generate_series(1, 6000) n`.execute(db)
  const isOver = sql`until < now()`
  assert.equal(await sweepRows(db, 'limits', isOver, { rowsAtOnce: 300, budgetMs: 0 }), 300)
  const removed = await Promise.all(
    [1, 2, 3].map(() => sweepRows(db, 'limits', isOver, { rowsAtOnce: 300, budgetMs: Infinity })),
  )
  assert.equal(
    removed.reduce((sum, count) => sum + count),
    4700,
  )
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from limits`.execute(db)
  assert.equal(rows[0]!.count, 1000)
})

test('a row that is used again while a sweep looks at it stays', async (t) => {
  const { url, db } = await openDatabase(t)
  await sql`
    insert into limits (key, count, until) values ('a', 1, now() - interval '1 hour'), ('b', 1, now() - interval '1 hour')`.execute(
    db,
  )
  await withClient(url, async (user) => {
    // the sweep has begun its statement, and waits within it until the row has changed
    await user.query('select pg_advisory_lock(7)')
    const sweep = sweepRows(db, 'limits', sql`until < now() and pg_advisory_xact_lock_shared(7) is not null`)
    await eventually(
      async () =>
        (
          await user.query(`select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`)
        ).rows.length,
      (waiting) => waiting > 0,
    )
    await user.query(`update limits set until = now() + interval '1 hour' where key = 'a'`)
    await user.query('select pg_advisory_unlock(7)')
    assert.equal(await sweep, 1)
  })
  const { rows } = await sql<{ key: string }>`select key from limits`.execute(db)
  assert.deepEqual(rows, [{ key: 'a' }])
})
