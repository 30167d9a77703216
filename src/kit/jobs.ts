import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PgBoss, fromKysely } from 'pg-boss'
import type pg from 'pg'
import { type Tx, connect, isDatabaseOutage, onTransactionEnd } from './database.ts'
import { checkDue } from './jobs/due.ts'
import { type BegunJobs, begunJobs } from './jobs/begun.ts'
import { addTaken, lostJobReleaser, newOwner, releaseJobsOf, takenJob } from './jobs/claims.ts'
import { type QueueOptions, openLibrary } from './jobs/library.ts'
import { openLine } from './jobs/line.ts'
import { jobMeasures } from './jobs/measures.ts'
import { DropJob, GATHER_MS, type Handler, TryLater } from './jobs/outcome.ts'
import { runQueue } from './jobs/run-queue.ts'
import type { Slots } from './jobs/slots.ts'
import type { Measure } from './measure.ts'
import { type Log, errorForLog } from './log.ts'

export { DropJob, TryLater }
export type { QueueOptions }

/** Schedules (cron, UTC). */
export const EVERY_MINUTE = '* * * * *'
export const EVERY_TEN_MINUTES = '*/10 * * * *'

/** Background jobs on the same PostgreSQL, added in the transaction that causes them, or run by a schedule. */
export interface Jobs {
  /** Adds jobs within `tx`: they exist only if it commits. */
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
  /** Removes a schedule that belongs to no feature which is on. It would go on adding jobs, which all run when the feature is on again. */
  never(queue: string): Promise<void>
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

/** How a scheduled job runs. A failed one is not tried again, because the schedule brings the next. */
const SCHEDULED: QueueOptions = {
  retries: 0,
  retryDelaySeconds: 1,
  retryDelayMaxSeconds: 1,
  expireSeconds: 300,
  atOnce: 1,
}
/** For looking for jobs, taking them and recording their outcomes. */
const CONNECTIONS = 3
/** While a process starts, it tries again for this time. */
const START_MS = 30_000
const START_AGAIN_MS = 200
/** The time that running jobs have to finish when the process ends. */
const STOP_MS = 8_000

/** How soon a process finds the jobs that wait, and those of an ended process. */
export interface Rhythm {
  /** How often the process looks for delayed jobs and retries that are due. New jobs are announced, and begin at once. */
  dueMs: number
  /** How often each process shows that it is alive, and looks for processes that have ended. */
  beatMs: number
  /** A process has ended when two checks this far apart both find its lock free: it had the time to reconnect. */
  endedAfterMs: number
}
const RHYTHM: Rhythm = { dueMs: 1_000, beatMs: 2_000, endedAfterMs: 5_000 }

export async function startJobs(connection: pg.PoolConfig, log: Log, rhythm: Rhythm = RHYTHM): Promise<Jobs> {
  const stopping = new AbortController()
  let isAway = false
  const onError = (error: unknown) => {
    if (!stopping.signal.aborted && !isAway) log.warn(errorForLog(error), 'jobs: the database cannot be reached')
    isAway = true
  }
  const { boss, define, schedule, unschedule } = await openLibrary(connection, onError)
  const { db, close } = connect({ ...connection, application_name: 'till-jobs' }, { connections: CONNECTIONS })
  const queues = new Map<string, Slots>()
  const runningIds = () => [...queues.values()].flatMap((slots) => slots.running().map(({ id }) => id))
  const owner = newOwner()
  const { dueMs, endedAfterMs, beatMs } = rhythm
  const begun = begunJobs(db, owner, GATHER_MS)
  const releaseLost = lostJobReleaser({ db, boss, begun, owner, endedAfterMs, runningIds, onError, log })
  let canTake = () => false
  const due = checkDue(db, queues, { everyMs: dueMs, canTake: () => canTake(), onError })
  const line = await openLine(
    connection,
    { owner, beatMs },
    {
      onNewJobs(queue) {
        if (queue !== undefined) return queues.get(queue)?.wake()
        for (const slots of queues.values()) slots.know(undefined)
        due.soon()
      },
      async onBeat(query) {
        if (await releaseLost(query)) isAway = false
      },
      onError,
    },
  )
  canTake = line.isUp
  const { measures, beginQueue, countOutcome } = jobMeasures(db)
  const parts = { boss, db, begun, owner, canTake: line.isUp, countOutcome, onError, stopped: stopping.signal, log }
  const work = async (queue: string, options: QueueOptions, handler: Handler) => {
    await define(queue, options)
    if (options.isBrief) await atStart(() => begun.open(queue))
    beginQueue(queue)
    queues.set(queue, runQueue(parts, queue, options, handler))
    due.soon()
  }
  const rest = async () => {
    due.stop()
    for (const slots of queues.values()) slots.rest()
  }
  return {
    measures,
    add: (tx, queue, jobs) => addJobs({ boss, begun, owner, slots: queues.get(queue) }, tx, queue, jobs),
    on: (queue, options, handler) => work(queue, options, ({ data, id }) => handler(data as never, id)),
    async every(cron, queue, handler, formerName) {
      await work(queue, SCHEDULED, handler)
      await schedule(cron, queue, formerName)
    },
    never: unschedule,
    rest,
    async stop() {
      await rest()
      for (const end = Date.now() + STOP_MS; runningIds().length > 0 && Date.now() < end;) await sleep(20)
      stopping.abort()
      line.close()
      await releaseJobsOf(db, boss, owner).catch(() => {})
      await boss.stop({ graceful: false })
      await close()
    },
  }
}

/** A start must not fail because a busy machine takes seconds for a statement. `work` may run several times. */
async function atStart(work: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + START_MS; ;) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseOutage(error) || performance.now() > end) throw error
      await sleep(START_AGAIN_MS)
    }
  }
}

