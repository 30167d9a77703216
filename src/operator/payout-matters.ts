import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { formatMoney } from '../kit/money.ts'
import { PAYERS, type Payer } from '../payouts/accounts/payers.ts'
import { speaksAgainst } from '../payouts/refused-account.ts'
import type { Matter } from './matter.ts'

const MOST_SHOWN = 20
/** Banks confirm a transfer within some days. */
const ANSWER_DAYS = 7
/** The processor passes money on within minutes. */
const PASS_HOURS = 6

/** By then the seller has another account, or has left. */
const ENDED_DAYS = 30

/** The payouts that need a person. */
export const payoutMatters = async (db: Db): Promise<Matter[]> =>
  (
    await Promise.all([waitingRuns(db), failedPayouts(db), oddPasses(db), endedAccounts(db), unansweredPayouts(db)])
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

/** Money that should have gone on to a seller's account, or come back from there, and has not for hours. */
async function oddPasses(db: Db): Promise<Matter[]> {
  const { rows } = await sql<OddPass>`
    select a.order_id as "orderId", split_part(o.connected_account, '@', 2) as account,
      exists (select from connected_accounts c where c.seller_id = o.seller_id and c.ended_at is null
        and o.connected_account = c.processor || '@' || c.account) as "isPresent",
      a.due_minor as "dueMinor", a.passed_minor as "passedMinor", o.currency, a.created_at as at,
      (select t.failure from processor_transfers t where t.order_id = a.order_id and t.failure is not null
        order by t.made_at desc limit 1) as failure,
      not exists (select from processor_transfers t where t.order_id = a.order_id) as "isMissing",
      a.due_minor > a.passed_minor and a.due_minor - a.passed_minor > (
        select coalesce((select sum(amount_minor) from transfers
            where credit_account = 'seller:' || o.seller_id and currency = o.currency), 0)
          - coalesce((select sum(amount_minor) from transfers
            where debit_account = 'seller:' || o.seller_id and currency = o.currency), 0)) as "isPaid"
    from passes a join orders o on o.id = a.order_id
    where a.due_minor <> a.passed_minor and a.created_at < now() - make_interval(hours => ${PASS_HOURS})
      -- what a refund under way has taken back is the buyer's
      and (a.due_minor < a.passed_minor
        or not exists (select from refunds r where r.order_id = a.order_id and r.state = 'requested'))
    order by a.created_at limit ${MOST_SHOWN}`.execute(db)
  return rows.map(({ orderId, dueMinor, passedMinor, currency, at, failure, isMissing, ...pass }) => {
    const view = `/orders/${orderId}`
    if (passedMinor > dueMinor)
      return {
        what: 'not_taken_back',
        says: `${formatMoney(passedMinor - dueMinor, currency)} of a refund or a lost dispute could not be taken back from the seller’s account.`,
        advice:
          'The service tries again each day. The seller owes it: the next sales make up for it, or settle it with the seller.',
        view,
        at,
      }
    const why = failure ? `failed (${failure})` : isMissing ? 'was never made' : 'is not done'
    return {
      what: 'not_passed_on',
      says: `${formatMoney(dueMinor - passedMinor, currency)} of a sale has not reached the seller’s account: the transfer ${why}.`,
      advice: adviceFor(pass),
      view,
      at,
    }
  })
}

/** A transfer to an account that is not the order's is never booked, so the balance would keep the money and a run would pay it again. */
function adviceFor({ account, isPresent, isPaid }: Pick<OddPass, 'account' | 'isPresent' | 'isPaid'>): string {
  if (isPaid)
    return 'A run has paid it already, or it made up for what the seller owed: do not make the transfer. The seller would get the money twice.'
  if (!isPresent)
    return `Pay it with a run: it is in the seller’s balance. Do not transfer it to another account of the seller: the order belongs to ${account}, which has ended, so the service would not count that transfer, and a run would pay the money again.`
  return `Make the transfer to ${account} in the dashboard of Razorpay, under Route, or pay it with a run. Until then it is in the seller’s balance.`
}

interface OddPass {
  orderId: string
  /** The seller's account with which the order was made. */
  account: string
  /** It is the seller's account still. */
  isPresent: boolean
  dueMinor: number
  passedMinor: number
  currency: string
  at: Date
  failure: string | null
  isMissing: boolean
  /** The seller's balance does not have it any more. */
  isPaid: boolean
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
