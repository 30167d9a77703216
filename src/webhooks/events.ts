import { sql } from 'kysely'
import { EVENT_DAYS } from '../events/record.ts'
import { type Db, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { timeOfId } from '../kit/ids.ts'
import type { EventRow } from './envelope.ts'

// The list of a seller's events, for a program that pulls them. A reader goes on from the last event that it has, so the list must only
// grow at its end. Neither times nor ids can order it: a transaction that began earlier can commit later, and its event would lie
// behind the reader. So an event gets its place when somebody reads and it is committed, by one reader at a time.

const DAY_MS = 86_400_000
/** Events that get their places at once. */
const PLACED_AT_ONCE = 1_000

/**
 * A seller's events after another one, in the order of the list. An event of a test is not in it. Refuses `event_not_found`, unless the
 * event is so old that it has been removed: then the list begins with the oldest.
 */
export async function pullEvents(
  db: Db,
  sellerId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<EventRow[]> {
  const from = after === undefined ? 0 : await placeOf(db, sellerId, after)
  if (await hasUnlisted(db, sellerId)) await listMore(db, sellerId, limit)
  const { rows } = await sql<EventRow>`
    select id, type, at, sequence, data, false as "isTest" from events
    where seller_id = ${sellerId} and position > ${from} order by position limit ${limit}`.execute(db)
  return rows
}

async function placeOf(db: Db, sellerId: string, id: string): Promise<number> {
  for (;;) {
    const { rows } = await sql<{ position: number | null }>`
      select position from events where id = ${id} and seller_id = ${sellerId} and test_endpoint_id is null`.execute(db)
    if (!rows[0]) {
      if (timeOfId('evt', id)! < Date.now() - EVENT_DAYS * DAY_MS) return 0
      throw new Refusal(
        'event_not_found',
        'There is no such event of yours. Leave out `after` to begin with the oldest.',
      )
    }
    if (rows[0].position !== null) return rows[0].position
    // known from its delivery, and not pulled yet
    await listMore(db, sellerId, PLACED_AT_ONCE)
  }
}

async function hasUnlisted(db: Db, sellerId: string): Promise<boolean> {
  const { rows } = await sql`
    select from events where seller_id = ${sellerId} and position is null and test_endpoint_id is null limit 1`.execute(
    db,
  )
  return rows.length > 0
}

/** Gives places to all of a seller's events, so that the list has everything that is committed now. */
export async function listEverything(db: Db, sellerId: string): Promise<void> {
  while (await hasUnlisted(db, sellerId)) await listMore(db, sellerId, PLACED_AT_ONCE)
}

/** Gives places to the oldest events without one. The events of one order keep the order of their times. */
function listMore(db: Db, sellerId: string, most: number): Promise<void> {
  return inTransaction(db, async (tx) => {
    // one reader at a time, until its commit: else the places of the one could appear before smaller ones of the other
    await sql`select pg_advisory_xact_lock(hashtextextended('list of events ' || ${sellerId}, 0))`.execute(tx)
    await sql`
      update events e set position = placed.position from (
        select id, nextval('event_positions') as position from (
          select id from events where seller_id = ${sellerId} and position is null and test_endpoint_id is null
          order by at, sequence, id limit ${most}) oldest) placed
      where e.id = placed.id`.execute(tx)
  })
}
