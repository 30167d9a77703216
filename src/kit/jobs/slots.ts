import type { Job } from 'pg-boss'
import { setTimeout as sleep } from 'node:timers/promises'

/** While jobs arrive one by one, the queue is queried at most this often, because a query costs more than most jobs. */
const GATHER_MS = 50
const AFTER_ERROR_MS = 1_000

export interface Slots {
  /** Tells the slots that there may be jobs. */
  wake(): void
  /** Tells the slots whether jobs wait. While that is not known (undefined), new jobs get no slot. */
  know(jobsWait: boolean | undefined): void
  /** Takes no further job. */
  rest(): void
  running(): Job[]
  /** How many slots are free for new jobs. None while older jobs may wait, because those come first. */
  free(): number
  /** Gives jobs that are being added a slot each. Then `start` runs them, or `drop` takes the slots back. */
  reserve(jobs: readonly Job[]): void
  start(jobs: readonly Job[]): void
  drop(jobs: readonly Job[]): void
}

export interface Slotted {
  /** How many jobs run at once, independently of each other. */
  atOnce: number
  canTake(): boolean
  take(count: number): Promise<Job[]>
  /** Runs one job and records its outcome. Never rejects. */
  run(job: Job): Promise<void>
  onError(error: unknown): void
}

/** Runs jobs, and knows those that run or are about to. Calls `onDrop` when a slot is free again. */
function jobBook(run: Slotted['run'], onDrop: () => void) {
  const running = new Map<string, Job>()
  const drop = (jobs: readonly Job[]) => {
    // a job that was released meanwhile may run here again, as its next attempt
    for (const job of jobs) if (running.get(job.id) === job) running.delete(job.id)
    onDrop()
  }
  return {
    running,
    reserve: (jobs: readonly Job[]) => jobs.forEach((job) => running.set(job.id, job)),
    start: (jobs: readonly Job[]) => jobs.forEach((job) => void run(job).finally(() => drop([job]))),
    drop,
  }
}

/** Runs the jobs of a queue in slots: after a wake, and as long as there are more, a free slot takes the next job. */
export function runSlots({ atOnce, canTake, take, run, onError }: Slotted): Slots {
  const resting = new AbortController()
  /** Slots for the jobs that a query under way may return. */
  let awaited = 0
  let wasWoken = false
  let mayHaveMore = false
  let isKnown = false
  let isFull = false
  let endWait = () => {}
  const { running, reserve, start, drop } = jobBook(run, () => isFull && endWait())
  const freeSlots = () => atOnce - running.size - awaited

  /** Waits until `wake` or `rest` is called, or a job ends and all slots were in use. */
  function wait(): Promise<void> {
    isFull = freeSlots() <= 0
    return new Promise((resolve) => (endWait = resolve))
  }

  /** Takes jobs, and returns whether more may wait. */
  async function round(count: number): Promise<boolean> {
    awaited = count
    try {
      const jobs = await take(count)
      reserve(jobs)
      start(jobs)
      return jobs.length === count
    } finally {
      awaited = 0
    }
  }

  async function go(): Promise<void> {
    let queriedAt = -Infinity
    while (!resting.signal.aborted) {
      const free = freeSlots()
      // no pause for a job that comes alone, nor for a queue that has filled its slots and has them free again
      const gatherMs = mayHaveMore && free >= atOnce / 2 ? 0 : queriedAt + GATHER_MS - performance.now()
      if (!canTake() || free <= 0 || !(mayHaveMore || wasWoken)) await wait()
      else if (gatherMs > 0) await sleep(gatherMs, undefined, { ref: false })
      else {
        wasWoken = false
        queriedAt = performance.now()
        try {
          mayHaveMore = await round(free)
        } catch (error) {
          onError(error)
          mayHaveMore = true
          await sleep(AFTER_ERROR_MS, undefined, { ref: false })
        }
      }
    }
  }

  const wake = () => {
    wasWoken = true
    endWait()
  }

  void go()
  return {
    wake,
    know(jobsWait) {
      isKnown = jobsWait !== undefined
      if (jobsWait) wake()
      // when it is not known, an earlier wake may not have been followed yet
      else if (!isKnown) endWait()
    },
    rest() {
      resting.abort()
      endWait()
    },
    running: () => [...running.values()],
    free: () =>
      isKnown && canTake() && !(mayHaveMore || wasWoken || resting.signal.aborted) ? Math.max(0, freeSlots()) : 0,
    reserve,
    start,
    drop,
  }
}
