import type { Job } from 'pg-boss'
import { setTimeout as sleep } from 'node:timers/promises'

/** A queue is not asked more often than this while jobs come one by one: an asking costs more than most jobs do. */
const GATHER_MS = 50
const AFTER_ERROR_MS = 1_000

export interface Slots {
  /** There may be jobs. */
  wake(): void
  /** Takes no further job. */
  rest(): void
  running(): Job[]
}

export interface Slotted {
  /** So many run side by side, and none of them waits for another to end. */
  atOnce: number
  /** How soon is asked again without a wake. */
  pollMs: number
  canTake(): boolean
  take(count: number): Promise<Job[]>
  /** Runs one job and says what became of it. Never rejects. */
  run(job: Job): Promise<void>
  onError(error: unknown): void
}

/** Runs the jobs of a queue, each in a slot of its own: whichever is free takes the next. */
export function runSlots({ atOnce, pollMs, canTake, take, run, onError }: Slotted): Slots {
  const running = new Map<string, Job>()
  const resting = new AbortController()
  let wasWoken = false
  let ring = () => {}

  /** Until something happens, or for so long. */
  async function wait(ms: number): Promise<void> {
    const done = new AbortController()
    ring = () => done.abort()
    await sleep(ms, undefined, { signal: done.signal, ref: false }).catch(() => {})
  }

  async function round(): Promise<boolean> {
    const free = atOnce - running.size
    const jobs = await take(free)
    for (const job of jobs) {
      running.set(job.id, job)
      void run(job).finally(() => {
        running.delete(job.id)
        ring()
      })
    }
    return jobs.length === free
  }

  async function go(): Promise<void> {
    let mayHaveMore = true
    let asked = -Infinity
    while (!resting.signal.aborted) {
      const free = atOnce - running.size
      const sinceMs = performance.now() - asked
      // a job that comes alone is not kept waiting, and neither is a queue that fills its slots and has them free again
      const gatherMs = mayHaveMore && free >= atOnce / 2 ? 0 : GATHER_MS - sinceMs
      if (!canTake() || free === 0) await wait(pollMs)
      else if (!mayHaveMore && !wasWoken && sinceMs < pollMs) await wait(pollMs - sinceMs)
      else if (gatherMs > 0) await sleep(gatherMs, undefined, { ref: false })
      else {
        wasWoken = false
        asked = performance.now()
        try {
          mayHaveMore = await round()
        } catch (error) {
          onError(error)
          mayHaveMore = true
          await wait(AFTER_ERROR_MS)
        }
      }
    }
  }

  void go()
  return {
    wake() {
      wasWoken = true
      ring()
    },
    rest() {
      resting.abort()
      ring()
    },
    running: () => [...running.values()],
  }
}
