import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import { type SweepLimits, sweepOld } from '../../kit/sweep.ts'
import type { ProcessorEvent } from '../../processors/processor.ts'
import type { RecordedAs } from './fact.ts'
import { storedEvents } from './rows.ts'

/** Stores events that change nothing, so that the service recognises them when they come again. */
export async function recordWithoutEffect(
  db: Db,
  processor: string,
  events: readonly Pick<ProcessorEvent, 'id' | 'type' | 'isBackfilled'>[],
  outcome: RecordedAs,
): Promise<void> {
  await storedEvents(events.map((event) => ({ processor, event, outcome })))?.execute(db)
}

/** Returns the events that are neither settled nor stored yet, in their order. */
export async function unseenEvents(
  db: Db,
  processor: string,
  events: readonly ProcessorEvent[],
): Promise<readonly ProcessorEvent[]> {
  const { rows } = await sql<{ id: string }>`
    select event_id as id from processor_events
    where processor = ${processor} and event_id = any(${events.map(({ id }) => id)}::text[])`.execute(db)
  const known = new Set(rows.map(({ id }) => id))
  return events.filter(({ id }) => !known.has(id))
}

/**
 * Removes notifications that came more than `days` days ago. If a processor repeats one of them, settle finds nothing new in the
 * payment, and stores the notification again.
 */
export const sweepEvents = (db: Db, days: number, limits?: SweepLimits): Promise<number> =>
  sweepOld(db, { table: 'processor_events', time: 'received_at', days }, limits)
