import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import {
  OPTIONS,
  QUICK,
  type World,
  add,
  heldJobs,
  newWorld,
  startOther,
  states,
  untilDone,
  untilTaking,
} from '../support/jobs-world.ts'
import { startDatabaseProxy } from '../support/service.ts'
import { eventually } from '../support/shop.ts'
import { atEnd } from '../support/ends.ts'

/** The server processes of the lines: each holds a lock. */
async function linePids({ db }: World): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
    where l.locktype = 'advisory' and l.objsubid = 2 order by pid`.execute(db)
  return rows.map(({ pid }) => pid)
}

test('jobs of a killed process are taken over; those of a stopped process are not, and end once', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  const ran: string[] = []
  const killed = await startOther(t, world, jobs, 'of_killed')
  const stopped = await startOther(t, world, jobs, 'of_stopped')
  assert.equal(ran.length, 0)
  const taking = await world.start()
  for (const queue of ['of_killed', 'of_stopped'])
    await taking.on<object>(queue, OPTIONS, async () => void ran.push(queue))
  stopped.kill('SIGSTOP')
  killed.kill('SIGKILL')
  await eventually(
    () => states(world, 'of_killed'),
    ([state]) => state === 'completed',
  )
  assert.deepEqual([ran, await states(world, 'of_stopped')], [['of_killed'], ['active']])
  stopped.kill('SIGCONT')
  stopped.stdin!.write('go on\n')
  await eventually(
    () => states(world, 'of_stopped'),
    ([state]) => state === 'completed',
  )
  assert.deepEqual(ran, ['of_killed'], 'a process that is merely slow keeps its job')
})

test('a new job begins with the commit, in the process that adds it, and needs no query to be taken', async (t) => {
  const world = await newWorld(t)
  const { jobs, ran, end } = await heldJobs(world, 'own', 5)
  await untilTaking(world, jobs, 'own')
  await inTransaction(world.db, async (tx) => {
    await jobs.add(tx, 'own', [{ data: { n: 1 } }, { data: { n: 2 } }])
    const { rows } = await sql`
      select j.state::text, j.retry_limit, c.attempt, c.owner is not null as claimed
      from pgboss.job j join job_claims c on c.job_id = j.id where j.name = 'own' and j.state = 'active'`.execute(tx)
    const taken = { state: 'active', retry_limit: 3, attempt: 0, claimed: true }
    assert.deepEqual(rows, [taken, taken])
    assert.deepEqual(ran, [], 'nothing begins before the commit')
  })
  await setImmediate()
  assert.deepEqual(ran, [1, 2])
  end()
  await eventually(
    () => states(world, 'own'),
    (all) => all.every((state) => state === 'completed'),
  )
  assert.deepEqual(ran, [1, 2])
})

for (const [kind, isBrief, table] of [
  ['new', false, 'job_claims set claimed_at'],
  ['brief', true, 'begun_jobs set begun_at'],
] as const) {
  test(`a ${kind} job whose transaction fails never begins, and its slot is free again`, async (t) => {
    const world = await newWorld(t)
    const { jobs, ran, end } = await heldJobs(world, 'undone', 1, { isBrief })
    await untilTaking(world, jobs, 'undone')
    const failing = inTransaction(world.db, async (tx) => {
      await jobs.add(tx, 'undone', [{ data: { n: 1 } }])
      throw new Error('undone')
    })
    await assert.rejects(failing, /undone/)
    await add(world, jobs, 'undone')
    await setImmediate()
    assert.deepEqual(ran, [0], 'the slot was free')
    end()
    await untilDone(world, 'undone')
    assert.deepEqual(ran, [0])
  })

  test(`a ${kind} job whose commit got no answer is run once, by whichever process finds it`, async (t) => {
    const world = await newWorld(t)
    const { jobs, ran, end } = await heldJobs(world, 'unanswered', 5, { isBrief })
    await untilTaking(world, jobs, 'unanswered')
    const failing = inTransaction(world.db, async (tx) => {
      await jobs.add(tx, 'unanswered', [{ data: { n: 7 } }])
      await sql`update ${sql.raw(table)} = now() - interval '1 minute'`.execute(tx)
      await sql`commit`.execute(tx)
      throw new Error('the answer was lost')
    })
    await assert.rejects(failing, /the answer was lost/)
    await eventually(
      async () => ran.length,
      (count) => count === 1,
    )
    end()
    await untilDone(world, 'unanswered')
    assert.deepEqual([ran, await states(world, 'unanswered')], [[7], ['completed']])
  })
}

test('a new job of a process that is killed before it has run it goes to another process', async (t) => {
  const world = await newWorld(t)
  const adding = await world.start()
  const child = await startOther(t, world, adding, 'of_adder', 'adds')
  const taking = await world.start()
  const ran: number[] = []
  await taking.on<{ n: number }>('of_adder', OPTIONS, async ({ n }) => void ran.push(n))
  child.kill('SIGKILL')
  await eventually(
    () => states(world, 'of_adder'),
    ([state]) => state === 'completed',
  )
  assert.deepEqual(ran, [0])
})

test('jobs without a free slot wait in the queue, and new ones do not overtake them', async (t) => {
  const world = await newWorld(t)
  const { jobs, ran, end } = await heldJobs(world, 'many', 2)
  await untilTaking(world, jobs, 'many')
  await add(world, jobs, 'many', 5)
  assert.deepEqual([ran, (await states(world, 'many')).sort()], [[0, 1], ['active', 'active', 'created', 'created', 'created']]) // oxfmt-ignore
  await inTransaction(world.db, (tx) => jobs.add(tx, 'many', [{ data: { n: 9 } }]))
  end()
  await eventually(
    () => states(world, 'many'),
    (all) => all.every((state) => state === 'completed'),
  )
  assert.deepEqual([ran.length, ran.at(-1)], [6, 9])
})

test('a job that has failed waits for the whole pause, also when its claim is removed meanwhile', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  await jobs.on<{ n: number }>(
    'pausing',
    { ...OPTIONS, retryDelaySeconds: 3600, retryDelayMaxSeconds: 3600 },
    async () => {
      throw new Error('not now')
    },
  )
  await add(world, jobs, 'pausing')
  await eventually(
    () => states(world, 'pausing'),
    ([state]) => state === 'retry',
  )
  await sql`update job_claims set claimed_at = now() - interval '1 minute'`.execute(world.db)
  await eventually(
    async () => (await sql`select from job_claims`.execute(world.db)).rows,
    ({ length }) => length === 0,
  )
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from start_after - now())::float8 as seconds from pgboss.job where name = 'pausing'`.execute(
    world.db,
  )
  assert(rows[0]!.seconds > 600, `it begins again after ${rows[0]!.seconds} s`)
})

