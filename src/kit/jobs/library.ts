import { PgBoss } from 'pg-boss'
import type pg from 'pg'
import { CLOCK_READ_SECONDS, STEADY_CLOCK, mendClockSteps } from './clock.ts'

export interface QueueOptions {
  /** How many times a failing job is tried again. The pauses grow from `retryDelaySeconds` to `retryDelayMaxSeconds`. */
  retries: number
  retryDelaySeconds: number
  retryDelayMaxSeconds: number
  /** A job that runs longer counts as lost, and another process takes it. Jobs of an ended process are released within seconds. */
  expireSeconds: number
  atOnce: number
  /** Most jobs succeed at once. Those that begin as they are added cost less, and leave no record when they succeed. */
  isBrief?: boolean
}

/** The job library. It stores and schedules jobs, and the other files of this folder take and run them. */
export interface Library {
  boss: PgBoss
  define(queue: string, options: QueueOptions): Promise<void>
  /** Adds a job to the queue on a schedule (cron, UTC). Removes the schedule of `formerName`. */
  schedule(cron: string, queue: string, formerName?: string): Promise<void>
  unschedule(queue: string): Promise<void>
}

/** Longer than any statement of the library, its own migrations included. */
const QUERY_TIMEOUT_MS = 30_000
/** A start must not fail because a busy machine takes seconds to open a connection. */
const CONNECT_TIMEOUT_MS = 30_000

export async function openLibrary(connection: pg.PoolConfig, onError: (error: unknown) => void): Promise<Library> {
  const boss = new PgBoss({
    ...(connection as object),
    max: 2,
    application_name: 'till-jobs',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // a server that was frozen or disconnected never answers; after the timeout the next try uses another connection
    ...({ query_timeout: QUERY_TIMEOUT_MS, keepAlive: true } as object),
    // finished jobs hold order ids, so they are deleted after a day
    maintenanceIntervalSeconds: 600,
    clock: STEADY_CLOCK,
    clockMonitorIntervalSeconds: CLOCK_READ_SECONDS,
  })
  boss.on('error', onError)
  await boss.start()
  await mendClockSteps(boss, onError)
  // one read for all queues, so that a start does not write settings that an earlier start has written
  const defined = new Map((await boss.getQueues()).map((queue) => [queue.name, Object.entries(queue)]))
  const schedules = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))
  return {
    boss,
    async define(queue, options) {
      const settings = settingsOf(options)
      const before = new Map(defined.get(queue))
      if (Object.entries(settings).every(([name, value]) => before.get(name) === value)) return
      await boss.createQueue(queue, settings)
      await boss.updateQueue(queue, settings)
    },
    async schedule(cron, queue, formerName) {
      if (schedules.get(queue) !== cron) await boss.schedule(queue, cron)
      if (formerName && schedules.has(formerName)) await boss.unschedule(formerName)
    },
    async unschedule(queue) {
      if (schedules.has(queue)) await boss.unschedule(queue)
    },
  }
}

const settingsOf = ({ retries, retryDelaySeconds, retryDelayMaxSeconds, expireSeconds }: QueueOptions) => ({
  retryLimit: retries,
  retryDelay: retryDelaySeconds,
  retryBackoff: true,
  retryDelayMax: retryDelayMaxSeconds,
  expireInSeconds: expireSeconds,
  deleteAfterSeconds: 86_400,
  retentionSeconds: 14 * 86_400,
  notify: true,
})
