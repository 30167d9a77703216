import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { type Log, errorForLog } from '../kit/log.ts'
import { inTime } from '../kit/time.ts'
import type { Processor } from './processor.ts'

/** Short, because an operator who switches on a payment method in the dashboard looks at the shop soon afterwards. */
const FRESH_SECONDS = 600
/** The pause after a processor did not answer. */
const RETRY_MS = 60_000
/** The log repeats a lasting failure only this often: a key without the permission fails for as long as it is used. */
const WARN_MS = 3_600_000
/** A start of the service waits this long for the answer, and then goes on without it. */
const START_MS = 2_000

export interface AccountMethods {
  /** The payment methods that the account offers, by the processor's names. Undefined while they are unknown. It never waits. */
  of: (processor: string) => readonly string[] | undefined
  /** Reads the answers, and keeps them up to date from now on. */
  begin: (processors: ReadonlyMap<string, Processor>) => Promise<void>
}

/**
 * Remembers which payment methods each account offers. A product page gets the last answer at once. When that answer is old, a
 * request in the background replaces it. The database stores the answer for all instances, and for a start during an outage.
 */
export function accountMethods(db: Db, log: Log, now = () => performance.now()): AccountMethods {
  const answers = new Map<string, { ways: readonly string[] | undefined; dueAt: number }>()
  const warnedAt = new Map<string, number>()
  let processors: ReadonlyMap<string, Processor> = new Map()

  async function refresh(name: string): Promise<void> {
    const before = answers.get(name)?.ways
    // keeps other calls from asking too while this one works, and for a pause after it has failed
    answers.set(name, { ways: before, dueAt: now() + RETRY_MS })
    try {
      const stored = await read(db, name)
      if (stored) answers.set(name, { ways: stored.ways, dueAt: now() + RETRY_MS })
      const ways = stored?.isFresh ? stored.ways : await ask(name)
      if (ways) answers.set(name, { ways, dueAt: now() + FRESH_SECONDS * 1000 })
      warnedAt.delete(name)
    } catch (error) {
      if (now() < (warnedAt.get(name) ?? -Infinity) + WARN_MS) return
      warnedAt.set(name, now())
      log.warn({ processor: name, ...errorForLog(error) }, 'the processor did not say which payment methods it offers')
    }
  }

  async function ask(name: string): Promise<readonly string[] | undefined> {
    const ways = await processors.get(name)?.fetchMethods?.()
    if (ways) await write(db, name, ways)
    return ways
  }

  return {
    of(name) {
      const one = answers.get(name)
      if (one && now() > one.dueAt) void refresh(name)
      return one?.ways
    },
    async begin(opened) {
      processors = opened
      const askable = [...opened].filter(([, { fetchMethods }]) => fetchMethods).map(([name]) => name)
      // without these answers the first page could show too few payment methods
      await Promise.all(askable.map((name) => inTime(refresh(name), START_MS).catch(() => {})))
    },
  }
}

async function read(db: Db, processor: string): Promise<{ ways: string[]; isFresh: boolean } | undefined> {
  const { rows } = await sql<{ ways: string[]; isFresh: boolean }>`
    select ways, asked_at > now() - make_interval(secs => ${FRESH_SECONDS}) as "isFresh"
    from processor_ways where processor = ${processor}`.execute(db)
  return rows[0]
}

const write = (db: Db, processor: string, ways: readonly string[]) =>
  sql`
    insert into processor_ways (processor, ways) values (${processor}, ${[...ways]}::text[])
    on conflict (processor) do update set ways = excluded.ways, asked_at = excluded.asked_at`.execute(db)
