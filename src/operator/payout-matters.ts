import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { formatMoney } from '../kit/money.ts'
import { PAYERS, type Payer } from '../payouts/accounts/payers.ts'
import { speaksAgainst } from '../payouts/refused-account.ts'
import type { Matter } from './matter.ts'
import { notPassedOn, notTakenBack } from './pass-matters.ts'

const MOST_SHOWN = 20
/** Payouts are soon in a file at the bank, and their money is reserved until then. */
const SENDING_DAYS = 7
/** Banks confirm a transfer within some days. */
const ANSWER_DAYS = 7

/** By then the seller has another account, or has left. */
const ENDED_DAYS = 30

/** The payouts that need a person. */
export const payoutMatters = async (db: Db): Promise<Matter[]> =>
  (
    await Promise.all([
      waitingRuns(db),
      failedPayouts(db),
      notTakenBack(db),
      notPassedOn(db),
      endedAccounts(db),
      unsentPayouts(db),
      unansweredPayouts(db),
    ])
  ).flat()

async function waitingRuns(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ id: string; payouts: number; at: Date }>`
    select r.id, r.created_at as at,
      (select count(*)::int from payout_run_lines l where l.run_id = r.id and l.blocked is null) as payouts
    from payout_runs r where r.state = 'proposed' order by r.created_at desc limit ${MOST_SHOWN}`.execute(db)
  return rows.map(({ id, payouts, at }) => ({
    what: 'payout_run',
    says: `A run of ${payouts} ${payouts === 1 ? 'payout' : 'payouts'} waits for your approval.`,
    advice: 'Look at who gets how much, then approve or cancel it.',
    view: `/payouts/${id}`,
    at,
  }))
}

async function failedPayouts(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ id: string; name: string; amountMinor: number; currency: string; isBack: boolean; at: Date }>`
    select p.id, s.name, p.amount_minor as "amountMinor", p.currency, p.state = 'reversed' as "isBack", p.ended_at as at
    from payouts p join sellers s on s.id = p.seller_id
    join payout_details d on ${speaksAgainst}
    order by p.ended_at limit ${MOST_SHOWN}`.execute(db) // oxfmt-ignore
  return rows.map(({ id, name, amountMinor, currency, isBack, at }) => ({
    what: 'payout_failed',
    says: `A payout of ${formatMoney(amountMinor, currency)} to ${name} ${isBack ? 'came back' : 'failed'}.`,
    advice: 'The seller has a mail and saves the account again. If the account is right, say so on the payout.',
    view: `/payouts/${id}`,
    at,
  }))
}

/** Sellers whose account at the processor has ended, and who have no other one: they do not sell. */
async function endedAccounts(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ sellerId: string; name: string; processor: Payer; account: string; why: string | null; at: Date }>`
    select s.id as "sellerId", s.name, c.processor, c.account, c.ended_why as why, c.ended_at as at
    from connected_accounts c join sellers s on s.id = c.seller_id and s.awaits_account
    where c.ended_at > now() - make_interval(days => ${ENDED_DAYS}) and c.account is not null
      and not exists (select from connected_accounts o
        where o.seller_id = c.seller_id and o.processor = c.processor and o.account is not null and (o.ended_at is null or o.ended_at > c.ended_at))
    order by c.ended_at desc limit ${MOST_SHOWN}`.execute(db) // oxfmt-ignore
  return rows.map(({ sellerId, name, processor, account, why, at }) => ({
    what: 'account_ended',
    says: `${PAYERS[processor]} gives no access to the account ${account} of ${name} any more${why ? ` (${why})` : ''}.`,
    advice:
      'The seller has a mail, and can connect an account again on the Money page. If many sellers are affected, check the keys in the settings.',
    view: `/sellers/${sellerId}`,
    at,
  }))
}

async function unsentPayouts(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ count: number; at: Date | null }>`
    select count(*)::int as count, min(created_at) as at from payouts
    where state in ('approved', 'sent') and state = 'approved' and created_at < now() - make_interval(days => ${SENDING_DAYS})`.execute(
    db,
  )
  const { count, at } = rows[0]!
  if (count === 0) return []
  return [
    {
      what: 'payouts_unsent',
      says: `${count} ${count === 1 ? 'payout was' : 'payouts were'} approved more than ${SENDING_DAYS} days ago and ${count === 1 ? 'is' : 'are'} not marked as sent.`,
      advice:
        'Give the file of the run to your bank and mark the run as sent, or choose “Do not pay it” on a payout that is in no file.',
      view: '/payouts?status=approved',
      at,
    },
  ]
}

async function unansweredPayouts(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ count: number; at: Date | null }>`
    select count(*)::int as count, min(sent_at) as at from payouts
    where state in ('approved', 'sent') and state = 'sent' and sent_at < now() - make_interval(days => ${ANSWER_DAYS})`.execute(
    db,
  )
  const { count, at } = rows[0]!
  if (count === 0) return []
  return [
    {
      what: 'payouts_unanswered',
      says: `${count} ${count === 1 ? 'payout was' : 'payouts were'} sent more than ${ANSWER_DAYS} days ago, and no bank has confirmed ${count === 1 ? 'it' : 'them'}.`,
      advice: 'Upload the bank’s statement, or mark each payout as paid or failed.',
      view: '/payouts?status=sent',
      at,
    },
  ]
}
