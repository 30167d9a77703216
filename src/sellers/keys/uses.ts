import { type RawBuilder, sql } from 'kysely'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../kit/database.ts'
import { errorForLog } from '../../kit/log.ts'
import { sweepOld, sweepRows } from '../../kit/sweep.ts'
import type { FoundKey } from './find.ts'

const ACTIVITY_DAYS = 365
const PATH_LONGEST = 500
const CHANGES = /^(?:POST|PUT|PATCH|DELETE)$/

export interface KeyUses {
  /** Notes the hour of the use. A request that may change something is noted before it does. */
  note(key: FoundKey, request: FastifyRequest, reply: FastifyReply): Promise<void>
}

/** Writes down the activity of keys. */
export function keyUses(db: Db): KeyUses {
  /** The keys whose hour is being written, so that many requests at the turn of an hour cause one statement. */
  const noting = new Set<string>()
  async function noteHour({ id }: FoundKey, { method, routeOptions }: FastifyRequest): Promise<void> {
    if (noting.has(id)) return
    noting.add(id)
    try {
      await sql`
        update api_keys set last_used_at = date_trunc('hour', now(), 'UTC'), last_used_route = ${`${method} ${routeOptions.url}`}
        where id = ${id} and coalesce(last_used_at < date_trunc('hour', now(), 'UTC'), true)`.execute(db)
    } finally {
      noting.delete(id)
    }
  }

  async function noteChange(key: FoundKey, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const path = request.url.split('?')[0]!.slice(0, PATH_LONGEST)
    const { rows } = await sql<{ id: string }>`
      insert into key_activity (seller_id, key_id, key_name, last_four, method, path)
      values (${key.seller.id}, ${key.id}, ${key.name}, ${key.lastFour}, ${request.method}, ${path})
      returning id`.execute(db)
    reply.raw.once('close', () => {
      // the program has gone before the answer, which may still come to its end
      if (!reply.raw.headersSent) return
      // the row says itself that the answer is not known, so a failure changes nothing
      sql`update key_activity set status = ${reply.raw.statusCode} where id = ${rows[0]!.id}`
        .execute(db)
        .catch((error: unknown) =>
          request.log.warn(errorForLog(error), 'the outcome of a change by a key was not noted'),
        )
    })
  }

  return {
    async note(key, request, reply) {
      if (key.isStale) await noteHour(key, request)
      if (CHANGES.test(request.method)) await noteChange(key, request, reply)
    },
  }
}

export interface KeyActivity {
  id: string
  keyId: string
  keyName: string
  lastFour: string
  at: Date
  method: string
  path: string
  status: number | null
}

/** The changes by a seller's keys, the newest first. */
export async function listActivity(
  db: Db,
  sellerId: string,
  { keyId, after, limit }: { keyId: string | undefined; after: string | undefined; limit: number },
): Promise<KeyActivity[]> {
  const { rows } = await sql<KeyActivity>`
    select id::text, key_id as "keyId", key_name as "keyName", last_four as "lastFour", at, method, path, status
    from key_activity
    where seller_id = ${sellerId} and (${keyId ?? null}::text is null or key_id = ${keyId ?? null})
      and (${after ?? null}::bigint is null or id < ${after ?? null}::bigint)
    order by key_activity.id desc limit ${limit}`.execute(db)
  return rows
}

/** How many entries of a seller are kept: `all` of them together, and `refused` of those whose request was refused. */
const MOST_KEPT = { all: 100_000, refused: 10_000 }
/** The sellers share this time, so that the entries of one cannot hold up the sweep of the others'. */
const BUDGET_MS = 60_000

/** Removes entries from long ago, and a seller's oldest ones beyond the most that are kept. */
export async function sweepActivity(db: Db, mostKept = MOST_KEPT): Promise<void> {
  await sweepOld(db, { table: 'key_activity', time: 'at', days: ACTIVITY_DAYS })
  // Refused requests go first: a key that may do almost nothing can make many of them, and they must not push out the changes.
  await sweepBeyond(db, mostKept.refused, sql`status / 100 = 4`)
  await sweepBeyond(db, mostKept.all, sql`true`)
}

async function sweepBeyond(db: Db, most: number, isKind: RawBuilder<unknown>): Promise<void> {
  // the first look needs the index alone, and ends for almost every seller
  const { rows } = await sql<{ sellerId: string; last: string }>`
    select s.seller_id as "sellerId", beyond.id::text as last from (select distinct seller_id from api_keys) s
    cross join lateral (select from key_activity where seller_id = s.seller_id order by id desc offset ${most}::int limit 1) many
    cross join lateral (
      select id from key_activity where seller_id = s.seller_id and ${isKind} order by id desc offset ${most}::int limit 1) beyond`.execute(
    db,
  )
  for (const { sellerId, last } of rows) {
    const isBeyond = sql`seller_id = ${sellerId} and id <= ${last}::bigint and ${isKind}`
    await sweepRows(db, 'key_activity', isBeyond, { budgetMs: BUDGET_MS / rows.length })
  }
}
