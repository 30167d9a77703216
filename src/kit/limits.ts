import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { sql } from 'kysely'
import type { Db } from './database.ts'
import { Refusal } from './errors.ts'

/** So many in so many seconds. */
export interface Limit {
  count: number
  seconds: number
}

/** How many keys this process remembers at most: the least recently used is forgotten first. */
const MOST_KEYS = 50_000

/** Limits of one process, in memory: for what costs work, but guards no secret. */
export async function registerLimits(server: FastifyInstance): Promise<void> {
  await server.register(rateLimit, {
    global: false,
    cache: MOST_KEYS,
    enableDraftSpec: true,
    addHeadersOnExceeding: { 'ratelimit-limit': true, 'ratelimit-remaining': true, 'ratelimit-reset': true },
    addHeaders: { 'ratelimit-limit': true, 'ratelimit-remaining': true, 'ratelimit-reset': true, 'retry-after': true },
    errorResponseBuilder: (_request, context) =>
      new Refusal('rate_limited', 'Too many requests. Please wait a little.', {
        retryAfterSeconds: Math.ceil(context.ttl / 1000),
      }),
  })
}

/** The route option that holds requests to `limit`: for each address (an IPv6 subscriber's /64 is one), or for each `keyOf`. */
export function limited(
  limit: Limit | undefined,
  keyOf?: (request: FastifyRequest) => string,
): RouteShorthandOptions['config'] {
  return limit
    ? { rateLimit: { max: limit.count, timeWindow: limit.seconds * 1000, ...(keyOf && { keyGenerator: keyOf }) } }
    : {}
}

/**
 * Counts one more use of `key` over all instances, in one statement, and says whether it is still within `limit`.
 * For what guards a secret.
 */
export async function withinLimit(
  db: Db,
  key: string,
  limit: Limit,
): Promise<{ within: boolean; retryAfterSeconds: number }> {
  const { rows } = await sql<{ count: number; left: number }>`
    insert into limits as l (key, count, until)
    values (${key}, 1, clock_timestamp() + make_interval(secs => ${limit.seconds}))
    on conflict (key) do update set
      count = case when l.until < clock_timestamp() then 1 else l.count + 1 end,
      until = case when l.until < clock_timestamp() then excluded.until else l.until end
    returning count, ceil(extract(epoch from until - clock_timestamp()))::int as left`.execute(db)
  const { count, left } = rows[0]!
  return { within: count <= limit.count, retryAfterSeconds: Math.max(1, left) }
}

/** Forgets the counts whose time is over. */
export async function sweepLimits(db: Db): Promise<void> {
  await sql`delete from limits where until < now() - interval '1 minute'`.execute(db)
}
