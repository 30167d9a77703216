import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { formatMoney } from '../kit/money.ts'
import { findRun, type RunRow } from '../payouts/run-views.ts'

/** The operators get at most one mail about a run that waits in this time. */
const PAUSE = '24 hours'

interface RunMail {
  to: string
  runId: string
}

/**
 * Enqueues one mail to each operator about the newest run of the schedule that waits, when no mail was sent since it was proposed. The
 * row lock lets one instance decide at a time.
 */
export async function tellRun(db: Db, jobs: Jobs, operators: readonly string[]): Promise<void> {
  if (operators.length === 0) return
  await inTransaction(db, async (tx) => {
    await sql`insert into operator_mails (kind, sent_at) values ('payout_run', '-infinity') on conflict do nothing`.execute(tx) // oxfmt-ignore
    const { rows } = await sql<{ runId: string }>`
      with last as (
        select sent_at from operator_mails where kind = 'payout_run' and sent_at < now() - ${PAUSE}::interval for update),
      waiting as (
        select r.id from payout_runs r, last where r.state = 'proposed' and r.period is not null and r.created_at > last.sent_at
        order by r.created_at desc limit 1),
      told as (
        update operator_mails set sent_at = now() where kind = 'payout_run' and exists (select from waiting) returning 1)
      select id as "runId" from waiting where exists (select from told)`.execute(tx)
    const runId = rows[0]?.runId
    if (runId === undefined) return
    await jobs.add(tx, 'run_mail', operators.map((to) => ({ data: { to, runId } satisfies RunMail }))) // oxfmt-ignore
  })
}

/** Tells the operators that a run waits for their approval, at most once a day. */
export async function runRunMails(
  jobs: Jobs,
  { db, mailer, operators, appUrl }: { db: Db; mailer: Mailer; operators: readonly string[]; appUrl: string },
): Promise<void> {
  await jobs.on<RunMail>('run_mail', { ...MAIL_TRIES, atOnce: 1 }, async ({ to, runId }, jobId) => {
    const run = await findRun(db, runId)
    // it was decided meanwhile, or the settings name other operators by now
    if (run.state !== 'proposed' || !operators.includes(to)) return
    const lines = runLines(run, appUrl)
    await mailer(jobId, { to, subject: lines.subject, ...renderMail(lines) })
  })
  await jobs.every(EVERY_TEN_MINUTES, 'tell_run', () => tellRun(db, jobs, operators))
}

function runLines({ id, sums }: RunRow, appUrl: string): Lines {
  const { host } = new URL(appUrl)
  const payouts = sums.reduce((total, { proposed }) => total + proposed, 0)
  const subject = `${payouts} ${payouts === 1 ? 'payout waits' : 'payouts wait'} for your approval at ${host}`
  return {
    subject,
    title: subject,
    text: 'Nothing is reserved or sent before you approve the run. You get such a mail at most once a day.',
    button: { label: 'Look at the run', url: `${appUrl}/operator/#/payouts/${id}` },
    facts: sums.map(({ currency, proposed, proposedMinor, blocked }) => [
      formatMoney(proposedMinor, currency),
      `to ${proposed} ${proposed === 1 ? 'seller' : 'sellers'}${blocked > 0 ? `; ${blocked} not paid now` : ''}`,
    ]),
  }
}
