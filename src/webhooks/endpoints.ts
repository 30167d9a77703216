import { sql } from 'kysely'
import type { EventType } from '../events/event-types.ts'
import { type Db, type Tx, inTransaction, retryConflicts } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { newId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Reach } from '../kit/public-address.ts'
import type { TextSeal } from '../kit/sealed-text.ts'
import type { Caller } from '../sellers/keys/caller.ts'
import { addEndpointNotice } from './notices.ts'
import { beginAnew } from './queue.ts'
import { problemOfUrl } from './send.ts'
import { newSecret } from './signature.ts'

const MOST_ENDPOINTS = 10
/** Old secrets of an endpoint that sign too, beside the last one. Each makes every delivery longer. */
const MOST_OLDER_SECRETS = 9
/** Endpoints whose secrets are sealed again in one statement. */
const SEALED_AT_ONCE = 500

export type Subscription = EventType | '*'

export interface EndpointRow {
  id: string
  url: string
  events: Subscription[]
  description: string
  paused: 'failing' | 'gone' | null
  pausedAt: Date | null
  failingSince: Date | null
  heldUntil: Date | null
  oldSecretUntil: Date | null
  waiting: number
  failed: number
  createdAt: Date
  /** Null: the owner made it, in a browser. The name is null when the key ended long ago. */
  madeByKey: { id: string; name: string | null; ended: boolean } | null
}

/** Up to this number the waiting and the failed deliveries of an endpoint are counted. */
const MOST_COUNTED = 1000
const ENDPOINT_COLUMNS = sql`
  e.id, e.url, e.events, e.description, e.paused, e.paused_at as "pausedAt", e.failing_since as "failingSince",
  case when e.held_until > now() then e.held_until end as "heldUntil",
  case when e.old_secret_until > now() then e.old_secret_until end as "oldSecretUntil", e.created_at as "createdAt",
  case when e.made_by_key is not null then (
    select json_build_object('id', e.made_by_key, 'name', max(k.name),
      'ended', coalesce(bool_or(k.revoked_at is not null or coalesce(k.expires_at <= now(), false)), true))
    from api_keys k where k.id = e.made_by_key) end as "madeByKey",
  (select count(*)::int from (
    select from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting' limit ${MOST_COUNTED}) w) as waiting,
  (select count(*)::int from (
    select from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'failed' limit ${MOST_COUNTED}) f) as failed`

export interface EndpointFields {
  url: string
  events: Subscription[]
  description?: string | undefined
}

interface Making {
  jobs: Jobs
  caller: Caller
  reach: Reach
}

