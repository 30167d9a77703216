import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { type Log, errorForLog } from '../kit/log.ts'
import { inTime } from '../kit/time.ts'
import type { Processor } from './processor.ts'

/** An operator who switches a way on in a dashboard looks at the shop soon afterwards. */
const FRESH_SECONDS = 600
/** A processor that could not be asked is asked again so soon. */
const RETRY_MS = 60_000
/** Where it goes on failing, the log says so this often: a key that may not read them fails for as long as it is used. */
const WARN_MS = 3_600_000
/** A first start waits so long for the answer, and does without it then. */
const START_MS = 2_000

export interface AccountMethods {
  /** The ways of paying that the account offers, by the processor's names; undefined while that is not known. Never waits. */
  of: (processor: string) => readonly string[] | undefined
  /** From now on the answers are kept up to date. */
  begin: (processors: ReadonlyMap<string, Processor>) => Promise<void>
}

/**
 * Keeps what each processor says that its account offers. Whoever shows a product gets the last answer at once; where that is
 * old, the processor is asked beside it. The answer lies in the database, for all instances and for a start during an outage.
 */
export function accountMethods(db: Db, log: Log, now = () => performance.now()): AccountMethods {
  const known = new Map<string, { ways: readonly string[] | undefined; dueAt: number }>()
  const warnedAt = new Map<string, number>()
  let processors: ReadonlyMap<string, Processor> = new Map()

  async function refresh(name: string): Promise<void> {
    const before = known.get(name)?.ways
    // while this one is at work, and for a while after it has failed, nobody else begins
    known.set(name, { ways: before, dueAt: now() + RETRY_MS })
    try {
      const kept = await read(db, name)
      if (kept) known.set(name, { ways: kept.ways, dueAt: now() + RETRY_MS })
      const ways = kept?.isFresh ? kept.ways : await ask(name)
      if (ways) known.set(name, { ways, dueAt: now() + FRESH_SECONDS * 1000 })
      warnedAt.delete(name)
    } catch (error) {
      if (now() < (warnedAt.get(name) ?? -Infinity) + WARN_MS) return
      warnedAt.set(name, now())
      log.warn({ processor: name, ...errorForLog(error) }, 'which ways to pay there are could not be asked')
    }
  }

  async function ask(name: string): Promise<readonly string[] | undefined> {
    const ways = await processors.get(name)?.fetchMethods?.()
    if (ways) await write(db, name, ways)
    return ways
  }

  return {
    of(name) {
      const one = known.get(name)
      if (one && now() > one.dueAt) void refresh(name)
      return one?.ways
    },
    async begin(opened) {
      processors = opened
      const asked = [...opened].filter(([, { fetchMethods }]) => fetchMethods).map(([name]) => name)
      // where nothing is known yet the first page would show too little
      await Promise.all(asked.map((name) => inTime(refresh(name), START_MS).catch(() => {})))
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
