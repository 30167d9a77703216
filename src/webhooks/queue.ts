import { sql } from 'kysely'
import type { EventType } from '../events/event-types.ts'
import type { Db, Tx } from '../kit/database.ts'
import { PAUSE_AFTER_HOURS } from './schedule.ts'
import type { SendError } from './send.ts'

// The deliveries that wait, in the database. One process at a time sends to an endpoint: it has leased it. So at most a few tries of an
// endpoint are under way, over all instances, and no other worker takes them. The lease of a killed process ends by itself.

/** Longer than a try. The process renews the lease while it begins tries. */
const LEASE_SECONDS = 45
/** Deliveries that are read at once. */
const PAGE = 64

export interface Leased {
  id: string
  isFailing: boolean
}

/** How many endpoints a process may work on at once. */
export interface Slots {
  /** Those that work and those that fail have slots of their own, so that receivers that are down never take the room of the others. */
  healthy: number
  failing: number
  /** For one seller, of each kind. A seller gets more only while half of the slots stay free for others. */
  ofSeller: number
}

/**
 * Leases endpoints that have something due, first those that have waited longest since their last turn. `working`: this process still
 * works on those, so they have slots already.
 */
export async function leaseEndpoints(
  db: Db,
  { sender, slots, working }: { sender: string; slots: Slots; working: readonly Leased[] },
): Promise<Leased[]> {
  const { healthy, failing, ofSeller } = slots
  const busyFailing = working.filter(({ isFailing }) => isFailing).length
  const room = { healthy: healthy - (working.length - busyFailing), failing: failing - busyFailing }
  const beyondShare = { healthy: room.healthy - Math.ceil(healthy / 2), failing: room.failing - Math.ceil(failing / 2) }
  if (room.healthy <= 0 && room.failing <= 0) return []
  const { rows } = await sql<Leased>`
    with working as (
      select e.id, e.seller_id, w.is_failing
      from unnest(${working.map(({ id }) => id)}::text[], ${working.map(({ isFailing }) => isFailing)}::boolean[]) as w(id, is_failing)
        join webhook_endpoints e on e.id = w.id),
    due as (
      select e.id, e.seller_id, e.failing_since is not null as is_failing, least(now(), greatest(d.due_at, e.leased_until, e.held_until)) as since
      from webhook_endpoints e join sellers s on s.id = e.seller_id and s.disabled_at is null cross join lateral (
        select due_at from webhook_deliveries
        where endpoint_id = e.id and state = 'waiting' and due_at <= now() order by due_at limit 1) d
      where removed_at is null and paused is null and held_until <= now() and (sender is null or leased_until <= now())
        and not exists (select from working w where w.id = e.id)),
    counted as (
      select id, is_failing, since, ${ofSeller}::int < row_number() over (partition by seller_id, is_failing order by since, id) + (
        select count(*) from working w where w.seller_id = due.seller_id and w.is_failing = due.is_failing) as is_beyond
      from due),
    placed as (
      select id, is_failing, is_beyond, row_number() over (partition by is_failing order by is_beyond, since, id) as place from counted),
    chosen as (
      select id from placed where place <= case
        when is_failing then case when is_beyond then ${beyondShare.failing}::int else ${room.failing}::int end
        else case when is_beyond then ${beyondShare.healthy}::int else ${room.healthy}::int end end),
    locked as (
      select e.id from webhook_endpoints e where e.id in (select id from chosen) and (e.sender is null or e.leased_until <= now())
      for no key update skip locked)
    update webhook_endpoints e set sender = ${sender}, leased_until = now() + make_interval(secs => ${LEASE_SECONDS}::int)
    from locked where e.id = locked.id
    returning e.id, e.failing_since is not null as "isFailing"`.execute(db)
  return rows
}

const BEGUN_AT_ONCE = 2000
/** The tries that the log of a delivery keeps: five schedules. Each can have 2 kB of an answer, and replays can make any number. */
export const KEPT_TRIES = 50

