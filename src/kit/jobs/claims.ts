import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { type Job, type PgBoss, fromKysely } from 'pg-boss'
import { type Db, type Tx, inTransaction } from '../database.ts'
import type { Log } from '../log.ts'
import { type BegunJobs, QUEUE_CLAIM } from './begun.ts'
import { LOCK_CLASS, type Query } from './line.ts'

// Claims record which process runs which job. A process takes a job and writes its claim in one transaction, so that the other
// processes can release the jobs of a process that has ended.

/** The number under which a process claims jobs. It is also the second half of its lock's key. */
export const newOwner = (): number => randomInt(1, 2 ** 31 - 1)

/** Longer than the answer to a statement can take. If we do not run a claimed job by then, its answer was lost on the way to us. */
const UNRECEIVED_SECONDS = 10

/** Takes jobs of a queue and writes their claims, in one transaction. */
export const takeJobs = (db: Db, boss: PgBoss, owner: number, queue: string, count: number): Promise<Job[]> =>
  inTransaction(db, async (tx) => {
    const jobs = await boss.fetch<object>(queue, { batchSize: count, db: fromKysely(tx) })
    if (jobs.length === 0) return jobs
    const attempts = jobs.map(({ retryCount }) => retryCount)
    await sql`
      insert into job_claims (job_id, queue, attempt, owner)
      select id, ${queue}, attempt, ${owner}::int
      from unnest(${jobs.map(({ id }) => id)}::uuid[], ${attempts}::int[]) as t(id, attempt)
      on conflict (job_id) do update set attempt = excluded.attempt, owner = excluded.owner, claimed_at = now()`.execute(
      tx,
    )
    return jobs
  })

/** A new job that this process will run itself. Its data has the form in which the database would return it. */
export const takenJob = (queue: string, data: object): Job =>
  ({ id: randomUUID(), name: queue, data: JSON.parse(JSON.stringify(data)), retryCount: 0 }) as unknown as Job

/**
 * Adds jobs that this process runs as soon as `tx` has committed: they are stored as taken and claimed, so they need no query to take
 * them. If the process ends before it has run them, they go to others like all its jobs.
 */
export async function addTaken(tx: Tx, owner: number, queue: string, jobs: readonly Job[]): Promise<void> {
  const { rows } = await sql`
    with added as (
      insert into pgboss.job (id, name, data, state, started_on, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max,
        expire_seconds, deletion_seconds, keep_until)
      select j.id, q.name, j.data::jsonb, 'active', now(), q.policy, q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max,
        q.expire_seconds, q.deletion_seconds, now() + make_interval(secs => q.retention_seconds)
      from pgboss.queue q, unnest(${jobs.map(({ id }) => id)}::uuid[], ${jobs.map(({ data }) => JSON.stringify(data))}::text[]) as j(id, data)
      where q.name = ${queue}
      returning id, name)
    insert into job_claims (job_id, queue, attempt, owner) select id, name, 0, ${owner}::int from added
    returning job_id`.execute(tx)
  assert.equal(rows.length, jobs.length, 'a job was not stored')
}

/** For any connection: the owners of claims whose lock is free. */
const ENDED_OWNERS = `
  select distinct c.owner from (select owner from job_claims union select owner from begun_jobs) c
  where c.owner <> $1 and not exists (
    select from pg_locks l where l.locktype = 'advisory' and l.classid = ${LOCK_CLASS}::oid
      and l.objid = c.owner::bigint::oid and l.objsubid = 2
      and l.database = (select oid from pg_database where datname = current_database()))`

export interface ReleaserParts {
  db: Db
  boss: PgBoss
  begun: BegunJobs
  owner: number
  /** A process has ended when two checks this far apart both find its lock free. */
  endedAfterMs: number
  /** The ids of the jobs that this process runs. */
  runningIds: () => string[]
  onError: (error: unknown) => void
  log: Log
}

/**
 * Makes the check that releases the jobs of processes that have ended, and those of ours that never reached us. It rejects only where the
 * line's own statement fails, because only then is the line lost. False: a statement of the pool has failed.
 */
