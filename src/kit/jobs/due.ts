import { sql } from 'kysely'
import type { Db } from '../database.ts'
import type { Slots } from './slots.ts'

/** Asks regularly which queues have a job to run: delayed jobs and retries begin without an announcement. */
export interface DueCheck {
  /** Asks soon, and not only when it is time again. */
  soon(): void
  stop(): void
}

/** Requests for a check within this time share one check. A process that starts adds its queues one after the other. */
const SOON_MS = 20
/** With very many delayed jobs a check takes long. It then takes at most this part of the time, but the next one comes within ten seconds. */
const MOST_OF_THE_TIME = 1 / 20
const LONGEST_PAUSE_MS = 10_000

/** Tells the slots of all queues of a process regularly whether jobs wait. */
export function checkDue(
  db: Db,
  queues: ReadonlyMap<string, Slots>,
  { everyMs, canTake, onError }: { everyMs: number; canTake: () => boolean; onError: (error: unknown) => void },
): DueCheck {
  let timer: NodeJS.Timeout | undefined
  let isUnderWay = false
  let isWanted = false
  let isStopped = false

  const plan = (ms: number) => {
    clearTimeout(timer)
    if (!isStopped) timer = setTimeout(() => void check(), ms).unref()
  }
  async function check(): Promise<void> {
    isUnderWay = true
    isWanted = false
    const began = performance.now()
    const names = [...queues.keys()]
    try {
      if (canTake()) {
        const due = new Set(await dueQueues(db, names))
        for (const name of names) queues.get(name)!.know(due.has(name))
      }
    } catch (error) {
      onError(error)
    }
    isUnderWay = false
    const restMs = Math.min((performance.now() - began) / MOST_OF_THE_TIME, LONGEST_PAUSE_MS)
    plan(isWanted ? SOON_MS : Math.max(everyMs, restMs))
  }

  plan(everyMs)
  return {
    soon() {
      if (!isUnderWay && !isWanted) plan(SOON_MS)
      isWanted = true
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** One statement for all queues. A fetch from each would cost a process without work more than its requests. */
async function dueQueues(db: Db, names: string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select q.name from unnest(${names}::text[]) as q(name) cross join lateral (
      select from pgboss.job j where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now() limit 1
    ) as due`.execute(db)
  return rows.map(({ name }) => name)
}
