import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { BackupUnderWay } from './base.ts'

export interface Run {
  kind: 'base' | 'drill'
  startedAt: Date
  bytes?: number
  lostSeconds?: number | undefined
  /** Undefined: it went well. */
  problem?: string | undefined
}

export async function noteRun(db: Db, { kind, startedAt, bytes = 0, lostSeconds, problem }: Run): Promise<void> {
  await sql`
    insert into backup_runs (kind, started_at, bytes, lost_seconds, problem)
    values (${kind}, ${startedAt}, ${bytes}, ${lostSeconds ?? null}, ${problem ?? null})`.execute(db)
}

/** Notes a failed run whose program ended before it could, for example because it was killed or its settings are wrong. */
export async function noteUnnoted(db: Db, { kind, startedAt, problem }: Run): Promise<void> {
  await sql`
    insert into backup_runs (kind, started_at, bytes, problem)
    select ${kind}, ${startedAt}, 0, ${problem}
    where not exists (select from backup_runs where kind = ${kind} and started_at >= ${startedAt})`.execute(db)
}

export async function hasGoneWellSince(db: Db, kind: Run['kind'], at: Date): Promise<boolean> {
  const { rows } = await sql`
    select from backup_runs where kind = ${kind} and problem is null and started_at >= ${at} limit 1`.execute(db)
  return rows.length > 0
}

export interface LastRun {
  kind: 'base' | 'drill'
  /** When the last one ended, and when the last one went well. */
  endedAt: Date
  wentWellAt: Date | null
  bytes: number
  lostSeconds: number | null
  problem: string | null
}

/**
 * The last backup and the last drill, for the operator's view, the measures and the doctor. A kind without a run is missing. The ids
 * say which is the last, because the clock can have been ahead.
 */
export async function lastRuns(db: Db): Promise<LastRun[]> {
  const { rows } = await sql<LastRun>`
    select distinct on (kind) kind, finished_at as "endedAt", bytes, lost_seconds as "lostSeconds", problem,
      (select w.finished_at from backup_runs w where w.kind = r.kind and w.problem is null order by w.id desc limit 1) as "wentWellAt"
    from backup_runs r order by kind, id desc`.execute(db)
  return rows
}

/** Runs `work` and notes its result. An error is noted and thrown. BackupUnderWay is only thrown: the other backup notes its own result. */
export async function noted<T extends { bytes: number; lostSeconds?: number; problem?: string | undefined }>(
  db: Db,
  kind: Run['kind'],
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = new Date()
  try {
    const done = await work()
    await noteRun(db, { kind, startedAt, bytes: done.bytes, lostSeconds: done.lostSeconds, problem: done.problem })
    return done
  } catch (error) {
    if (!(error instanceof BackupUnderWay)) await noteRun(db, { kind, startedAt, problem: (error as Error).message })
    throw error
  }
}