export function lostJobReleaser({ db, boss, begun, owner, endedAfterMs, runningIds, onError, log }: ReleaserParts) {
  const seenEnded = new Map<number, number>()
  async function release(ended: ReadonlySet<number>): Promise<void> {
    for (const seen of seenEnded.keys()) if (!ended.has(seen)) seenEnded.delete(seen)
    /** One that cannot be released must not stop the others. */
    const failures: unknown[] = []
    for (const one of ended) {
      const since = seenEnded.get(one) ?? performance.now()
      seenEnded.set(one, since)
      if (performance.now() - since < endedAfterMs) continue
      const released = await releaseJobsOf(db, boss, one).catch((error: unknown) => void failures.push(error))
      if (released) log.warn({ released }, 'jobs of a process that has ended were released')
    }
    await begun.claimQueues()
    await releaseUnreceived(db, boss, owner, runningIds())
    if (failures.length > 0) throw failures[0]
  }
  return async (query: Query): Promise<boolean> => {
    const { rows } = await query(ENDED_OWNERS, [owner])
    const done = release(new Set(rows.map((row) => row.owner as number)))
    return done.then(
      () => true,
      (error: unknown) => (onError(error), false),
    )
  }
}

/** Releases the jobs of an ended process at once. When several processes do this together, only one of them has an effect. */
export const releaseJobsOf = (db: Db, boss: PgBoss, owner: number): Promise<number> =>
  inTransaction(db, async (tx) => {
    // a trigger stores the begun jobs of these queues; claims come before jobs, because an earlier release locks them in that order
    await sql`delete from job_claims where owner = ${owner} and attempt = ${QUEUE_CLAIM}::int`.execute(tx)
    await sql`
      select store_begun_jobs(jobs) from (select array_agg(id) as jobs from begun_jobs where owner = ${owner}) as lost
      where jobs is not null`.execute(tx)
    const claims = await sql<Claim>`
      delete from job_claims where owner = ${owner} returning job_id as id, queue, attempt`.execute(tx)
    return giveBack(tx, boss, claims.rows, 'its process has ended')
  })

/**
 * Deletes the claims on jobs that this process does not run. When such a job is still active, the answer to the statement that took
 * it was lost, so the job is released. Begun jobs of any process that have run too long go to the library, which releases them at its
 * next check for such jobs.
 */
const releaseUnreceived = (db: Db, boss: PgBoss, owner: number, running: readonly string[]): Promise<number> =>
  inTransaction(db, async (tx) => {
    await sql`
      select store_begun_jobs(jobs) from (
        select array_agg(b.id) as jobs from begun_jobs b join pgboss.queue q on q.name = b.queue
        where (b.owner = ${owner} and b.id <> all(${running}::uuid[]) and b.begun_at < now() - make_interval(secs => ${UNRECEIVED_SECONDS}::int))
          or b.begun_at < now() - make_interval(secs => q.expire_seconds)) as lost where jobs is not null`.execute(tx)
    const claims = await sql<Claim>`
      delete from job_claims where owner = ${owner} and attempt <> ${QUEUE_CLAIM}::int and job_id <> all(${running}::uuid[])
        and claimed_at < now() - make_interval(secs => ${UNRECEIVED_SECONDS}::int)
      returning job_id as id, queue, attempt`.execute(tx)
    return giveBack(tx, boss, claims.rows, 'the answer that gave it was lost')
  })

interface Claim {
  id: string
  queue: string
  attempt: number
}

/** Releases only jobs that are still active in the claimed attempt. It counts as a try: a job that crashes every process must end. */
async function giveBack(tx: Tx, boss: PgBoss, claims: readonly Claim[], why: string): Promise<number> {
  let released = 0
  for (const queue of new Set(claims.map((claim) => claim.queue))) {
    const claimed = claims.filter((claim) => claim.queue === queue)
    // a job that has failed in this attempt waits for its next one, and must not begin sooner
    const { rows: active } = await sql<{ id: string; retryCount: number }>`
      select j.id, j.retry_count as "retryCount" from pgboss.job j
      join unnest(${claimed.map(({ id }) => id)}::uuid[], ${claimed.map(({ attempt }) => attempt)}::int[]) as c(id, attempt)
        on j.id = c.id and j.retry_count = c.attempt
      where j.name = ${queue} and j.state = 'active' order by j.id for update of j`.execute(tx)
    if (active.length === 0) continue
    await boss.fail(queue, active, { message: why }, { db: fromKysely(tx) })
    await sql`
      update pgboss.job set start_after = now()
      where name = ${queue} and id = any(${active.map(({ id }) => id)}::uuid[]) and state = 'retry'`.execute(tx)
    released += active.length
    await sql`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), ${queue})`.execute(tx)
  }
  return released
}