test('a process whose connection is lost for a moment keeps its jobs', async (t) => {
  const world = await newWorld(t)
  const slow = { ...QUICK, dueMs: 600_000, endedAfterMs: 30_000 }
  // each of them would take the other's jobs if its lock were free in two looks half a minute apart
  const [one, other] = [await world.start(slow), await world.start(slow)]
  let begun = 0
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  for (const jobs of [one, other])
    await jobs.on('slow', OPTIONS, async () => {
      begun++
      await ended
    })
  await add(world, one, 'slow')
  await eventually(
    async () => begun,
    (count) => count === 1,
  )
  const before = await linePids(world)
  assert.equal(before.length, 2)
  // announced to no process, like a job that is added while the connection is lost
  await sql`insert into pgboss.job (name, data) values ('slow', '{}')`.execute(world.db)
  await sql`select pg_terminate_backend(pid) from unnest(${before}::int[]) pid`.execute(world.db)
  await eventually(
    () => linePids(world),
    (pids) => pids.filter((pid) => !before.includes(pid)).length === 2,
  )
  await eventually(
    async () => begun,
    (count) => count === 2,
  )
  await add(world, other, 'slow', 3)
  await eventually(
    async () => begun,
    (count) => count === 5,
  )
  end()
  await eventually(
    () => states(world, 'slow'),
    (all) => all.every((state) => state === 'completed'),
  )
  assert.equal(begun, 5)
})

