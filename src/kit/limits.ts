import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { sql } from 'kysely'
import { NO_ADDRESS, ipOf } from './addresses.ts'
import type { Db } from './database.ts'
import { Refusal } from './errors.ts'
import { sweepRows } from './sweep.ts'

/** At most `count` uses in `seconds`. */
export interface Limit {
  count: number
  seconds: number
}

/** The most keys that a budget remembers. It forgets the oldest first. */
const MOST_KEYS = 50_000
/** Each limited route remembers keys of its own, and forgets first the one unused for longest. A key takes some 300 bytes. */
const MOST_KEYS_OF_ROUTE = 5_000

/** Limits in the memory of this process, for routes that cost work but guard no secret. */
export async function registerLimits(server: FastifyInstance): Promise<void> {
  await server.register(rateLimit, {
    global: false,
    keyGenerator: (request) => networkOf(request.ip),
    enableDraftSpec: true,
    addHeadersOnExceeding: { 'ratelimit-limit': true, 'ratelimit-remaining': true, 'ratelimit-reset': true },
    addHeaders: { 'ratelimit-limit': true, 'ratelimit-remaining': true, 'ratelimit-reset': true, 'retry-after': true },
    errorResponseBuilder: (_request, context) =>
      new Refusal('rate_limited', 'Too many requests. Please wait a little.', {
        retryAfterSeconds: Math.ceil(context.ttl / 1000),
      }),
  })
}

/** The route option that limits requests, for each network (an IPv6 /64 counts as one) or for each `keyOf`. */
export function limited(
  limit: Limit | undefined,
  keyOf?: (request: FastifyRequest) => string,
): RouteShorthandOptions['config'] {
  if (!limit) return {}
  const timeWindow = limit.seconds * 1000
  return {
    rateLimit: { max: limit.count, timeWindow, cache: MOST_KEYS_OF_ROUTE, ...(keyOf && { keyGenerator: keyOf }) },
  }
}

/** Counts one more request of a network. Undefined when there is no limit. */
export type Budget = (network: string) => Counted | undefined

/** Counts the requests of each network in this process, in fixed spans of time. It is cheap, because it runs for every request. */
export function newBudget(limit: Limit | undefined): Budget {
  if (!limit) return () => undefined
  const spans = new Map<string, { count: number; until: number }>()
  return (network) => {
    const now = performance.now()
    let span = spans.get(network)
    if (!span || span.until <= now) {
      spans.delete(network)
      // removes the oldest span, which has most likely ended
      if (spans.size >= MOST_KEYS) spans.delete(spans.keys().next().value!)
      spans.set(network, (span = { count: 0, until: now + limit.seconds * 1000 }))
    }
    span.count += 1
    // the sum of two fractions can be a hair more than the whole span
    const resetSeconds = Math.min(limit.seconds, Math.max(1, Math.ceil((span.until - now) / 1000)))
    return { within: span.count <= limit.count, remaining: Math.max(0, limit.count - span.count), resetSeconds, limit }
  }
}

/** One more use of `key`. With `grows`, the wait doubles with each overrun. */
export interface Use {
  key: string
  limit: Limit
  grows?: boolean
}

export interface Counted {
  within: boolean
  /** How many more uses are allowed now. */
  remaining: number
  /** Seconds until the count starts again. */
  resetSeconds: number
  limit: Limit
}

/** The longest pause is sixteen times the limit's own span. */
const MOST_DOUBLINGS = 4
const OVERRUNS_FORGOTTEN = '1 day'

/**
 * Counts uses over all instances in one statement, for limits that guard a secret. Returns for each use whether it is within its
 * limit. Several uses of the same key count in their order.
 */
export async function countUses(db: Db, uses: readonly Use[]): Promise<Counted[]> {
  const sums = new Map<string, { times: number; seconds: number }>()
  const positions = uses.map(({ key, limit }) => {
    const sum = { times: (sums.get(key)?.times ?? 0) + 1, seconds: limit.seconds }
    sums.set(key, sum)
    return sum.times
  })
  // the same order everywhere, so that two statements never deadlock
  const keys = [...sums.keys()].sort()
  const column = (name: 'times' | 'seconds') => keys.map((key) => sums.get(key)![name])
  const { rows } = await sql<CountRow>`
    insert into limits as l (key, count, until)
    select key, times, clock_timestamp() + make_interval(secs => seconds)
    from unnest(${keys}::text[], ${column('times')}::int[], ${column('seconds')}::int[]) as n (key, times, seconds)
    ${ADDED}`.execute(db)
  const byKey = new Map(rows.map((row) => [row.key, row]))
  const counted: Counted[] = []
  for (const [at, use] of uses.entries()) {
    const row = byKey.get(use.key)!
    const later = sums.get(use.key)!.times - positions[at]!
    counted.push(await judged(db, use, { ...row, count: row.count - later }))
  }
  return counted
}

/**
 * Counts one use, and then the other unless the first is beyond its limit. It is one statement, because a person waits for it. It
 * locks the keys in this order, as giveBack() does.
 */
