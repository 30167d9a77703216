import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { EVERY_MINUTE, type Jobs } from '../kit/jobs.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { formatMoney } from '../kit/money.ts'

export type Told = 'sent' | 'failed' | 'reversed'

/** Mails that are enqueued in one transaction. */
const MOST_AT_ONCE = 500

/** Notes that payouts were sent, failed or came back, in the transaction that moves them: sellers get a mail exactly when it commits. */
export async function tellSellers(tx: Tx, what: Told, payoutIds: readonly string[]): Promise<void> {
  if (payoutIds.length === 0) return
  await sql`
    insert into untold_payouts (payout_id, what) select id, ${what} from unnest(${payoutIds}::text[]) as p(id)
    on conflict do nothing`.execute(tx)
}

/** Enqueues the mails that are due, and removes their notes in the same transaction, so no crash loses a mail or doubles it. */
export async function enqueuePayoutMails(db: Db, jobs: Jobs): Promise<void> {
  for (let count = MOST_AT_ONCE; count === MOST_AT_ONCE;)
    count = await inTransaction(db, async (tx) => {
      const { rows } = await sql<{ payoutId: string; what: Told }>`
        delete from untold_payouts u using (
          select payout_id, what from untold_payouts order by payout_id, what limit ${MOST_AT_ONCE} for update skip locked) d
        where u.payout_id = d.payout_id and u.what = d.what
        returning u.payout_id as "payoutId", u.what`.execute(tx)
      if (rows.length > 0) await jobs.add(tx, 'payout_mail', rows.map((data) => ({ data }))) // oxfmt-ignore
      return rows.length
    })
}

export interface PayoutMails {
  db: Db
  mailer: Mailer
  appUrl: string
}

/** Mails to sellers about their payouts: sent, failed, come back. */
export async function runPayoutMails(jobs: Jobs, { db, mailer, appUrl }: PayoutMails): Promise<void> {
  await jobs.on<{ payoutId: string; what: Told }>(
    'payout_mail',
    { ...MAIL_TRIES, atOnce: mailer.atOnce },
    async ({ payoutId, what }, jobId) => {
      const payout = await findTold(db, payoutId)
      // a statement can tell at once that a payment was made and came back
      if (!payout || (what === 'sent' && payout.hasEnded)) return
      const lines = payoutLines(what, payout, appUrl)
      await mailer(jobId, { to: payout.email, subject: lines.subject, ...renderMail(lines) })
    },
  )
  await jobs.every(EVERY_MINUTE, 'payout_mails_due', () => enqueuePayoutMails(db, jobs))
}

interface ToldPayout {
  id: string
  email: string
  amountMinor: number
  currency: string
  destination: string
  reference: string
  failure: string | null
  wasSent: boolean
  hasEnded: boolean
}

async function findTold(db: Db, payoutId: string): Promise<ToldPayout | undefined> {
  const { rows } = await sql<ToldPayout>`
    select p.id, s.email, p.amount_minor as "amountMinor", p.currency, p.destination_shown as destination, p.reference, p.failure,
      p.sent_at is not null as "wasSent", p.ended_at is not null as "hasEnded"
    from payouts p join sellers s on s.id = p.seller_id where p.id = ${payoutId}`.execute(db)
  return rows[0]
}

function payoutLines(what: Told, payout: ToldPayout, appUrl: string): Lines {
  const { host } = new URL(appUrl)
  const amount = formatMoney(payout.amountMinor, payout.currency)
  const words = {
    sent: {
      subject: `${amount} is on its way to you`,
      text: `The operator of ${host} has given your payout to the bank. It usually arrives within three working days.`,
    },
    failed: payout.wasSent
      ? {
          subject: `Your payout of ${amount} failed`,
          text: 'The bank refused it, and the money is back in your balance. If you still use that account, check your payout details and save them again, corrected if they were wrong: until then no payout goes to it.',
        }
      : {
          subject: `Your payout of ${amount} was not sent`,
          text: `The operator of ${host} has not given it to the bank. The money is in your balance again, for your next payout.`,
        },
    reversed: {
      subject: `Your payout of ${amount} came back`,
      text: 'Your bank sent it back, and the money is in your balance again. If you still use that account, check your payout details and save them again, corrected if they were wrong: until then no payout goes to it.',
    },
  }[what]
  const facts: [string, string][] = [
    ['Amount', `${amount} (${payout.currency})`],
    ['To', payout.destination],
    ['Reference', payout.reference],
  ]
  if (what !== 'sent' && payout.failure)
    facts.push([payout.wasSent ? 'The bank said' : 'The operator said', payout.failure])
  return {
    ...words,
    title: words.subject,
    button: { label: 'See the payout', url: `${appUrl}/shop/#/money/payouts/${payout.id}` },
    facts,
    note: `If this is not your account, somebody else has changed your payout details: tell whoever runs ${host} at once.`,
  }
}
