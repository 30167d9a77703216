import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../src/kit/database.ts'
import { DropJob, startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { atEnd } from '../support/ends.ts'
import { OPTIONS, QUICK, add, heldJobs, newWorld, startOther, states, untilTaking } from '../support/jobs-world.ts'
import { eventually } from '../support/shop.ts'

// Jobs of a brief queue, which are rows of a small table while they run for the first time.

const BRIEF = { ...OPTIONS, isBrief: true }

async function queueClaims(db: Db, queue: string): Promise<number> {
  return (await sql`select from job_claims where queue = ${queue} and attempt = 2147483647`.execute(db)).rows.length
}

async function begun(db: Db): Promise<{ id: string; owner: number }[]> {
  return (await sql<{ id: string; owner: number }>`select id, owner from begun_jobs order by data`.execute(db)).rows
}

test('a brief job begins with the commit, is one row while it runs, and none when it has succeeded', async (t) => {
  const world = await newWorld(t)
  const { jobs, ran, end } = await heldJobs(world, 'brief', 5, BRIEF)
  await untilTaking(world, jobs, 'brief')
  await inTransaction(world.db, async (tx) => {
    await jobs.add(tx, 'brief', [{ data: { n: 1 } }, { data: { n: 2 } }])
    assert.equal((await sql`select from begun_jobs where queue = 'brief'`.execute(tx)).rows.length, 2)
    assert.deepEqual(ran, [], 'nothing begins before the commit')
  })
  await setImmediate()
  assert.deepEqual(ran, [1, 2])
  assert.equal((await begun(world.db)).length, 2)
  end()
  await eventually(
    () => begun(world.db),
    ({ length }) => length === 0,
  )
  assert.deepEqual([ran, await states(world, 'brief')], [[1, 2], []])
})

test('a brief job that fails is tried again like any other, and one that is dropped is kept as failed', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  const tries: string[] = []
  await jobs.on<{ n: number }>(
    'failing',
    { ...BRIEF, retryDelaySeconds: 0, retryDelayMaxSeconds: 1 },
    async ({ n }, id) => {
      tries.push(id)
      if (n === 1) throw new DropJob('never')
      if (tries.filter((one) => one === id).length < 3) throw new Error('not yet')
    },
  )
  await untilTaking(world, jobs, 'failing')
  await inTransaction(world.db, (tx) => jobs.add(tx, 'failing', [{ data: { n: 0 } }, { data: { n: 1 } }]))
  const { rows } = await eventually(
    () =>
      sql<{ id: string; state: string; tries: number }>`
        select id, state::text, retry_count as tries from pgboss.job where name = 'failing' order by data`.execute(
        world.db,
      ),
    ({ rows: found }) => found.map(({ state }) => state).join() === 'completed,failed',
  )
  assert.deepEqual([rows.map((row) => row.tries), tries.length], [[2, 0], 4])
  assert.equal(new Set(tries).size, 2, 'each keeps its id, which is also the id of its mail')
  assert.deepEqual(await begun(world.db), [])
})

test('a brief job of a process that is killed goes to another process', async (t) => {
  const world = await newWorld(t)
  const child = await startOther(t, world, await world.start(), 'of_killed', 'adds brief')
  assert.equal((await begun(world.db)).length, 1)
  assert.equal(await queueClaims(world.db, 'of_killed'), 1)
  const taking = await world.start()
  const ran: number[] = []
  await taking.on<{ n: number }>('of_killed', BRIEF, async ({ n }) => void ran.push(n))
  child.kill('SIGKILL')
  await eventually(
    () => states(world, 'of_killed'),
    ([state]) => state === 'completed',
  )
  assert.deepEqual([ran, await begun(world.db)], [[0], []])
})

test('a brief job is found although its process no longer claims the queue', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  const ran: number[] = []
  await jobs.on<{ n: number }>('late', BRIEF, async ({ n }) => void ran.push(n))
  await sql`
    insert into begun_jobs (id, queue, data, owner) values (gen_random_uuid(), 'late', '{"n":5}', 1)`.execute(world.db)
  await eventually(
    () => states(world, 'late'),
    ([state]) => state === 'completed',
  )
  assert.deepEqual([ran, await begun(world.db)], [[5], []])
})