test('a process keeps its line while a statement of its pool is blocked', async (t) => {
  const world = await newWorld(t)
  const log = newLog('silent')
  let warned = 0
  log.warn = () => void warned++
  const jobs = await startJobs({ connectionString: world.url, statement_timeout: 2_000 }, log, QUICK)
  atEnd(t, () => jobs.stop())
  let ran = 0
  await jobs.on('unblocked', OPTIONS, async () => void ran++)
  const before = await linePids(world)
  await inTransaction(world.db, async (tx) => {
    await sql`lock table job_claims in exclusive mode`.execute(tx)
    warned = 0
    await eventually(
      async () => warned,
      (count) => count > 0,
    )
  })
  await add(world, jobs, 'unblocked')
  await eventually(
    async () => ran,
    (count) => count === 1,
  )
  assert.deepEqual(await linePids(world), before)
})

test('where a connection takes longer than the first limit, a process that lost its own takes jobs again', async (t) => {
  const world = await newWorld(t)
  const proxy = await startDatabaseProxy(t, world.url)
  const jobs = await startJobs(
    { connectionString: proxy.url, connectionTimeoutMillis: 60_000 },
    newLog('silent'),
    QUICK,
  )
  atEnd(t, () => jobs.stop())
  let ran = 0
  await jobs.on('late', OPTIONS, async () => void ran++)
  const [line] = await linePids(world)
  proxy.beginAfter(4_000)
  await sql`select pg_terminate_backend(${line}::int)`.execute(world.db)
  await eventually(
    () => linePids(world),
    (pids) => pids.length === 0,
  )
  await add(world, jobs, 'late')
  await eventually(
    async () => ran,
    (count) => count === 1,
  )
})

test('a job whose start was lost on its way is started again by a free process', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  const ran: unknown[] = []
  let end = () => {}
  const held = new Promise<void>((resolve) => (end = resolve))
  await jobs.on<{ n: number }>('heard', { ...OPTIONS, atOnce: 1 }, async ({ n }) => {
    ran.push(n)
    await held
  })
  await add(world, jobs, 'heard', 2)
  await eventually(
    async () => ran.length,
    (count) => count === 1,
  )
  // the second is taken too, by a statement of this process that it has heard nothing of
  await sql`
    with taken as (
      update pgboss.job set state = 'active', started_on = now() where name = 'heard' and state = 'created' returning id, retry_count)
    insert into job_claims (job_id, queue, attempt, owner, claimed_at)
    select t.id, 'heard', t.retry_count, (select owner from job_claims limit 1), now() - interval '1 minute' from taken t`.execute(
    world.db,
  )
  end()
  await eventually(
    () => states(world, 'heard'),
    (all) => all.every((state) => state === 'completed'),
  )
  assert.deepEqual(ran.sort(), [0, 1])
})

test('a job whose time has come begins without an announcement, and so does one whose announcement was lost', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  const ran: number[] = []
  for (const queue of ['later', 'quiet'])
    await jobs.on<{ n: number }>(queue, OPTIONS, async ({ n }) => {
      ran.push(n)
    })
  await inTransaction(world.db, (tx) => jobs.add(tx, 'later', [{ data: { n: 1 }, startAfterSeconds: 1 }]))
  await inTransaction(world.db, (tx) => jobs.add(tx, 'later', [{ data: { n: 3 }, startAfterSeconds: 3600 }]))
  await sql`insert into pgboss.job (name, data) values ('quiet', '{"n":2}')`.execute(world.db)
  await eventually(
    async () => [...(await states(world, 'later')), ...(await states(world, 'quiet'))].toSorted().join(),
    (all) => all === 'completed,completed,created',
  )
  assert.deepEqual(ran.toSorted(), [1, 2])
})

test('a job that waits delays no other of its queue', async (t) => {
  const world = await newWorld(t)
  const jobs = await world.start()
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  atEnd(t, () => end())
  const ran: number[] = []
  await jobs.on<{ n: number }>('mixed', { ...OPTIONS, atOnce: 2 }, async ({ n }) => {
    if (n === 0) await ended
    ran.push(n)
  })
  await add(world, jobs, 'mixed', 40)
  await eventually(
    async () => ran.length,
    (count) => count === 39,
  )
  end()
  await eventually(
    () => states(world, 'mixed'),
    (all) => all.every((state) => state === 'completed'),
  )
  assert.equal(new Set(ran).size, 40)
})
