import { sql } from 'kysely'
import { EVENT_DAYS } from '../events/record.ts'
import type { EventType } from '../events/event-types.ts'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { firstIdAt } from '../kit/ids.ts'
import { findEndpoint } from './endpoints.ts'
import { listEverything } from './events.ts'
import { KEPT_TRIES, liftHold } from './queue.ts'
import type { DELIVERY_STATES } from './schema.ts'
import type { SendError } from './send.ts'

/** Deliveries that one statement of a replay makes due. */
const REPLAYED_AT_ONCE = 2_000

export interface TryRow {
  number: number
  at: string
  tookMs: number
  status: number | null
  error: SendError | null
  answer: string
}

export interface DeliveryRow {
  id: string
  type: EventType
  orderId: string | null
  state: (typeof DELIVERY_STATES)[number]
  tries: number
  dueAt: Date | null
  createdAt: Date
  lastTry: TryRow | null
}

const TRY = sql`json_build_object('number', t.number, 'at', t.at, 'tookMs', t.took_ms, 'status', t.status, 'error', t.error, 'answer', t.answer)`
const DELIVERY_COLUMNS = sql`
  d.event_id as id, e.type, e.order_id as "orderId", d.state, d.tries, d.due_at as "dueAt", d.created_at as "createdAt",
  (select ${TRY} from webhook_tries t where t.endpoint_id = d.endpoint_id and t.event_id = d.event_id
    order by t.number desc limit 1) as "lastTry"`

/** Sorts after every id. */
const BEFORE_THE_FIRST = 'evt_~'

/** The deliveries of an endpoint, newest first, from `after` on. Refuses `webhook_endpoint_not_found`. */
export async function listDeliveries(
  db: Db,
  { sellerId, endpointId }: { sellerId: string; endpointId: string },
  {
    status,
    after = BEFORE_THE_FIRST,
    limit,
  }: { status?: string | undefined; after?: string | undefined; limit: number },
): Promise<DeliveryRow[]> {
  await findEndpoint(db, sellerId, endpointId)
  const { rows } = await sql<DeliveryRow>`
    select ${DELIVERY_COLUMNS} from webhook_deliveries d join events e on e.id = d.event_id
    where d.endpoint_id = ${endpointId} and d.event_id < ${after}
      and (${status ?? null}::text is null or d.state = ${status ?? null})
    order by d.event_id desc limit ${limit}`.execute(db)
  return rows
}

export interface DeliveryDetails extends DeliveryRow {
  at: Date
  sequence: number | null
  data: unknown
  isTest: boolean
  log: TryRow[]
}

/** One delivery with its event and its last tries. Refuses `webhook_endpoint_not_found`, `delivery_not_found`. */
export async function findDelivery(
  db: Db,
  { sellerId, endpointId, eventId }: { sellerId: string; endpointId: string; eventId: string },
): Promise<DeliveryDetails> {
  await findEndpoint(db, sellerId, endpointId)
  const { rows } = await sql<DeliveryDetails>`
    select ${DELIVERY_COLUMNS}, e.at, e.sequence, e.data, e.test_endpoint_id is not null as "isTest",
      (select coalesce(json_agg(${TRY} order by t.number desc), '[]') from (
        select * from webhook_tries l where l.endpoint_id = d.endpoint_id and l.event_id = d.event_id
        order by l.number desc limit ${KEPT_TRIES}::int) t) as log
    from webhook_deliveries d join events e on e.id = d.event_id
    where d.endpoint_id = ${endpointId} and d.event_id = ${eventId}`.execute(db)
  return rows[0] ?? refuseUnknownDelivery()
}

/**
 * Sends a delivery again, with its id, and begins its schedule anew. It ends a pause that the receiver has asked for. Refuses
 * `webhook_endpoint_not_found`, `delivery_not_found`.
 */
