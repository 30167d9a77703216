import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import { type Lines, renderMail, unlinked } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { standingOf } from '../sellers/standing.ts'

/** The operators get at most one mail about waiting sellers in this time. */
const PAUSE = '24 hours'
/** A mail without a new seller repeats the sellers who still wait, but no sooner than this. */
const REMINDER = '7 days'
/** A sign-up may have begun before the last mail was written, and have ended after it. */
const OVERLAP = '1 hour'
const MOST_NAMED = 20

interface Waiting {
  name: string
  email: string
  since: Date
}

interface OperatorMail {
  to: string
  waiting: number
}

/**
 * Enqueues one mail to each operator about the sellers who wait for approval: when one of them is new since the last mail, or a week
 * later. The row lock lets one instance decide at a time.
 */
export async function tellWaiting(db: Db, jobs: Jobs, operators: readonly string[]): Promise<void> {
  if (operators.length === 0) return
  await inTransaction(db, async (tx) => {
    await sql`insert into operator_mails (kind, sent_at) values ('waiting', '-infinity') on conflict do nothing`.execute(
      tx,
    )
    const { rows } = await sql<{ waiting: number }>`
      with last as (
        select sent_at from operator_mails where kind = 'waiting' and sent_at < now() - ${PAUSE}::interval for update),
      waiting as (
        select count(*)::int as waiting, max(s.approval_asked_at) as newest from sellers s
        where s.approval_asked_at is not null and s.trusted_at is null and ${standingOf('s')} = 'awaiting_approval'),
      told as (
        update operator_mails m set sent_at = now() from last, waiting w
        where m.kind = 'waiting' and w.waiting > 0
          and (w.newest > last.sent_at - ${OVERLAP}::interval or last.sent_at < now() - ${REMINDER}::interval)
        returning 1)
      select w.waiting from waiting w where exists (select from told)`.execute(tx)
    const waiting = rows[0]?.waiting
    if (waiting === undefined) return
    await jobs.add(
      tx,
      'operator_mail',
      operators.map((to) => ({ data: { to, waiting } satisfies OperatorMail })),
    )
  })
}

/** Tells the operators who waits, at most once a day. */
export async function runWaitingMails(
  jobs: Jobs,
  { db, mailer, operators, appUrl }: { db: Db; mailer: Mailer; operators: readonly string[]; appUrl: string },
): Promise<void> {
  await jobs.on<OperatorMail>('operator_mail', { ...MAIL_TRIES, atOnce: 1 }, async ({ to }, jobId) => {
    const { rows } = await sql<Waiting>`
      select s.name, s.email, s.approval_asked_at as since from sellers s
      where s.approval_asked_at is not null and s.trusted_at is null and ${standingOf('s')} = 'awaiting_approval'
      order by s.approval_asked_at desc limit ${MOST_NAMED + 1}`.execute(db)
    // they were approved meanwhile, or the settings name other operators by now
    if (rows.length === 0 || !operators.includes(to)) return
    const lines = waitingLines(rows, appUrl)
    await mailer(jobId, { to, subject: lines.subject, ...renderMail(lines) })
  })
  await jobs.every(EVERY_TEN_MINUTES, 'tell_waiting', () => tellWaiting(db, jobs, operators))
}

/** Names and addresses are strangers' words, so no mail client makes links of them. */
function waitingLines(rows: readonly Waiting[], appUrl: string): Lines {
  const { host } = new URL(appUrl)
  const count = rows.length > MOST_NAMED ? `More than ${MOST_NAMED}` : String(rows.length)
  const subject = `${count} new ${rows.length === 1 ? 'seller waits' : 'sellers wait'} for your approval at ${host}`
  return {
    subject,
    title: subject,
    text: 'They can prepare their products, and sell once you approve them. You get this mail at most once a day.',
    button: { label: 'See who waits', url: `${appUrl}/operator/#/sellers?standing=awaiting_approval` },
    facts: rows
      .slice(0, MOST_NAMED)
      .map(({ name, email, since }) => [since.toISOString().slice(0, 10), `${unlinked(name)}, ${unlinked(email)}`]),
  }
}
