import { sql } from 'kysely'
import { type Job, type PgBoss, fromKysely } from 'pg-boss'
import { batched } from '../batch.ts'
import { type Db, inTransaction, isDatabaseOutage } from '../database.ts'
import { type Log, errorForLog } from '../log.ts'
import { inTime } from '../time.ts'
import type { BegunJobs } from './begun.ts'

/** A handler throws this when another try cannot help. */
export class DropJob extends Error {}

/** A handler throws this when it is too early for the job. The job is tried again like a failed one, but without a warning. */
export class TryLater extends Error {}

/** A job fails this long before its queue would count it as lost. */
const MARGIN_SECONDS = 10

export type Handler = (job: Job) => Promise<void>
export type Outcome = { status: 'completed' } | { status: 'failed' | 'dropped'; output: object }

/** Runs a job once and returns the outcome. */
export async function runAttempt(
  queue: string,
  job: Job,
  seconds: number,
  handler: Handler,
  log: Log,
): Promise<Outcome> {
  try {
    await inTime(handler(job), (seconds - MARGIN_SECONDS) * 1000)
    return { status: 'completed' }
  } catch (error) {
    if (error instanceof TryLater) {
      log.info({ queue, jobId: job.id, why: error.message }, 'a job is tried again later')
      return { status: 'failed', output: { why: error.message } }
    }
    const dropped = error instanceof DropJob
    log.warn({ queue, jobId: job.id, dropped, ...errorForLog(error) }, 'a job failed')
    return { status: dropped ? 'dropped' : 'failed', output: errorForLog(error) }
  }
}

/** A queue with this many slots has room for jobs that have ended and wait for others. */
const MANY_SLOTS = 64
/** The outcomes of such a queue gather this long. A process that dies meanwhile leaves these jobs to be run once more, as always. */
export const GATHER_MS = 50

/** Records outcomes, each only while this attempt of the job is the current one. Jobs that complete together share a statement. */
export function outcomeRecorder(
  { boss, db, begun }: { boss: PgBoss; db: Db; begun: BegunJobs },
  queue: string,
  { atOnce }: { atOnce: number },
): (job: Job, outcome: Outcome) => Promise<void> {
  const attempt = ({ id, retryCount }: Job) => ({ id, retryCount })
  const complete = batched(
    async (jobs: readonly Job[]) => {
      await boss.complete(queue, jobs.map(attempt), null, { db: fromKysely(db) })
      return jobs.map(() => undefined)
    },
    { most: 64, atOnce: 1, gatherMs: GATHER_MS, isOutage: isDatabaseOutage },
  )
  return async (job, outcome) => {
    const deferrable = atOnce >= MANY_SLOTS
    if (outcome.status === 'completed' && begun.has(job) && (await begun.end(job, { deferrable }))) return
    if (outcome.status === 'completed') return complete(job, { deferrable })
    const { status, output } = outcome
    await inTransaction(db, async (tx) => {
      if (begun.has(job)) await begun.store(tx, job)
      // with no tries left, a failure is final
      if (status === 'dropped')
        await sql`
          update pgboss.job set retry_limit = retry_count
          where name = ${queue} and id = ${job.id}::uuid and state = 'active' and retry_count = ${job.retryCount}`.execute(
          tx,
        )
      await boss.fail(queue, [attempt(job)], output, { db: fromKysely(tx) })
    })
  }
}
