import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { HAS_FAILED_FOR_DAYS } from './queue.ts'
import { PAUSE_AFTER_HOURS } from './schedule.ts'

/** The seller hears of an endpoint that fails after these times. The last mail says that it is paused. */
const WARN_AFTER_HOURS = [1, 24, PAUSE_AFTER_HOURS] as const
/** An endpoint gets at most these mails before it is paused. */
const WARNINGS = WARN_AFTER_HOURS.length - 1
/** The mail about an endpoint whose receiver answered 410 is the only one, and counts as if all others had been sent. */
const TOLD_OF_GONE = WARN_AFTER_HOURS.length + 1
const AT_ONCE = 500

interface Told {
  endpointId: string
  /** How many mails the seller has got with this one. */
  level: number
  since: string
}

/**
 * Has endpoints tried once more that have only failed for days, because a failed try pauses them then, and the schedule leaves up to a day
 * between two tries. Enqueues the mails about those that fail, are paused or gone: each mail once, in the transaction that counts it. While
 * an endpoint is paused its events are recorded, and wait. The endpoints of a seller who is locked out have no tries, and so no failures.
 */
export async function watchEndpoints(db: Db, jobs: Jobs): Promise<void> {
  // the time of a lock-out does not count
  await sql`
    update webhook_endpoints e set failing_since = now(), mails_sent = 0 from sellers s
    where s.id = e.seller_id and s.disabled_at is not null and e.failing_since is not null and e.paused is null`.execute(
    db,
  )
  await tryOnceMore(db)
  for (let found = AT_ONCE; found === AT_ONCE;)
    found = await inTransaction(db, async (tx) => {
      const { rows } = await sql<Told>`
        with due as (
          select id, level from webhook_endpoints e, lateral (
            select case when e.paused = 'gone' then ${TOLD_OF_GONE}::int
              -- its next try decides
              when e.paused is null and exists (
                select from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting') then least(h.level, ${WARNINGS}::int)
              else h.level end as level
            from (
              select count(*)::int as level from unnest(${[...WARN_AFTER_HOURS]}::int[]) as hours
              where e.failing_since <= now() - make_interval(hours => hours)) h) l
          where removed_at is null and level > mails_sent
            and (paused = 'gone' or (paused is null and failing_since is not null)
              -- not one that the operator has paused
              or (paused = 'failing' and paused_at >= failing_since + make_interval(hours => ${PAUSE_AFTER_HOURS}::int)))
            and exists (select from sellers s where s.id = e.seller_id and s.disabled_at is null)
          limit ${AT_ONCE} for no key update of e skip locked)
        update webhook_endpoints e set mails_sent = due.level,
          paused = case when due.level > ${WARNINGS}::int then coalesce(e.paused, 'failing') else e.paused end,
          paused_at = case when due.level > ${WARNINGS}::int then coalesce(e.paused_at, now()) else e.paused_at end
        from due where e.id = due.id
        returning e.id as "endpointId", due.level, coalesce(e.failing_since, e.paused_at) as since`.execute(tx)
      await jobs.add(tx, 'webhook_mail', rows.map((data) => ({ data }))) // oxfmt-ignore
      return rows.length
    })
}

/** Makes a delivery due at each endpoint that has only failed for days. One that the receiver has asked to leave alone waits all the same. */
async function tryOnceMore(db: Db): Promise<void> {
  await sql`
    update webhook_deliveries d set due_at = now()
    from webhook_endpoints e join sellers s on s.id = e.seller_id and s.disabled_at is null cross join lateral (
      select event_id from webhook_deliveries w where w.endpoint_id = e.id and w.state = 'waiting' order by w.due_at limit 1) first
    where e.removed_at is null and e.paused is null and ${HAS_FAILED_FOR_DAYS}
      and d.endpoint_id = e.id and d.event_id = first.event_id and d.state = 'waiting' and d.due_at > now()`.execute(db)
}

/** Sends the mails about endpoints to their sellers. */
export async function sendEndpointMails(
  jobs: Jobs,
  { db, mailer, appUrl }: { db: Db; mailer: Mailer; appUrl: string },
): Promise<void> {
  await jobs.on<Told>('webhook_mail', { ...MAIL_TRIES, atOnce: mailer.atOnce }, async (told, jobId) => {
    const { rows } = await sql<{ url: string; email: string; isOver: boolean }>`
      select e.url, s.email, e.removed_at is not null or s.disabled_at is not null
        or (e.failing_since is null and e.paused is null) as "isOver"
      from webhook_endpoints e join sellers s on s.id = e.seller_id where e.id = ${told.endpointId}`.execute(db)
    // the receiver is back, the seller has removed the endpoint, or the operator has locked the seller out
    if (!rows[0] || rows[0].isOver) return
    const { email, url } = rows[0]
    const lines = linesOf(told, url, appUrl)
    await mailer(jobId, { to: email, subject: lines.subject, ...renderMail(lines) })
  })
}

function linesOf({ endpointId, level, since }: Told, url: string, appUrl: string): Lines {
  const { host } = new URL(url)
  const words =
    level === TOLD_OF_GONE
      ? {
          subject: `Your endpoint at ${host} is paused: it answered 410 Gone`,
          text: 'The receiver says that it wants nothing more. We send nothing, and keep what happens for 30 days. Remove the endpoint if this is meant, or resume it when the receiver is back: then everything since is sent.',
        }
      : level === WARN_AFTER_HOURS.length
        ? {
            subject: `Your endpoint at ${host} is paused: it has failed for three days`,
            text: 'No delivery has arrived for 72 hours, so we have stopped trying. We keep what happens for 30 days. Repair the receiver and resume the endpoint: then everything since is sent.',
          }
        : {
            subject: `Your endpoint at ${host} has failed for ${level === 1 ? 'an hour' : 'a day'}`,
            text: 'No delivery has arrived since then. We go on trying, and nothing is lost. After 72 hours we pause the endpoint. The list of its deliveries shows what the receiver answers.',
          }
  return {
    ...words,
    title: words.subject,
    button: { label: 'See the deliveries', url: `${appUrl}/shop/#/developers/endpoints/${endpointId}` },
    facts: [
      ['Endpoint', url],
      ['Since', `${new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ],
  }
}
