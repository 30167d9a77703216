import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'

// Removes rows that are over, in many small statements. Each statement is a transaction of its own, so a sweep that ends half-way has
// removed some of the rows, and the next one removes the rest. Rows that others have locked are left to the next sweep: so several
// sweeps at once share the work, and neither a sweep nor a request waits for the other.

/** The most rows of one statement, which then takes some ten milliseconds. */
const ROWS_AT_ONCE = 1_000
/** A sweep ends after this time. The next one comes some minutes later. */
const BUDGET_MS = 60_000

export interface SweepLimits {
  rowsAtOnce?: number
  /** The sweep begins no further statement after this time. It always runs one. */
  budgetMs?: number
}

/** Rows that are over when the time in this column is more than `days` days ago. The column needs an index. */
export interface OldRows {
  table: string
  time: string
  days: number
}

/** Removes old rows, the oldest first. Returns how many. */
export function sweepOld(db: Db, { table, time, days }: OldRows, limits?: SweepLimits): Promise<number> {
  const [rows, at] = [sql.table(table), sql.ref(time)]
  // Each statement begins where the last one ended. Otherwise it would walk over all index entries of the rows that are already gone,
  // which stay in the index as long as any transaction can still see those rows.
  let from = '-infinity'
  return inSteps(async (most) => {
    const { rows: steps } = await sql<{ removed: number; until: string | null }>`
      with gone as (
        delete from ${rows} where ctid = any(array(
          select ctid from ${rows}
          where ${at} >= ${from}::timestamptz and ${at} < now() - make_interval(days => ${days}::int)
          order by ${at} limit ${most}::int for update skip locked))
        returning ${at} as at)
      select count(*)::int as removed, max(at)::text as until from gone`.execute(db)
    const { removed, until } = steps[0]!
    from = until ?? from
    return removed
  }, limits)
}

/** Removes the rows of a small table for which `isOver` holds. Returns how many. */
export function sweepRows(db: Db, table: string, isOver: RawBuilder<unknown>, limits?: SweepLimits): Promise<number> {
  const rows = sql.table(table)
  return inSteps(async (most) => {
    const { numAffectedRows } = await sql`
      delete from ${rows} where ctid = any(array(
        select ctid from ${rows} where ${isOver} limit ${most}::int for update skip locked))`.execute(db)
    return Number(numAffectedRows)
  }, limits)
}

async function inSteps(
  removeSome: (most: number) => Promise<number>,
  { rowsAtOnce = ROWS_AT_ONCE, budgetMs = BUDGET_MS }: SweepLimits = {},
): Promise<number> {
  const end = performance.now() + budgetMs
  for (let sum = 0; ;) {
    const began = performance.now()
    const removed = await removeSome(rowsAtOnce)
    sum += removed
    const now = performance.now()
    if (removed < rowsAtOnce || now >= end) return sum
    // rests as long as it has worked, so that a slow disk has time for requests
    await sleep(now - began)
  }
}
