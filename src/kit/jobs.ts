import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, PgBoss, fromKysely } from 'pg-boss'
import type pg from 'pg'
import { type Tx, connect } from './database.ts'
import { ENDED_OWNERS, newOwner, releaseJobsOf, releaseUnreceived, takeJobs } from './jobs/claims.ts'
import { openLine } from './jobs/line.ts'
import { DropJob, type Handler, TryLater, outcomeRecorder, runAttempt } from './jobs/outcome.ts'
import { type Slots, runSlots } from './jobs/slots.ts'
import { jobMeasures } from './jobs/measures.ts'
import type { Measure } from './measure.ts'
import { type Log, errorForLog } from './log.ts'

export { DropJob, TryLater }

/** Schedules (cron, UTC). */
export const EVERY_MINUTE = '* * * * *'
export const EVERY_TEN_MINUTES = '*/10 * * * *'

/** Background jobs on the same PostgreSQL, added in the transaction that causes them, or run by a schedule. */
export interface Jobs {
  /** Adds jobs within `tx`: they exist exactly when it commits. */
  add(tx: Tx, queue: string, jobs: readonly NewJob[]): Promise<void>
  /**
   * Runs `handler` for every job of `queue`. A job whose handler throws is tried again later; after a `DropJob` it is not. Jobs run
   * in slots: a free slot takes the next job at once, whatever the other slots do.
   */
  on<Data extends object>(
    queue: string,
    options: QueueOptions,
    handler: (data: Data, id: string) => Promise<void>,
  ): Promise<void>
  /**
   * Runs `handler` on a schedule (cron, UTC), once over all instances. `formerName` is the queue's name in an earlier release: its
   * schedule is removed, because it would go on adding jobs that no process takes.
   */
  every(cron: string, queue: string, handler: () => Promise<void>, formerName?: string): Promise<void>
  /** Takes no further jobs. Running jobs go on, and jobs can still be added. */
  rest(): Promise<void>
  stop(): Promise<void>
  /** The lengths of the queues, and the outcomes of the jobs. */
  measures?: Measure[]
}

export interface NewJob {
  data: object
  startAfterSeconds?: number
  /** Runs only when no other job of the queue waits. */
  deferrable?: boolean
}

export interface QueueOptions {
  /** How often a failing job is tried again, the pauses growing from `retryDelaySeconds` to `retryDelayMaxSeconds`. */
  retries: number
  retryDelaySeconds: number
  retryDelayMaxSeconds: number
  /** A job that runs longer counts as lost, and another process takes it. Jobs of an ended process are released within seconds. */
  expireSeconds: number
  atOnce: number
  /** How often the queue is checked for delayed jobs and retries. New jobs are announced and start at once. */
  pollSeconds?: number
}

/** Longer than any statement of the job library, its own migrations included. */
const QUERY_TIMEOUT_MS = 30_000
/** A start must not fail because a busy machine takes seconds to open a connection. */
const CONNECT_TIMEOUT_MS = 30_000
const SCHEDULED_SECONDS = 300
/** For taking jobs and recording their outcomes. */
const CONNECTIONS = 3
const RECORD_AGAIN_MS = 1_000
/** The time that running jobs have to finish when the process ends. */
const STOP_MS = 8_000
const DEFAULT_POLL_SECONDS = 10

/** How soon the jobs of an ended process are released to others. */
export interface TakeOver {
  /** How often each process shows that it is alive, and looks for processes that have ended. */
  beatMs: number
  /** A process has ended when two checks this far apart both find its lock free: it had the time to reconnect. */
  endedAfterMs: number
}
const TAKE_OVER: TakeOver = { beatMs: 2_000, endedAfterMs: 5_000 }

