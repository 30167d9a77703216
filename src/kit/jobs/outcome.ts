import { sql } from 'kysely'
import { type Job, type PgBoss, fromKysely } from 'pg-boss'
import { batched } from '../batch.ts'
import { type Db, inTransaction, isDatabaseOutage } from '../database.ts'
import { type Log, errorForLog } from '../log.ts'
import { inTime } from '../time.ts'

/** Thrown by a handler when trying again cannot help. */
export class DropJob extends Error {}

/** Thrown by a handler when nothing went wrong and it is merely too early: tried again like a failed one, and no alarm. */
export class TryLater extends Error {}

/** So much before its queue would take a job for lost, it fails by itself, and alone. */
const MARGIN_SECONDS = 10

export type Handler = (job: Job) => Promise<void>
export type Outcome = { status: 'completed' } | { status: 'failed' | 'dropped'; output: object }

/** What came of one run of a job. */
export async function attempted(
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

/** Writes down what became of jobs, each only while this attempt of it is the current one. Those done together share a statement. */
export function settler(boss: PgBoss, db: Db, queue: string): (job: Job, outcome: Outcome) => Promise<void> {
  const attempt = ({ id, retryCount }: Job) => ({ id, retryCount })
  const complete = batched(
    async (jobs: readonly Job[]) => {
      await boss.complete(queue, jobs.map(attempt), null, { db: fromKysely(db) })
      return jobs.map(() => undefined)
    },
    { most: 64, atOnce: 1, isOutage: isDatabaseOutage },
  )
  return async (job, outcome) => {
    if (outcome.status === 'completed') return complete(job)
    const { status, output } = outcome
    await inTransaction(db, async (tx) => {
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
