import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { newId } from '../kit/ids.ts'
import type { EventType } from './event-types.ts'

/** How long events, deliveries and tries are kept. */
export const EVENT_DAYS = 30

/**
 * The part of a statement that writes events and the deliveries to the seller's endpoints, so that they exist exactly when the rest of
 * the statement does. `happened` is a query of (id, seller_id, type, order_id, sequence, data).
 */
export const writtenEvents = (happened: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  new_events as (
    insert into events (id, seller_id, type, order_id, sequence, data) ${happened}
    returning id, seller_id, type),
  new_deliveries as (
    insert into webhook_deliveries (endpoint_id, event_id)
    select e.id, n.id from new_events n join webhook_endpoints e on e.seller_id = n.seller_id and e.removed_at is null
      and e.events && array[n.type, '*'])`

/** Writes one event that belongs to no order, within the transaction that changes the product. `row` is a query of one row. */
export async function recordEvent(
  tx: Tx,
  { sellerId, type }: { sellerId: string; type: EventType },
  row: RawBuilder<unknown>,
): Promise<void> {
  const happened = sql`
    select ${newId('evt')}, ${sellerId}::text, ${type}::text, null::text, null::integer, to_jsonb(r) from (${row}) r`
  await sql`with ${writtenEvents(happened)} select`.execute(tx)
}
