import type { Job } from 'pg-boss'
import { setTimeout as sleep } from 'node:timers/promises'

/** While jobs arrive one by one, the queue is queried at most this often, because a query costs more than most jobs. */
const GATHER_MS = 50
const AFTER_ERROR_MS = 1_000

export interface Slots {
  /** Tells the slots that there may be jobs. */
  wake(): void
  /** Takes no further job. */
  rest(): void
  running(): Job[]
}

export interface Slotted {
  /** How many jobs run at once, independently of each other. */
  atOnce: number
  /** How often the queue is queried without a wake. */
  pollMs: number
  canTake(): boolean
  take(count: number): Promise<Job[]>
  /** Runs one job and records its outcome. Never rejects. */
  run(job: Job): Promise<void>
  onError(error: unknown): void
}

/** Runs the jobs of a queue in slots: a free slot takes the next job. */
export function runSlots({ atOnce, pollMs, canTake, take, run, onError }: Slotted): Slots {
  const running = new Map<string, Job>()
  const resting = new AbortController()
  let wasWoken = false
  let endWait = () => {}

  /** Waits until a job ends, `wake` or `rest` is called, or `ms` have passed. */
  async function wait(ms: number): Promise<void> {
    const done = new AbortController()
    endWait = () => done.abort()
    await sleep(ms, undefined, { signal: done.signal, ref: false }).catch(() => {})
  }

  async function round(): Promise<boolean> {
    const free = atOnce - running.size
    const jobs = await take(free)
    for (const job of jobs) {
      running.set(job.id, job)
      void run(job).finally(() => {
        running.delete(job.id)
        endWait()
      })
    }
    return jobs.length === free
  }

  async function go(): Promise<void> {
    let mayHaveMore = true
    let queriedAt = -Infinity
    while (!resting.signal.aborted) {
      const free = atOnce - running.size
      const sinceMs = performance.now() - queriedAt
      // no pause for a job that comes alone, nor for a queue that has filled its slots and has them free again
      const gatherMs = mayHaveMore && free >= atOnce / 2 ? 0 : GATHER_MS - sinceMs
      if (!canTake() || free === 0) await wait(pollMs)
      else if (!mayHaveMore && !wasWoken && sinceMs < pollMs) await wait(pollMs - sinceMs)
      else if (gatherMs > 0) await sleep(gatherMs, undefined, { ref: false })
      else {
        wasWoken = false
        queriedAt = performance.now()
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
      endWait()
    },
    rest() {
      resting.abort()
      endWait()
    },
    running: () => [...running.values()],
  }
}
