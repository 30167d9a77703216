import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, PgBoss } from 'pg-boss'
import type { Db } from '../database.ts'
import type { Log } from '../log.ts'
import type { BegunJobs } from './begun.ts'
import { takeJobs } from './claims.ts'
import type { QueueOptions } from './library.ts'
import { type Handler, countedAs, outcomeRecorder, runAttempt } from './outcome.ts'
import { type Slots, runSlots } from './slots.ts'

/** The parts that all queues of a process share. */
export interface QueueParts {
  boss: PgBoss
  db: Db
  begun: BegunJobs
  /** The number under which this process claims jobs. */
  owner: number
  canTake: () => boolean
  countOutcome: (queue: string, outcome: string) => void
  onError: (error: unknown) => void
  /** Aborted when the process gives its jobs away. */
  stopped: AbortSignal
  log: Log
}

const RECORD_AGAIN_MS = 1_000

/** Takes the jobs of a queue, runs them in slots and records their outcomes. */
export function runQueue(
  { boss, db, begun, owner, canTake, countOutcome, onError, stopped, log }: QueueParts,
  queue: string,
  options: QueueOptions,
  handler: Handler,
): Slots {
  const record = outcomeRecorder({ boss, db, begun }, queue, options)
  return runSlots({
    atOnce: options.atOnce,
    canTake,
    take: (count) => takeJobs(db, boss, owner, queue, count),
    async run(job: Job) {
      const outcome = await runAttempt(queue, job, options, handler, log)
      countOutcome(queue, countedAs(outcome))
      // a job whose outcome is not recorded would run once more, so we try to record it while the job is ours
      for (const end = Date.now() + options.expireSeconds * 1000; Date.now() < end && !stopped.aborted;) {
        try {
          return await record(job, outcome)
        } catch (error) {
          onError(error)
          await sleep(RECORD_AGAIN_MS, undefined, { ref: false })
        }
      }
    },
    onError,
  })
}
