import { sql } from 'kysely'
import type { Job } from 'pg-boss'
import { batched } from '../batch.ts'
import { type Db, type Tx, isDatabaseOutage } from '../database.ts'

// Jobs of a brief queue that a process begins as it adds them are rows of `begun_jobs`, and not of the job library's table. Most of
// them succeed at once, and their row is deleted. The others go on as jobs of the library (schema/104).

export interface BegunJobs {
  /** Makes the queue a brief one. */
  open(queue: string): Promise<void>
  isOpen(queue: string): boolean
  /** Claims the brief queues for this process. Other processes delete these claims when they find that this one has ended. */
  claimQueues(): Promise<void>
  /** Adds jobs that this process runs as soon as `tx` has committed. */
  add(tx: Tx, queue: string, jobs: readonly Job[]): Promise<void>
  /** Whether this process has added the job to `begun_jobs`. It may have gone to the library since. */
  has(job: Job): boolean
  /** Deletes a job that has succeeded. False when it has gone to the library. Jobs that end together share a statement. */
  end(job: Job, options: { deferrable: boolean }): Promise<boolean>
  /** Gives a job to the library, still taken and claimed by this process. */
  store(tx: Tx, job: Job): Promise<void>
}

/** The attempt of the claims on queues. No job has it. */
export const QUEUE_CLAIM = 2 ** 31 - 1

export function begunJobs(db: Db, owner: number, gatherMs: number): BegunJobs {
  const queues: string[] = []
  const begun = new WeakSet<Job>()
  const claim = (names: readonly string[]) =>
    sql`
      insert into job_claims (job_id, queue, attempt, owner)
      select md5(${String(owner)} || ' ' || queue)::uuid, queue, ${QUEUE_CLAIM}::int, ${owner}::int
      from unnest(${names}::text[]) as q(queue)
      on conflict (job_id) do nothing`.execute(db)
  const end = batched(
    async (jobs: readonly Job[]) => {
      const { rows } = await sql<{ id: string }>`
        delete from begun_jobs where id = any(${jobs.map(({ id }) => id)}::uuid[]) returning id`.execute(db)
      const ended = new Set(rows.map(({ id }) => id))
      return jobs.map(({ id }) => ended.has(id))
    },
    { most: 64, atOnce: 1, gatherMs, isOutage: isDatabaseOutage },
  )
  return {
    async open(queue) {
      await claim([queue])
      queues.push(queue)
    },
    isOpen: (queue) => queues.includes(queue),
    async claimQueues() {
      if (queues.length > 0) await claim(queues)
    },
    async add(tx, queue, jobs) {
      for (const job of jobs) begun.add(job)
      const ids = jobs.map(({ id }) => id)
      const data = jobs.map((job) => JSON.stringify(job.data))
      await sql`
        insert into begun_jobs (id, queue, data, owner)
        select id, ${queue}, data::jsonb, ${owner}::int from unnest(${ids}::uuid[], ${data}::text[]) as j(id, data)`.execute(
        tx,
      )
    },
    has: (job) => begun.has(job),
    end,
    async store(tx, job) {
      await sql`select store_begun_jobs(array[${job.id}::uuid])`.execute(tx)
    },
  }
}
