import { sql } from 'kysely'
import { EVENT_DAYS } from '../events/record.ts'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { firstIdAt } from '../kit/ids.ts'
import { type EndpointRow, findEndpoint } from './endpoints.ts'
import { beginAnew } from './queue.ts'

const DAY_MS = 86_400_000
const REVIVED_AT_ONCE = 2000

/**
 * Sends again to a paused endpoint: the schedule of each waiting delivery begins anew, and so does that of each delivery that has failed since
 * the endpoint began to fail. A repeat changes nothing. Refuses `webhook_endpoint_not_found`.
 */
export async function resumeEndpoint(db: Db, sellerId: string, endpointId: string): Promise<EndpointRow> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ failingSince: Date | null }>`
      with paused as (
        select id, failing_since from webhook_endpoints
        where id = ${endpointId} and seller_id = ${sellerId} and removed_at is null and paused is not null
        for no key update)
      update webhook_endpoints e
      set paused = null, paused_at = null, failing_since = null, mails_sent = 0, held_until = '-infinity'
      from paused p where e.id = p.id
      returning p.failing_since as "failingSince"`.execute(tx)
    if (rows[0]) await beginAnew(tx, endpointId)
    if (rows[0]?.failingSince) await reviveFailed(tx, endpointId, rows[0].failingSince)
    return findEndpoint(tx, sellerId, endpointId)
  })
}

/**
 * Lets the failed deliveries wait again whose last try was part of the outage. The try that began it was sent a little before. An event of any age
 * can be among them: a replay sends old ones, and a receiver can ask for days of waiting. In steps, so that no statement takes long.
 */
async function reviveFailed(tx: Tx, endpointId: string, failingSince: Date): Promise<void> {
  for (let after = firstIdAt('evt', Date.now() - EVENT_DAYS * DAY_MS); ;) {
    const { rows } = await sql<{ last: string | null }>`
      with again as (
        update webhook_deliveries set state = 'waiting', step = 0, due_at = now()
        where endpoint_id = ${endpointId} and event_id = any(array(
          select event_id from webhook_deliveries d
          where endpoint_id = ${endpointId} and event_id > ${after} and state = 'failed' and exists (
            select from webhook_tries t
            where t.endpoint_id = d.endpoint_id and t.event_id = d.event_id and t.at >= ${failingSince}::timestamptz - interval '1 minute')
          order by event_id limit ${REVIVED_AT_ONCE}::int))
        returning event_id)
      select max(event_id) as last from again`.execute(tx)
    if (rows[0]!.last === null) return
    after = rows[0]!.last
  }
}