export async function replay(
  db: Db,
  { sellerId, endpointId, eventId }: { sellerId: string; endpointId: string; eventId: string },
): Promise<void> {
  await findEndpoint(db, sellerId, endpointId)
  const { numAffectedRows } = await sql`
    update webhook_deliveries d set state = 'waiting', due_at = now(), step = 0
    where endpoint_id = ${endpointId} and event_id = ${eventId}
      and exists (select from events e where e.id = d.event_id)`.execute(db)
  if (!numAffectedRows) refuseUnknownDelivery()
  await liftHold(db, endpointId)
}

/**
 * Sends the events since a time again, in steps, so that no statement takes long. `failed`: deliveries that were tried and have not
 * arrived, also those that wait for their next try. `all`: every event of the endpoint's types, also those that it had or that came
 * before it. It ends a pause that the receiver has asked for. Returns how many. Refuses `webhook_endpoint_not_found`.
 */
export async function replaySince(
  db: Db,
  { sellerId, endpointId }: { sellerId: string; endpointId: string },
  { since, status }: { since: Date; status: 'failed' | 'all' },
): Promise<number> {
  await findEndpoint(db, sellerId, endpointId)
  if (status === 'all') await listEverything(db, sellerId)
  let count = 0
  let step: ReplayStep | undefined
  do {
    step = await (status === 'all'
      ? replayAll(db, { sellerId, endpointId, since, after: step?.last ?? '0' })
      : replayFailed(db, { endpointId, after: step?.last ?? firstIdAt('evt', since.getTime()) }))
    count += step.count
  } while (step.read === REPLAYED_AT_ONCE)
  // also if nothing had failed: what has happened during the hold waits for its first try
  await liftHold(db, endpointId)
  return count
}

interface ReplayStep {
  read: number
  last: string | null
  count: number
}

/** All its tries were in vain, or the last one was and the next is due later. */
const HAS_FAILED = sql`(state = 'failed' or (state = 'waiting' and step > 0 and due_at > now()))`

async function replayFailed(db: Db, { endpointId, after }: { endpointId: string; after: string }): Promise<ReplayStep> {
  const { rows } = await sql<ReplayStep>`
    with again as (
      update webhook_deliveries d set state = 'waiting', due_at = now(), step = 0
      where endpoint_id = ${endpointId} and event_id = any(array(
        select event_id from webhook_deliveries
        where endpoint_id = ${endpointId} and event_id > ${after} and ${HAS_FAILED}
        order by event_id limit ${REPLAYED_AT_ONCE}::int)) and ${HAS_FAILED}
      returning event_id)
    select count(*)::int as read, count(*)::int as count, max(event_id) as last from again`.execute(db)
  return rows[0]!
}

async function replayAll(
  db: Db,
  { sellerId, endpointId, since, after }: { sellerId: string; endpointId: string; since: Date; after: string },
): Promise<ReplayStep> {
  const { rows } = await sql<ReplayStep>`
    with step as materialized (
      select id, type, at, position from events where seller_id = ${sellerId} and position > ${after}::bigint
      order by position limit ${REPLAYED_AT_ONCE}::int),
    again as (
      insert into webhook_deliveries as d (endpoint_id, event_id)
      select w.id, s.id from step s
        join webhook_endpoints w on w.id = ${endpointId} and w.removed_at is null and w.events && array[s.type, '*']
      where s.at >= ${since}::timestamptz
      on conflict (endpoint_id, event_id) do update set state = 'waiting', due_at = now(), step = 0
      returning 1)
    select (select count(*)::int from step) as read, (select max(position)::text from step) as last,
      (select count(*)::int from again) as count`.execute(db)
  return rows[0]!
}

/** The earliest moment that a replay can begin with. */
export const oldestKept = (): Date => new Date(Date.now() - EVENT_DAYS * 86_400_000)

function refuseUnknownDelivery(): never {
  throw new Refusal('delivery_not_found', 'This endpoint has no such delivery, or it is older than 30 days.')
}
