import { sql } from 'kysely'
import type { Job } from 'pg-boss'
import { batched } from '../batch.ts'
import { type Db, type Tx, isDatabaseOutage } from '../database.ts'

// Jobs of a brief queue that a process begins as it adds them are rows of `begun_jobs`, and not of the job library's table. Most of
// them succeed at once, and their row is deleted. One that fails, or whose process ends, goes on as a job of the library.

export interface BegunJobs {
  /**
   * Says that the queue is brief. Claims it for this process, so that earlier releases find its begun jobs when the process has ended
   * (schema/104).
   */
  open(queue: string): Promise<void>
  isOpen(queue: string): boolean
  /** Adds jobs that this process runs as soon as `tx` has committed. */
  add(tx: Tx, queue: string, jobs: readonly Job[]): Promise<void>
  /** Whether this process has added the job so. */
  has(job: Job): boolean
  /** Deletes a job that has succeeded. Jobs that end together share a statement. */
  end(job: Job): Promise<void>
  /** Gives a job to the library, still taken and claimed by this process. */
  store(tx: Tx, job: Job): Promise<void>
}

/** The attempt of the claims on whole queues (schema/104). No job has it. */
export const QUEUE_CLAIM = 2 ** 31 - 1

/** How long jobs that have ended wait for others. If the process dies meanwhile, they run once more. */
const GATHER_MS = 50

export function begunJobs(db: Db, owner: number): BegunJobs {
  const queues = new Set<string>()
  const begun = new WeakSet<Job>()
  const deleteTogether = batched(
    async (jobs: readonly Job[]) => {
      await sql`delete from begun_jobs where id = any(${jobs.map(({ id }) => id)}::uuid[])`.execute(db)
      return jobs.map(() => undefined)
    },
    { most: 64, atOnce: 1, gatherMs: GATHER_MS, isOutage: isDatabaseOutage },
  )
  return {
    async open(queue) {
      await sql`
        insert into job_claims (job_id, queue, attempt, owner) values (gen_random_uuid(), ${queue}, ${QUEUE_CLAIM}::int, ${owner})`.execute(
        db,
      )
      queues.add(queue)
    },
    isOpen: (queue) => queues.has(queue),
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
    end: (job) => deleteTogether(job, { deferrable: true }),
    async store(tx, job) {
      await sql`select store_begun_jobs(array[${job.id}::uuid])`.execute(tx)
    },
  }
}