export async function startJobs(connection: pg.PoolConfig, log: Log, takeOver: TakeOver = TAKE_OVER): Promise<Jobs> {
  const boss = new PgBoss({
    ...(connection as object),
    max: 2,
    application_name: 'till-jobs',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // a server that was frozen or disconnected never answers; after the timeout the next try uses another connection
    ...({ query_timeout: QUERY_TIMEOUT_MS, keepAlive: true } as object),
    // finished jobs hold order ids, so they are deleted after a day
    maintenanceIntervalSeconds: 600,
  })
  const stop = new AbortController()
  let isAway = false
  const onError = (error: unknown) => {
    if (!stop.signal.aborted && !isAway) log.warn(errorForLog(error), 'jobs: the database cannot be reached')
    isAway = true
  }
  boss.on('error', onError)
  await boss.start()
  const { db, close } = connect(
    { ...connection, application_name: 'till-jobs' },
    { connections: CONNECTIONS, onError: () => {} },
  )
  // one read for all queues, so that a start does not write settings that an earlier start has written
  const defined = new Map((await boss.getQueues()).map((queue) => [queue.name, Object.entries(queue)]))
  const schedules = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))
  const queues = new Map<string, Slots>()
  const runningIds = () => [...queues.values()].flatMap((slots) => slots.running().map(({ id }) => id))
  const owner = newOwner()
  const { measures, countOutcome } = jobMeasures(db)
  const seenEnded = new Map<number, number>()

  const line = await openLine(
    connection,
    { owner, beatMs: takeOver.beatMs },
    {
      onNewJobs(queue) {
        if (queue === undefined) for (const slots of queues.values()) slots.wake()
        else queues.get(queue)?.wake()
      },
      async onBeat(query) {
        isAway = false
        const { rows } = await query(ENDED_OWNERS, [owner])
        const ended = new Set(rows.map((row) => row.owner as number))
        for (const seen of seenEnded.keys()) if (!ended.has(seen)) seenEnded.delete(seen)
        for (const one of ended) {
          const since = seenEnded.get(one) ?? performance.now()
          seenEnded.set(one, since)
          if (performance.now() - since < takeOver.endedAfterMs) continue
          const released = await releaseJobsOf(db, boss, one)
          if (released > 0) log.warn({ released }, 'jobs of a process that has ended were released')
        }
        await releaseUnreceived(db, boss, owner, runningIds())
      },
      onError,
    },
  )

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
    const before = new Map(defined.get(queue))
    if (Object.entries(settings).every(([name, value]) => before.get(name) === value)) return
    await boss.createQueue(queue, settings)
    await boss.updateQueue(queue, settings)
  }

  async function work(queue: string, options: QueueOptions, handler: Handler): Promise<void> {
    await define(queue, options)
    const record = outcomeRecorder(boss, db, queue)
    const runJob = async (job: Job) => {
      const outcome = await runAttempt(queue, job, options.expireSeconds, handler, log)
      countOutcome(queue, outcome.status)
      // a job whose outcome is not recorded would run once more, so we try to record it while the job is ours
      for (const end = Date.now() + options.expireSeconds * 1000; Date.now() < end && !stop.signal.aborted;) {
        try {
          return await record(job, outcome)
        } catch (error) {
          onError(error)
          await sleep(RECORD_AGAIN_MS, undefined, { ref: false })
        }
      }
    }
    const slots = runSlots({
      atOnce: options.atOnce,
      pollMs: (options.pollSeconds ?? DEFAULT_POLL_SECONDS) * 1000,
      canTake: () => line.isUp(),
      take: (count) => takeJobs(db, boss, owner, queue, count),
      run: runJob,
      onError,
    })
    queues.set(queue, slots)
  }

  return {
    measures,
    async add(tx, queue, jobs) {
      if (jobs.length === 0) return
      await boss.insert(
        queue,
        jobs.map(({ data, startAfterSeconds, deferrable }) => ({
          data,
          ...(startAfterSeconds && { startAfter: startAfterSeconds }),
          ...(deferrable && { priority: -1 }),
        })),
        { db: fromKysely(tx) },
      )
    },
    on: (queue, options, handler) => work(queue, options, ({ data, id }) => handler(data as never, id)),
    async every(cron, queue, handler, formerName) {
      const options = {
        retries: 0,
        retryDelaySeconds: 1,
        retryDelayMaxSeconds: 1,
        expireSeconds: SCHEDULED_SECONDS,
        atOnce: 1,
        pollSeconds: 30,
      }
      await work(queue, options, handler)
      if (schedules.get(queue) !== cron) await boss.schedule(queue, cron)
      if (formerName && schedules.has(formerName)) await boss.unschedule(formerName)
    },
    async rest() {
      for (const slots of queues.values()) slots.rest()
    },
    async stop() {
      for (const slots of queues.values()) slots.rest()
      for (const end = Date.now() + STOP_MS; runningIds().length > 0 && Date.now() < end;) await sleep(20)
      stop.abort()
      line.close()
      await releaseJobsOf(db, boss, owner).catch(() => {})
      await boss.stop({ graceful: false })
      await close()
    },
  }
}
