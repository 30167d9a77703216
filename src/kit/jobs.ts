import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, PgBoss, fromKysely } from 'pg-boss'
import type pg from 'pg'
import { type Tx, connect } from './database.ts'
import { ENDED_OWNERS, newOwner, releaseJobsOf, releaseUnheard, takeJobs } from './jobs/claims.ts'
import { openLine } from './jobs/line.ts'
import { DropJob, type Handler, TryLater, attempted, settler } from './jobs/outcome.ts'
import { type Slots, runSlots } from './jobs/slots.ts'
import { jobMeasures } from './jobs/measures.ts'
import type { Measure } from './measure.ts'
import { type Log, errorForLog } from './log.ts'

export { DropJob, TryLater }

/** What is done later, or again and again, on the same PostgreSQL: enqueued in the transaction that causes it. */
export interface Jobs {
  /** Enqueues within `tx`: the jobs are there exactly when it commits. */
  add(tx: Tx, queue: string, jobs: readonly NewJob[]): Promise<void>
  /**
   * Runs `handler` for every job of `queue`; an error is a try later, as is a `TryLater`; a `DropJob` is the end of it. Each job has
   * a slot of its own: none waits until another one ends.
   */
  on<Data extends object>(
    queue: string,
    options: QueueOptions,
    handler: (data: Data, id: string) => Promise<void>,
  ): Promise<void>
  /**
   * Runs `handler` by the clock (cron, UTC), once over all instances. `formerName` is what an earlier release called the queue: its
   * schedule ends, since it would go on making jobs that no process takes.
   */
  every(cron: string, queue: string, handler: () => Promise<void>, formerName?: string): Promise<void>
  /** Takes no further job: those under way go on. Jobs can still be added. */
  rest(): Promise<void>
  stop(): Promise<void>
  /** How full the queues are, and what became of the jobs. */
  measures?: Measure[]
}

export interface NewJob {
  data: object
  startAfterSeconds?: number
  /** After all that came in the ordinary way, whenever that comes. */
  deferrable?: boolean
}

export interface QueueOptions {
  /** How often a failing job is tried again, the pauses growing from `retryDelaySeconds` to `retryDelayMaxSeconds`. */
  retries: number
  retryDelaySeconds: number
  retryDelayMaxSeconds: number
  /** A job that runs longer is taken for lost and given to another. Those of a process that has ended are given away within seconds. */
  expireSeconds: number
  atOnce: number
  /** How soon a job that was put off, or is to be tried again, is noticed. New ones are announced and start at once. */
  pollSeconds?: number
}

/** Longer than any statement of the job library takes, its own migrations included. */
const QUERY_TIMEOUT_MS = 30_000
/** A start must not fail because a busy machine takes seconds to open a connection. */
const CONNECT_TIMEOUT_MS = 30_000
const SCHEDULED_SECONDS = 300
/** For taking jobs and saying what became of them. */
const CONNECTIONS = 3
const SETTLE_AGAIN_MS = 1_000
/** What runs may finish for so long when the process ends. */
const STOP_MS = 8_000
const DEFAULT_POLL_SECONDS = 10

/** How soon jobs of a process that has ended are given to others. */
export interface TakeOver {
  /** How often each process shows that it lives, and looks for those that do not. */
  beatMs: number
  /** A process whose lock was free in two looks that are so far apart has ended: it had the time to come back. */
  endedAfterMs: number
}
const TAKE_OVER: TakeOver = { beatMs: 2_000, endedAfterMs: 5_000 }

export async function startJobs(connection: pg.PoolConfig, log: Log, takeOver: TakeOver = TAKE_OVER): Promise<Jobs> {
  const boss = new PgBoss({
    ...(connection as object),
    max: 2,
    application_name: 'till-jobs',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // a server that was frozen, or cut off without a word, never answers: the next try takes another connection
    ...({ query_timeout: QUERY_TIMEOUT_MS, keepAlive: true } as object),
    // finished jobs carry order ids: kept for a day, to look at, and then gone
    maintenanceIntervalSeconds: 600,
  })
  const stop = new AbortController()
  let isAway = false
  const onError = (error: unknown) => {
    if (!stop.signal.aborted && !isAway) log.warn(errorForLog(error), 'jobs: the database is away')
    isAway = true
  }
  boss.on('error', onError)
  await boss.start()
  const { db, close } = connect(
    { ...connection, application_name: 'till-jobs' },
    { connections: CONNECTIONS, onError: () => {} },
  )
  // what an earlier start has written is read at once, and not written again one by one
  const defined = new Map((await boss.getQueues()).map((queue) => [queue.name, Object.entries(queue)]))
  const schedules = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))
  const queues = new Map<string, Slots>()
  const runningIds = () => [...queues.values()].flatMap((slots) => slots.running().map(({ id }) => id))
  const owner = newOwner()
  const { measures, counted } = jobMeasures(db)
  const seenEnded = new Map<number, number>()

  const line = await openLine(
    connection,
    { owner, beatMs: takeOver.beatMs },
    {
      onNews(queue) {
        if (queue === undefined) for (const slots of queues.values()) slots.wake()
        else queues.get(queue)?.wake()
      },
      async onBeat(query) {
        isAway = false
        const { rows } = await query(ENDED_OWNERS, [owner])
        const ended = new Set(rows.map((row) => row.owner as number))
        for (const known of seenEnded.keys()) if (!ended.has(known)) seenEnded.delete(known)
        for (const one of ended) {
          const since = seenEnded.get(one) ?? performance.now()
          seenEnded.set(one, since)
          if (performance.now() - since < takeOver.endedAfterMs) continue
          const given = await releaseJobsOf(db, boss, one)
          if (given > 0) log.warn({ given }, 'jobs of a process that has ended were taken over')
        }
        await releaseUnheard(db, boss, owner, runningIds())
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
    const settle = settler(boss, db, queue)
    const runJob = async (job: Job) => {
      const outcome = await attempted(queue, job, options.expireSeconds, handler, log)
      counted(queue, outcome.status)
      // what is not written down would be done once more, so it is tried while the job is ours
      for (const end = Date.now() + options.expireSeconds * 1000; Date.now() < end && !stop.signal.aborted;) {
        try {
          return await settle(job, outcome)
        } catch (error) {
          onError(error)
          await sleep(SETTLE_AGAIN_MS, undefined, { ref: false })
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