/** Makes an endpoint, and mails its owner. Its secret is shown only now. Refuses `url_not_allowed`, `too_many_endpoints`. */
export async function createEndpoint(
  db: Db,
  { seal, reach, jobs, caller }: Making & { seal: TextSeal },
  { url, events, description = '' }: EndpointFields,
): Promise<EndpointRow & { secret: string }> {
  refuseUrl(url, reach)
  const secret = newSecret()
  const id = newId('we')
  const sellerId = caller.seller.id
  return inTransaction(db, async (tx) => {
    // simultaneous requests count one after the other
    await sql`select from sellers where id = ${sellerId} for no key update`.execute(tx)
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from webhook_endpoints where seller_id = ${sellerId} and removed_at is null`.execute(
      tx,
    )
    if (rows[0]!.count >= MOST_ENDPOINTS)
      throw new Refusal('too_many_endpoints', `A shop has at most ${MOST_ENDPOINTS} endpoints. Remove one first.`)
    await sql`
      insert into webhook_endpoints (id, seller_id, url, events, description, secret, made_by_key)
      values (${id}, ${sellerId}, ${url}, ${unique(events)}, ${description.trim()}, ${seal.seal(secret)}, ${caller.key?.id ?? null})`.execute(
      tx,
    )
    await addEndpointNotice(tx, jobs, caller, { id, url, isNew: true })
    return { ...(await findEndpoint(tx, sellerId, id)), secret }
  })
}

export async function listEndpoints(db: Db, sellerId: string): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    select ${ENDPOINT_COLUMNS} from webhook_endpoints e where e.seller_id = ${sellerId} and e.removed_at is null
    order by e.id`.execute(db)
  return rows
}

/** Refuses `webhook_endpoint_not_found`, also for another seller's endpoint. */
export async function findEndpoint(db: Db | Tx, sellerId: string, endpointId: string): Promise<EndpointRow> {
  const { rows } = await sql<EndpointRow>`
    select ${ENDPOINT_COLUMNS} from webhook_endpoints e
    where e.id = ${endpointId} and e.seller_id = ${sellerId} and e.removed_at is null`.execute(db)
  return rows[0] ?? refuseUnknownEndpoint()
}

/**
 * Changes the given fields, and mails the owner about a new address. What waits for its next try goes to a new address at once. Refuses
 * `webhook_endpoint_not_found`, `url_not_allowed`.
 */
export async function changeEndpoint(
  db: Db,
  making: Making & { endpointId: string },
  fields: Partial<EndpointFields>,
): Promise<EndpointRow> {
  const { isMoved, row } = await storeChange(db, making, fields)
  // After the commit, because results of tries lock deliveries before their endpoint. Resuming does it for a paused one.
  if (isMoved && !row.paused) await retryConflicts(() => beginAnew(db, row.id))
  return row
}

async function storeChange(
  db: Db,
  { reach, jobs, caller, endpointId }: Making & { endpointId: string },
  { url, events, description }: Partial<EndpointFields>,
): Promise<{ isMoved: boolean; row: EndpointRow }> {
  if (url !== undefined) refuseUrl(url, reach)
  const sellerId = caller.seller.id
  return inTransaction(db, async (tx) => {
    const { rows: before } = await sql<{ url: string }>`
      select url from webhook_endpoints where id = ${endpointId} and seller_id = ${sellerId} and removed_at is null
      for no key update`.execute(tx)
    const isMoved = url !== undefined && before[0] !== undefined && before[0].url !== url
    // a failure of the old address says nothing of the new one; a pause goes on, and resuming needs to know since when it was failing
    const { rows } = await sql<EndpointRow>`
    with changed as (
      update webhook_endpoints e set url = coalesce(${url ?? null}::text, url),
        events = coalesce(${events ? unique(events) : null}::text[], events),
        description = coalesce(${description?.trim() ?? null}::text, description),
        failing_since = case when ${url ?? null}::text <> url and paused is null then null else failing_since end,
        mails_sent = case when ${url ?? null}::text <> url and paused is null then 0 else mails_sent end,
        held_until = case when ${url ?? null}::text <> url then '-infinity' else held_until end,
        made_by_key = case when ${isMoved} then ${caller.key?.id ?? null} else made_by_key end
      where id = ${endpointId} and seller_id = ${sellerId} and removed_at is null
      returning e.*)
    select ${ENDPOINT_COLUMNS} from changed e`.execute(tx)
    if (isMoved) await addEndpointNotice(tx, jobs, caller, { id: endpointId, url, isNew: false })
    return { isMoved, row: rows[0] ?? refuseUnknownEndpoint() }
  })
}

/** Removes an endpoint with its secrets. Its waiting deliveries are never sent. Refuses `webhook_endpoint_not_found`. */
export async function removeEndpoint(db: Db, sellerId: string, endpointId: string): Promise<void> {
  const { numAffectedRows } = await sql`
    update webhook_endpoints set removed_at = now(), secret = '', old_secret = null, old_secret_until = null,
      older_secrets = '{}', older_secrets_until = '{}'
    where id = ${endpointId} and seller_id = ${sellerId} and removed_at is null`.execute(db)
  if (!numAffectedRows) refuseUnknownEndpoint()
}

/**
 * Gives an endpoint a new secret, which is shown only now. For `overlapHours` the old ones sign too, each at most until its own end, so the
 * receiver can change over in its own time. Refuses `webhook_endpoint_not_found`.
 */
export async function rotateSecret(
  db: Db,
  seal: TextSeal,
  { sellerId, endpointId, overlapHours }: { sellerId: string; endpointId: string; overlapHours: number },
): Promise<{ secret: string; oldSecretUntil: Date | null }> {
  const secret = newSecret()
  const { rows } = await sql<{ oldSecretUntil: Date | null }>`
    update webhook_endpoints set secret = ${seal.seal(secret)},
      old_secret = case when ${overlapHours}::int > 0 then secret end,
      old_secret_until = case when ${overlapHours}::int > 0 then now() + make_interval(hours => ${overlapHours}::int) end,
      (older_secrets, older_secrets_until) = (
        select coalesce(array_agg(secret order by ends desc, secret), '{}'), coalesce(array_agg(ends order by ends desc, secret), '{}')
        from (
          select secret, least(ends, now() + make_interval(hours => ${overlapHours}::int)) as ends
          from unnest(array_append(older_secrets, old_secret), array_append(older_secrets_until, old_secret_until)) as o(secret, ends)
          where ends > now() and old_secret is not null and ${overlapHours}::int > 0
          order by ends desc limit ${MOST_OLDER_SECRETS}) kept)
    where id = ${endpointId} and seller_id = ${sellerId} and removed_at is null
    returning old_secret_until as "oldSecretUntil"`.execute(db)
  return { secret, oldSecretUntil: (rows[0] ?? refuseUnknownEndpoint()).oldSecretUntil }
}

/**
 * Seals secrets with the service's present secret that an earlier one has sealed, so that the operator can take that one away. Runs when
 * the service starts, because the settings change only then.
 */
export async function sealAgain(db: Db, seal: TextSeal): Promise<void> {
  for (let after = ''; ;) {
    const { rows } = await sql<{ id: string; secret: Buffer; oldSecret: Buffer | null; older: Buffer[] }>`
      select id, secret, old_secret as "oldSecret", older_secrets as older from webhook_endpoints
      where removed_at is null and id > ${after} order by id limit ${SEALED_AT_ONCE}`.execute(db)
    for (const { id, secret, oldSecret, older } of rows) {
      if (![secret, oldSecret, ...older].some((one) => one && seal.open(one)?.isOld)) continue
      const again = (one: Buffer) => {
        const opened = seal.open(one)
        return opened ? seal.seal(opened.text) : one
      }
      await sql`
        update webhook_endpoints set secret = ${again(secret)}, old_secret = ${oldSecret && again(oldSecret)},
          older_secrets = ${older.map(again)}::bytea[]
        where id = ${id} and secret = ${secret} and old_secret is not distinct from ${oldSecret}::bytea
          and older_secrets = ${older}::bytea[]`.execute(db)
    }
    if (rows.length < SEALED_AT_ONCE) return
    after = rows.at(-1)!.id
  }
}

function refuseUrl(url: string, reach: Reach): void {
  const problem = problemOfUrl(url, reach)
  if (problem) throw new Refusal('url_not_allowed', `The address ${problem}.`)
}

const unique = (events: readonly Subscription[]): Subscription[] =>
  events.includes('*') ? ['*'] : [...new Set(events)]

function refuseUnknownEndpoint(): never {
  throw new Refusal('webhook_endpoint_not_found', 'There is no such endpoint of yours.')
}
