import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss, type JobResult, fromKysely } from 'pg-boss'
import type pg from 'pg'
import type { Tx } from './database.ts'
import { type Log, errorForLog } from './log.ts'
import { inTime } from './time.ts'

/** What is done later, or again and again, on the same PostgreSQL: enqueued in the transaction that causes it. */
export interface Jobs {
  /** Enqueues within `tx`: the jobs are there exactly when it commits. */
  add(tx: Tx, queue: string, jobs: readonly NewJob[]): Promise<void>
  /** Runs `handler` for every job of `queue`; an error is a try later, as is a `TryLater`; a `DropJob` is the end of it. */
  on<Data extends object>(
    queue: string,
    options: QueueOptions,
    handler: (data: Data, id: string) => Promise<void>,
  ): Promise<void>
  /** Runs `handler` by the clock (cron, UTC), once over all instances. */
  every(cron: string, queue: string, handler: () => Promise<void>): Promise<void>
  /** Takes no further job: those under way go on. Jobs can still be added. */
  rest(): Promise<void>
  stop(): Promise<void>
}

export interface NewJob {
  data: object
  startAfterSeconds?: number
  /** After all that came in the ordinary way, whenever that comes. */
  canWait?: boolean
}

export interface QueueOptions {
  /** How often a failing job is tried again, the pauses growing from `retryDelaySeconds` to `retryDelayMaxSeconds`. */
  retries: number
  retryDelaySeconds: number
  retryDelayMaxSeconds: number
  /** A job that runs longer is taken for lost (its process died) and given to another. */
  expireSeconds: number
  atOnce: number
  /** How soon a job that was put off, or is to be tried again, is noticed. New ones are announced and start at once. */
  pollSeconds?: number
}

/** Thrown by a handler when trying again cannot help. */
export class DropJob extends Error {}

/** Thrown by a handler when nothing went wrong and it is merely too early: tried again like a failed one, and no alarm. */
export class TryLater extends Error {}

/** Longer than any statement of the job library takes, its own migrations included. */
const QUERY_TIMEOUT_MS = 60_000
/** So much before its queue would take a job for lost, it fails by itself, and alone. */
const MARGIN_SECONDS = 10
const SCHEDULED_SECONDS = 300
/** A queue is not asked more often than this while jobs come one by one: an asking costs more than most jobs do. */
const GATHER_MS = 50

export async function startJobs(connection: pg.PoolConfig, log: Log): Promise<Jobs> {
  const boss = new PgBoss({
    ...(connection as object),
    max: 4,
    application_name: 'till-jobs',
    useListenNotify: true,
    connectionTimeoutMillis: 5_000,
    // a server that was frozen, or cut off without a word, never answers: the next try takes another connection
    ...({ query_timeout: QUERY_TIMEOUT_MS, keepAlive: true } as object),
    // finished jobs carry order ids: kept for a day, to look at, and then gone
    maintenanceIntervalSeconds: 600,
  })
  let stopped = false
  boss.on('error', (error) => stopped || log.warn(errorForLog(error), 'jobs: the database is away'))
  await boss.start()
  const queues = new Set<string>()
  // what an earlier start has written is read at once, and not written again one by one
  const defined = new Map((await boss.getQueues()).map((queue) => [queue.name, Object.entries(queue)]))
  const schedules = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))

  async function define(queue: string, options: QueueOptions): Promise<void> {
    const settings = {
      retryLimit: options.retries,
      retryDelay: options.retryDelaySeconds,
      retryBackoff: true,
      retryDelayMax: options.retryDelayMaxSeconds,
      expireInSeconds: options.expireSeconds,
      deleteAfterSeconds: 86_400,
      retentionSeconds: 14 * 86_400,
      notify: true,
    }
    queues.add(queue)
    const before = new Map(defined.get(queue))
    if (Object.entries(settings).every(([name, value]) => before.get(name) === value)) return
    await boss.createQueue(queue, settings)
    await boss.updateQueue(queue, settings)
  }

  async function attempt(queue: string, id: string, seconds: number, work: () => Promise<void>): Promise<JobResult> {
    try {
      await inTime(work(), (seconds - MARGIN_SECONDS) * 1000)
      return { id, status: 'completed' }
    } catch (error) {
      if (error instanceof TryLater) {
        log.info({ queue, jobId: id, why: error.message }, 'a job is tried again later')
        return { id, status: 'failed', output: { why: error.message } }
      }
      const dropped = error instanceof DropJob
      log.warn({ queue, jobId: id, dropped, ...errorForLog(error) }, 'a job failed')
      return { id, status: dropped ? 'deadletter' : 'failed', output: errorForLog(error) }
    }
  }

  return {
    async add(tx, queue, jobs) {
      if (jobs.length === 0) return
      await boss.insert(
        queue,
        jobs.map(({ data, startAfterSeconds, canWait }) => ({
          data,
          ...(startAfterSeconds && { startAfter: startAfterSeconds }),
          ...(canWait && { priority: -1 }),
        })),
        { db: fromKysely(tx) },
      )
    },
    async on(queue, options, handler) {
      await define(queue, options)
      let last = -Infinity
      // who comes alone is not kept waiting, and neither is a queue that has more than is taken at once
      const gather = async (taken: number) => {
        const since = performance.now() - last
        if (since < GATHER_MS && taken < options.atOnce) await sleep(GATHER_MS - since)
        last = performance.now()
      }
      await boss.work(
        queue,
        {
          perJobResults: true,
          batchSize: options.atOnce,
          pollingIntervalSeconds: options.pollSeconds ?? 2,
          notifyPollingIntervalSeconds: options.pollSeconds ?? 10,
          burstWhenBatchFull: options.atOnce > 1,
        },
        async (jobs) => {
          await gather(jobs.length)
          return Promise.all(
            jobs.map((job) => attempt(queue, job.id, options.expireSeconds, () => handler(job.data as never, job.id))),
          )
        },
      )
    },
    async every(cron, queue, handler) {
      await define(queue, {
        retries: 0,
        retryDelaySeconds: 1,
        retryDelayMaxSeconds: 1,
        expireSeconds: SCHEDULED_SECONDS,
        atOnce: 1,
      })
      if (schedules.get(queue) !== cron) await boss.schedule(queue, cron)
      await boss.work(
        queue,
        { perJobResults: true, pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 30 },
        async (jobs) => Promise.all(jobs.map((job) => attempt(queue, job.id, SCHEDULED_SECONDS, handler))),
      )
    },
    async rest() {
      await Promise.all([...queues].map((queue) => boss.offWork(queue, { wait: false })))
    },
    async stop() {
      await boss.stop({ graceful: true, timeout: 8_000 })
      stopped = true
    },
  }
}