export interface Due {
  endpointId: string
  eventId: string
  type: EventType
  at: Date
  sequence: number | null
  data: unknown
  isTest: boolean
  tries: number
  step: number
}

/** Where the tries of an endpoint go, and what signs them. */
export interface Target {
  url: string
  secret: Buffer
  oldSecrets: Buffer[]
}

/** Renews the lease. Undefined: it is lost, or nothing may be sent to the endpoint now. */
export async function renewLease(
  db: Db,
  { endpointId, sender }: { endpointId: string; sender: string },
): Promise<Target | undefined> {
  const { rows } = await sql<Target>`
    update webhook_endpoints set leased_until = now() + make_interval(secs => ${LEASE_SECONDS}::int)
    where id = ${endpointId} and sender = ${sender} and leased_until > now()
      and removed_at is null and paused is null and held_until <= now()
      and exists (select from sellers s where s.id = seller_id and s.disabled_at is null)
    returning url, secret, array(
      select o.secret
      from unnest(array_prepend(old_secret, older_secrets), array_prepend(old_secret_until, older_secrets_until)) as o(secret, ends)
      where o.ends > now() and old_secret is not null) as "oldSecrets"`.execute(db)
  return rows[0]
}

/** Reads the deliveries due now, without those under way. */
export async function readDue(
  db: Db,
  { endpointId, underWay }: { endpointId: string; underWay: readonly string[] },
): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select d.endpoint_id as "endpointId", d.event_id as "eventId", e.type, e.at, e.sequence, e.data,
      e.test_endpoint_id is not null as "isTest", d.tries, d.step
    from (
      select * from webhook_deliveries
      where endpoint_id = ${endpointId} and state = 'waiting' and due_at <= now() and event_id <> all(${underWay}::text[])
      order by due_at limit ${PAGE}) d
    join events e on e.id = d.event_id
    order by d.due_at, e.at`.execute(db)
  return rows
}

/**
 * Ends the leases of this process, so that others need not wait for their end. From then on the endpoints wait for their next turn. The
 * missing sender ends the lease, and not the time, because the clock can be set back.
 */
export async function releaseEndpoints(db: Db, sender: string, endpointId: string | null = null): Promise<void> {
  await sql`
    update webhook_endpoints set sender = null, leased_until = now()
    where sender = ${sender} and id = coalesce(${endpointId}::text, id)`.execute(db)
}

/** Begins the schedule of each waiting delivery anew, and makes it due. In steps, so that no statement takes long. */
export async function beginAnew(db: Db | Tx, endpointId: string): Promise<void> {
  for (let after: string | null = ''; after !== null;) {
    const { rows }: { rows: { last: string | null }[] } = await sql<{ last: string | null }>`
      with chosen as materialized (
        select event_id from webhook_deliveries
        where endpoint_id = ${endpointId} and state = 'waiting' and event_id > ${after} and (step > 0 or due_at > now())
        order by event_id limit ${BEGUN_AT_ONCE}::int),
      begun as (
        update webhook_deliveries set step = 0, due_at = least(due_at, now())
        where endpoint_id = ${endpointId} and state = 'waiting' and event_id = any(array(select event_id from chosen)))
      select max(event_id) as last from chosen`.execute(db)
    after = rows[0]!.last
  }
}

/** Ends the pause that a receiver has asked for: its owner says by a replay or a test that it is back. */
export async function liftHold(db: Db, endpointId: string): Promise<void> {
  await sql`
    update webhook_endpoints set held_until = '-infinity' where id = ${endpointId} and held_until > now()`.execute(db)
}

export interface Outcome {
  endpointId: string
  /** Where the try went. */
  url: string
  eventId: string
  /** How many tries came before. */
  tries: number
  at: Date
  tookMs: number
  status?: number | undefined
  error?: SendError | undefined
  answer: string
  /** Undefined: there is no further try, because the receiver took it or because it was the last one. */
  waitSeconds: number | undefined
  /** The receiver asks us to leave it alone for this long. */
  holdSeconds: number
  /** The receiver wants nothing more, ever. */
  isGone: boolean
}

/** Of an endpoint `e`. */
export const HAS_FAILED_FOR_DAYS = sql<boolean>`coalesce(e.failing_since <= now() - make_interval(hours => ${PAUSE_AFTER_HOURS}::int), false)`

/**
 * Writes the results of tries: into the log, the deliveries and the health of their endpoints. A try that another process has meanwhile
 * made too changes nothing. An endpoint whose receiver has gone is paused, and one that has only failed for days. A try that failed at an
 * earlier address says nothing of the endpoint's health, and is made again at once.
 */
export async function recordOutcomes(db: Db, outcomes: readonly Outcome[]): Promise<void> {
  const column = <K extends keyof Outcome>(name: K) => outcomes.map((one) => one[name] ?? null)
  await sql`
    with o as materialized (
      select * from unnest(
        ${column('endpointId')}::text[], ${column('url')}::text[], ${column('eventId')}::text[], ${column('tries')}::int[], ${column('at')}::timestamptz[],
        ${column('tookMs')}::int[], ${column('status')}::int[], ${column('error')}::text[], ${column('answer')}::text[],
        ${column('waitSeconds')}::float8[], ${column('holdSeconds')}::float8[], ${column('isGone')}::boolean[])
        as o(endpoint_id, url, event_id, tries, at, took_ms, status, error, answer, wait_seconds, hold_seconds, is_gone)),
    moved as (
      update webhook_deliveries d set tries = d.tries + 1, step = case when o.error is null then 0 else d.step + 1 end,
        repeats = case when o.error is null then greatest(d.repeats - 1, 0) else d.repeats end,
        state = case
          when o.error is null and d.repeats = 0 then 'delivered'
          when o.error is not null and o.wait_seconds is null and o.url = e.url then 'failed'
          else 'waiting' end,
        due_at = case
          when o.error is null then case when d.repeats > 0 then now() end
          -- the schedule of an earlier address does not hold for the present one
          else now() + make_interval(secs => case when o.url = e.url then o.wait_seconds else 0 end) end,
        delivered_at = case when o.error is null then now() else d.delivered_at end
      from o join webhook_endpoints e on e.id = o.endpoint_id
      where d.endpoint_id = o.endpoint_id and d.event_id = o.event_id and d.tries = o.tries and d.state = 'waiting'
      returning d.endpoint_id, d.event_id, d.tries),
    logged as (
      insert into webhook_tries (endpoint_id, event_id, number, at, took_ms, status, error, answer)
      select o.endpoint_id, o.event_id, o.tries + 1, o.at, o.took_ms, o.status, o.error, o.answer
      from o join moved using (endpoint_id, event_id)
      on conflict do nothing),
    forgotten as (
      delete from webhook_tries t using moved m
      where m.tries > ${KEPT_TRIES}::int and t.endpoint_id = m.endpoint_id and t.event_id = m.event_id and t.number <= m.tries - ${KEPT_TRIES}::int),
    health as (
      select endpoint_id, url, bool_or(error is null) as has_taken, bool_or(is_gone) as is_gone,
        max(hold_seconds) as hold_seconds
      from o group by endpoint_id, url)
    update webhook_endpoints e set
      failing_since = case when not h.has_taken then coalesce(e.failing_since, now()) end,
      mails_sent = case when h.has_taken then 0 else e.mails_sent end,
      held_until = case when h.hold_seconds > 0 then now() + make_interval(secs => h.hold_seconds) else e.held_until end,
      paused = case when h.is_gone then 'gone' when not h.has_taken and ${HAS_FAILED_FOR_DAYS} then coalesce(e.paused, 'failing') else e.paused end,
      paused_at = case when h.is_gone or (not h.has_taken and ${HAS_FAILED_FOR_DAYS}) then coalesce(e.paused_at, now()) else e.paused_at end
    from health h
    where e.id = h.endpoint_id and e.url = h.url
      and (h.has_taken <> (e.failing_since is null) or h.is_gone or h.hold_seconds > 0 or (e.paused is null and ${HAS_FAILED_FOR_DAYS}))`.execute(
    db,
  )
}