test('a process that was taken for ended claims its queues again', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  await jobs.on('claimed', BRIEF, async () => {})
  assert.equal(await queueClaims(world.db, 'claimed'), 1)
  await sql`delete from job_claims`.execute(world.db)
  await eventually(
    () => queueClaims(world.db, 'claimed'),
    (count) => count === 1,
  )
})

test('an ended process whose jobs cannot be released does not stop other work', async (t) => {
  const world = await newWorld(t)
  await sql`create sequence refusals`.execute(world.db)
  await sql`
    create function refuse() returns trigger language plpgsql as $$
    begin perform nextval('refusals'); raise exception 'not this one'; end $$`.execute(world.db)
  await sql`
    create trigger refuse before delete on job_claims for each row when (old.owner = 1) execute function refuse()`.execute(
    world.db,
  )
  const jobs = await world.start()
  await jobs.on('claimed', BRIEF, async () => {})
  const end = (owner: number) =>
    sql`insert into job_claims (job_id, queue, attempt, owner) values (gen_random_uuid(), 'gone', 0, ${owner})`.execute(
      world.db,
    )
  const gone = async () =>
    (await sql<{ owner: number }>`select owner from job_claims where queue = 'gone'`.execute(world.db)).rows
  await end(1)
  const refused = () => sql`select from refusals where is_called`.execute(world.db)
  await eventually(refused, ({ rows }) => rows.length === 1)
  await end(2)
  await sql`delete from job_claims where queue = 'claimed'`.execute(world.db)
  await eventually(gone, (left) => left.length === 1 && left[0]!.owner === 1)
  await eventually(
    () => queueClaims(world.db, 'claimed'),
    (count) => count === 1,
  )
})

test('an earlier release, which does not know brief jobs, finds those of a killed process', async (t) => {
  const world = await newWorld(t)
  const child = await startOther(t, world, await world.start({ dueMs: 50, beatMs: 600_000, endedAfterMs: 600_000 }), 'of_newer', 'adds brief') // oxfmt-ignore
  const [job] = await begun(world.db)
  child.kill('SIGKILL')
  // as an earlier release does when it has seen that the owner's lock is free
  const release = () =>
    sql<{ id: string; attempt: number }>`
      delete from job_claims where owner = ${job!.owner} returning job_id as id, attempt`.execute(world.db)
  const first = await release()
  assert(first.rows.every(({ id }) => id !== job!.id))
  assert.deepEqual([await begun(world.db), await states(world, 'of_newer')], [[], ['active']])
  // the owner has claims again, so the next look releases them
  assert.deepEqual((await release()).rows, [{ id: job!.id, attempt: 0 }])
})

test('a brief job that runs longer than its queue allows counts as lost, and ends once if it succeeds before the library takes it', async (t) => {
  const world = await newWorld(t)
  // the process that runs it does not look in time
  const { jobs, ran, end } = await heldJobs(world, 'slow', 5, { ...BRIEF, beatMs: 600_000 })
  await untilTaking(world, jobs, 'slow')
  await add(world, jobs, 'slow')
  await setImmediate()
  await sql`update begun_jobs set begun_at = now() - interval '601 seconds'`.execute(world.db)
  await world.start()
  const [row] = await eventually(
    async () =>
      (
        await sql<{ late: boolean }>`
        select started_on + make_interval(secs => expire_seconds) < now() as late from pgboss.job where name = 'slow'`.execute(
          world.db,
        )
      ).rows,
    ({ length }) => length === 1,
  )
  assert.deepEqual([row, ran], [{ late: true }, [0]], 'the library looks for such jobs')
  end()
  await eventually(
    () => states(world, 'slow'),
    (all) => all.join() === 'completed',
  )
  assert.deepEqual(ran, [0])
})

test('a start outlasts a database that is too busy for a statement', async (t) => {
  const world = await newWorld(t)
  // the limit must be long enough for a statement that waits for nothing but a busy machine
  const jobs = await startJobs({ connectionString: world.url, query_timeout: 1_000 }, newLog('silent'), QUICK)
  atEnd(t, () => jobs.stop())
  const tries = () =>
    sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%insert into job_claims%'`.execute(world.db)
  let started: Promise<void> | undefined
  await inTransaction(world.db, async (tx) => {
    await sql`lock table job_claims in access exclusive mode`.execute(tx)
    started = jobs.on('patient', BRIEF, async () => {})
    await eventually(tries, ({ rows }) => rows.length > 1)
  })
  await started
  assert.equal(await queueClaims(world.db, 'patient'), 1)
})