/** A job does not belong to the request that has added it: it runs in the context of the process. */
const outsideRequests = AsyncLocalStorage.snapshot()

interface Adding {
  boss: PgBoss
  begun: BegunJobs
  owner: number
  /** The slots of this process for the queue, if it runs the queue. */
  slots: Slots | undefined
}

/** Adds jobs. Those for which this process has free slots begin right after the transaction, and the others wait in the queue. */
async function addJobs(
  { boss, begun, owner, slots }: Adding,
  tx: Tx,
  queue: string,
  jobs: readonly NewJob[],
): Promise<void> {
  if (jobs.length === 0) return
  const canBegin = slots !== undefined && jobs.every((job) => !job.startAfterSeconds && !job.deferrable)
  const count = canBegin ? Math.min(slots.free(), jobs.length) : 0
  const taken = jobs.slice(0, count).map(({ data }) => takenJob(queue, data))
  const end = (hasCommitted: boolean) => {
    if (!hasCommitted) slots!.drop(taken)
    // first the response of the request that has added them: it must not wait for its own jobs
    else setImmediate(() => outsideRequests(() => slots!.start(taken)))
  }
  if (taken.length > 0 && onTransactionEnd(tx, end)) {
    slots!.reserve(taken)
    if (begun.isOpen(queue)) await begun.add(tx, queue, taken)
    else await addTaken(tx, owner, queue, taken)
    if (taken.length < jobs.length) await enqueue(boss, tx, queue, jobs.slice(taken.length))
  } else await enqueue(boss, tx, queue, jobs)
}

async function enqueue(boss: PgBoss, tx: Tx, queue: string, jobs: readonly NewJob[]): Promise<void> {
  const rows = jobs.map(({ data, startAfterSeconds, deferrable }) => ({
    data,
    ...(startAfterSeconds && { startAfter: startAfterSeconds }),
    ...(deferrable && { priority: -1 }),
  }))
  await boss.insert(queue, rows, { db: fromKysely(tx) })
}
