import { sql } from 'kysely'
import { EVENT_DAYS } from '../events/record.ts'
import type { Db } from '../kit/database.ts'
import { firstIdAt } from '../kit/ids.ts'
import type { Measure } from '../kit/measure.ts'
import { sweepRows } from '../kit/sweep.ts'

const DAY_MS = 86_400_000
/** Up to this number the deliveries of an endpoint are counted. */
const MOST_COUNTED = 10_000

/** Removes old events with their deliveries and tries. The ids have their times in them, so no index of times is needed. */
export async function sweepWebhooks(db: Db): Promise<void> {
  const oldest = firstIdAt('evt', Date.now() - EVENT_DAYS * DAY_MS)
  const { rows } = await sql<{ id: string }>`
    select id from webhook_endpoints e where exists (
      select from webhook_deliveries d where d.endpoint_id = e.id and d.event_id < ${oldest})`.execute(db)
  for (const { id } of rows)
    for (const table of ['webhook_tries', 'webhook_deliveries'])
      await sweepRows(db, table, sql`endpoint_id = ${id} and event_id < ${oldest}`)
  await sweepRows(db, 'events', sql`id < ${oldest}`)
}

/** Deliveries that a working receiver would have by now: alarms when these grow. */
export const webhookMeasures = (db: Db): Measure[] => {
  const due = sql`
    from webhook_endpoints e join sellers s on s.id = e.seller_id and s.disabled_at is null, lateral (
      select count(*)::int as number, min(due_at) as oldest from (
        select due_at from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting' and d.due_at <= now()
        order by due_at limit ${MOST_COUNTED}) due) w
    where e.removed_at is null and e.paused is null and e.failing_since is null`
  const one = async (value: typeof due) =>
    (await sql<{ value: number }>`select ${value} ${due}`.execute(db)).rows[0]?.value
  return [
    {
      name: 'till_webhook_deliveries_due',
      help: 'Deliveries that are due at endpoints that work',
      read: () => one(sql`coalesce(sum(number), 0)::int as value`),
    },
    {
      name: 'till_webhook_oldest_seconds',
      help: 'The time for which the oldest of these has been due; 0 when none is due',
      read: () => one(sql`coalesce(extract(epoch from now() - min(oldest)), 0)::float8 as value`),
    },
  ]
}