export async function countOneThenOther(db: Db, one: Use, other: Use): Promise<Counted[]> {
  const { rows } = await sql<CountRow>`
    with one as (
      insert into limits as l (key, count, until)
      values (${one.key}, 1, clock_timestamp() + make_interval(secs => ${one.limit.seconds}::int))
      ${ADDED}),
    other as (
      insert into limits as l (key, count, until)
      select ${other.key}, 1, clock_timestamp() + make_interval(secs => ${other.limit.seconds}::int)
      from one where one.count <= ${one.limit.count}::int
      ${ADDED})
    select * from one union all select * from other`.execute(db)
  return Promise.all(rows.map((row) => judged(db, row.key === one.key ? one : other, row)))
}

interface CountRow {
  key: string
  count: number
  secondsLeft: number
}

const ADDED = sql`
  on conflict (key) do update set
    count = case when l.until < clock_timestamp() then excluded.count else l.count + excluded.count end,
    until = case when l.until < clock_timestamp() then excluded.until else l.until end,
    overruns = case when l.until < clock_timestamp() - ${OVERRUNS_FORGOTTEN}::interval then 0 else l.overruns end
  returning key, count, ceil(extract(epoch from until - clock_timestamp()))::int as "secondsLeft"`

/** Judges a use by the count after it. */
async function judged(db: Db, { key, limit, grows }: Use, { count, secondsLeft }: CountRow): Promise<Counted> {
  const resetSeconds = grows && count === limit.count + 1 ? await pause(db, key, limit) : Math.max(1, secondsLeft)
  return { within: count <= limit.count, remaining: Math.max(0, limit.count - count), resetSeconds, limit }
}

/**
 * Counts the uses of each item one after the other, and stops at the first that is beyond its limit, so that a refused item uses up
 * nothing of the limits that follow. It runs one statement for each of `uses`, however many items there are.
 */
export async function countInTurn<Item>(
  db: Db,
  items: readonly Item[],
  uses: readonly ((item: Item) => Use | undefined)[],
): Promise<Counted[][]> {
  const counted: Counted[][] = items.map(() => [])
  for (const useOf of uses) {
    const round = items.flatMap((item, at) => {
      const use = counted[at]!.every(({ within }) => within) ? useOf(item) : undefined
      return use ? [{ use, at }] : []
    })
    if (round.length === 0) continue
    const results = await countUses(
      db,
      round.map(({ use }) => use),
    )
    round.forEach(({ at }, place) => counted[at]!.push(results[place]!))
  }
  return counted
}

/** Tells whether one more use would be within its limit. It counts nothing and makes no row. */
export async function lookAtUse(db: Db, { key, limit }: Use): Promise<Counted> {
  const { rows } = await sql<{ count: number; secondsLeft: number }>`
    select count, ceil(extract(epoch from until - clock_timestamp()))::int as "secondsLeft"
    from limits where key = ${key} and until > clock_timestamp()`.execute(db)
  const { count = 0, secondsLeft = limit.seconds } = rows[0] ?? {}
  return {
    within: count < limit.count,
    remaining: Math.max(0, limit.count - count),
    resetSeconds: Math.max(1, secondsLeft),
    limit,
  }
}

/** The pause after an overrun: the limit's own span, doubled with each further overrun. */
async function pause(db: Db, key: string, { seconds }: Limit): Promise<number> {
  const { rows } = await sql<{ secondsLeft: number }>`
    update limits set overruns = overruns + 1,
      until = clock_timestamp() + make_interval(secs => ${seconds}::int * 2 ^ least(overruns, ${MOST_DOUBLINGS}::int))
    where key = ${key}
    returning ceil(extract(epoch from until - clock_timestamp()))::int as "secondsLeft"`.execute(db)
  return rows[0]?.secondsLeft ?? seconds
}

/** Takes back the counts of a try that turned out right. It locks the keys in their order. */
export async function giveBack(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await sql`
    with held as materialized (
      select key from limits where key = any(${keys}::text[]) order by array_position(${keys}::text[], key) for update)
    update limits l set count = l.count - 1 from held where l.key = held.key and l.count > 0`.execute(db)
}

/** Refuses `rate_limited` when a use is beyond its limit, with the longest of their pauses. */
export function refuseBeyond(counted: readonly Counted[], detail: string): void {
  const beyond = counted.filter(({ within }) => !within).sort((a, b) => b.resetSeconds - a.resetSeconds)[0]
  if (beyond) throw refusalBeyond(beyond, detail)
}

export const refusalBeyond = ({ resetSeconds, limit }: Counted, detail: string): Refusal =>
  new Refusal('rate_limited', detail, { retryAfterSeconds: resetSeconds, limitCount: limit.count })

/** The network of an address. An IPv6 subscriber has 2^64 addresses, so the first half of the address is the network. */
export function networkOf(forwarded: string): string {
  const address = ipOf(forwarded)
  if (!address?.includes(':')) return address ?? NO_ADDRESS
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/**
 * The /48 of an IPv6 network, or undefined for IPv4. A subscriber often has a whole /56 or /48, and therefore many networks. Subscribers
 * can share a /48, so its limit is counted beside the network's and allows more.
 */
export const siteOf = (network: string): string | undefined =>
  network.endsWith('::/64') ? `${network.split(':').slice(0, 3).join(':')}::/48` : undefined

/** Deletes counts that have ended, and overruns after a day. */
export async function sweepLimits(db: Db): Promise<void> {
  const kept = sql`case when overruns > 0 then ${OVERRUNS_FORGOTTEN}::interval else interval '1 minute' end`
  await sweepRows(db, 'limits', sql`until < now() - ${kept}`)
}
