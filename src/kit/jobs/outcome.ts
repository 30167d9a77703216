import { sql } from 'kysely'
import { type Job, type PgBoss, fromKysely } from 'pg-boss'
import { batched } from '../batch.ts'
import { type Db, inTransaction, isDatabaseOutage } from '../database.ts'
import { type Log, errorForLog } from '../log.ts'
import { inTime } from '../time.ts'
import type { BegunJobs } from './begun.ts'
import type { QueueOptions } from './library.ts'

/** A handler throws this when another try cannot help. */
export class DropJob extends Error {}

/** A handler throws this when it is too early for the job. The job is tried again like a failed one, but without a warning. */
export class TryLater extends Error {}

/** A job fails this long before its queue would count it as lost. */
const MARGIN_SECONDS = 10

export type Handler = (job: Job) => Promise<void>
export type Outcome =
  | { status: 'completed' }
  /** `isGivenUp`: no further try follows. */
  | { status: 'failed' | 'dropped'; isGivenUp: boolean; output: object }

/** As what the metrics count an outcome. A job whose last try has failed is as lost as one that its handler dropped. */
export const countedAs = (outcome: Outcome): 'completed' | 'failed' | 'dropped' =>
  outcome.status !== 'completed' && outcome.isGivenUp ? 'dropped' : outcome.status

/** Runs a job once and returns the outcome. */
export async function runAttempt(
  queue: string,
  job: Job,
  { retries, expireSeconds }: Pick<QueueOptions, 'retries' | 'expireSeconds'>,
  handler: Handler,
  log: Log,
): Promise<Outcome> {
  try {
    await inTime(handler(job), (expireSeconds - MARGIN_SECONDS) * 1000)
    return { status: 'completed' }
  } catch (error) {
    // a queue without retries loses nothing: its schedule brings the next job
    const isLastTry = retries > 0 && job.retryCount >= retries
    if (error instanceof TryLater && !isLastTry) {
      log.info({ queue, jobId: job.id, why: error.message }, 'a job is tried again later')
      return { status: 'failed', isGivenUp: false, output: { why: error.message } }
    }
    const status = error instanceof DropJob ? 'dropped' : 'failed'
    const isGivenUp = status === 'dropped' || isLastTry
    log.warn({ queue, jobId: job.id, dropped: isGivenUp, ...errorForLog(error) }, 'a job failed')
    return { status, isGivenUp, output: errorForLog(error) }
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
