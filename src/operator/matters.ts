import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { formatMoney } from '../kit/money.ts'
import { accountOf, dashboardOf } from '../processors/connected.ts'
import { standingOf } from '../sellers/standing.ts'
import { failedReturns } from '../payments/review.ts'
import { leftMinor } from '../orders/returned-money.ts'
import { waitsForSomebody } from '../orders/states.ts'
import { listMissingRates } from '../taxes/profile.ts'
import { MATTERS, type Matter, TEST_PAYMENTS } from './matter.ts'
import { payoutMatters } from './payout-matters.ts'

/** At most this many of one kind, each with its own line. */
const MOST_SHOWN = 20
const MOST_RECEIPTS = 5
const REFUND_DAYS = 60
const RECEIPT_DAYS = 14
/** In so many days the operator has answered. */
const WITHDRAWAL_DAYS = 14
/** A processor that has taken money, and has sent nothing for this long, is silent. */
const SILENT_HOURS = 24
/** The reconciliation runs each night, and tries again for hours. */
const UNRECONCILED_HOURS = 50

/** Lists everything that needs a person. */
export async function mattersOf(db: Db, { isOnTrial }: { isOnTrial: boolean }): Promise<Matter[]> {
  const found = await Promise.all([
    reviews(db),
    disputes(db),
    failedRefunds(db),
    unreturnedPayments(db),
    unmatchedWithdrawals(db),
    reconciliation(db),
    silences(db),
    refusedPayments(db),
    missingTaxRates(db),
    payoutMatters(db),
    failedMails(db),
    refusedReceipts(db),
    waitingSellers(db),
  ])
  if (isOnTrial) found.push([TEST_PAYMENTS])
  return found.flat().toSorted((a, b) => MATTERS.indexOf(a.what) - MATTERS.indexOf(b.what))
}

async function reviews(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ id: string; paidMinor: number; paidIn: string; amountMinor: number; currency: string; at: Date }>`
    select o.id, h.left_minor::bigint as "paidMinor", h.currency as "paidIn", o.amount_minor as "amountMinor", o.currency, h.at
    from orders o, lateral (
      select c.currency, min(c.captured_at) as at, sum(greatest(${leftMinor}, 0)) as left_minor
      from captures c where c.order_id = o.id and c.purpose = 'mismatch' group by c.currency) h
    where o.state = 'needs_review' and h.left_minor > 0
      and ${waitsForSomebody}
    order by h.at limit ${MOST_SHOWN}`.execute(db) // oxfmt-ignore
  return rows.map(({ id, paidMinor, paidIn, amountMinor, currency, at }) => ({
    what: 'needs_review',
    says: `A buyer paid ${formatMoney(paidMinor, paidIn)} for an order of ${formatMoney(amountMinor, currency)}.`,
    advice: 'Accept it as the price, or send it back.',
    view: `/orders/${id}`,
    at,
  }))
}

async function disputes(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ orderId: string; processor: string; amountMinor: number; currency: string; respondBy: Date | null }>`
    select d.order_id as "orderId", d.processor, d.amount_minor as "amountMinor", c.currency, d.respond_by as "respondBy"
    from disputes d join captures c using (processor, processor_capture_id)
    where d.state = 'open' order by d.respond_by nulls last, d.order_id limit ${MOST_SHOWN}`.execute(db) // oxfmt-ignore
  return rows.map(({ orderId, processor, amountMinor, currency, respondBy }) => ({
    what: 'disputed',
    says: `A buyer’s bank asks for ${formatMoney(amountMinor, currency)} back${respondBy ? `, and waits for an answer until ${dayOf(respondBy)}` : ''}.`,
    advice: `${answerIn(processor)}${respondBy ? ' before that day' : ', which shows the last day for it'}; the seller has the evidence.`,
    view: `/orders/${orderId}`,
    at: respondBy,
  }))
}

const answerIn = (processor: string): string =>
  `${accountOf(processor) ? 'The seller answers' : 'Answer'} in the dashboard of ${dashboardOf(processor)}`

async function failedRefunds(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ orderId: string; amountMinor: number; currency: string; at: Date }>`
    select r.order_id as "orderId", r.amount_minor as "amountMinor", c.currency, r.created_at as at
    from refunds r join captures c using (processor, processor_capture_id)
    -- a payment that was not sent back, and then accepted, is a good sale
    where r.state = 'failed' and r.reason <> 'duplicate' and c.purpose = 'sale' and r.created_at > now() - make_interval(days => ${REFUND_DAYS})
      and not exists (select from refunds n where n.processor = r.processor
        and n.processor_capture_id = r.processor_capture_id and n.created_at > r.created_at and n.state <> 'failed')
    order by r.created_at limit ${MOST_SHOWN}`.execute(db)
  return rows.map(({ orderId, amountMinor, currency, at }) => ({
    what: 'refund_failed',
    says: `A refund of ${formatMoney(amountMinor, currency)} failed, and the buyer still waits for the money.`,
    advice: 'See why in the processor’s dashboard (often the balance is too low), then refund again.',
    view: `/orders/${orderId}`,
    at,
  }))
}

/** Money that pays for nothing. A refund of the order would return the price instead, from the seller's balance. */
async function unreturnedPayments(db: Db): Promise<Matter[]> {
  return (await failedReturns(db, MOST_SHOWN)).map(({ orderId, leftMinor, currency, at }) => ({
    what: 'refund_failed',
    says: `${formatMoney(leftMinor, currency)} that pays for no order has not gone back to the buyer, who still waits for it.`,
    advice:
      'Send it back on the page of the order. Do not refund the order: that would return the price instead. If sending it back fails again, see why in the processor’s dashboard (often the balance is too low).',
    view: `/orders/${orderId}`,
    at,
  }))
}

async function missingTaxRates(db: Db): Promise<Matter[]> {
  const missing = (await listMissingRates(db)).slice(0, MOST_SHOWN)
  return missing.map(({ country, category, sellers }) => ({
    what: 'tax_rate_missing',
    says: `The tax rate “${category}” of ${country} is missing, and ${sellers === 1 ? 'a seller needs' : `${sellers} sellers need`} it: buyers there cannot buy.`,
    advice: 'Load the rates: npm run operator -- tax-rates load FILE.csv, see docs/tax.md.',
    view: null,
    at: null,
  }))
}

async function unmatchedWithdrawals(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ name: string; email: string; contract: string; at: Date }>`
    select w.name, w.email, w.contract, w.received_at as at
    from withdrawals w join withdrawal_lookups l on l.withdrawal_id = w.id
    where l.found = 0 and w.received_at > now() - make_interval(days => ${WITHDRAWAL_DAYS})
    order by w.received_at desc limit ${MOST_SHOWN}`.execute(db)
  return rows.map(({ name, email, contract, at }) => ({
    what: 'withdrawal_unmatched',
    says: `${name} (${email}) withdraws from a contract, and no order matches: “${contract}”.`,
    advice: 'Ask for the number of the order, or for the address it was bought with. It is listed for 14 days.',
    view: null,
    at,
  }))
}

async function reconciliation(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ at: Date; differences: number; notAsked: number; isOld: boolean }>`
    select at, differences, not_asked as "notAsked", at < now() - make_interval(hours => ${UNRECONCILED_HOURS}) as "isOld"
    from proofs order by at desc limit 1`.execute(db)
  const last = rows[0]
  if (!last || (last.differences === 0 && last.notAsked === 0 && !last.isOld)) return []
  const { differences, notAsked, at } = last
  const says =
    differences > 0
      ? `The reconciliation found ${differences} ${differences === 1 ? 'difference' : 'differences'}.`
      : notAsked > 0
        ? 'The last reconciliation could not ask every processor.'
        : `The books were last reconciled on ${dayOf(at)}.`
  const advice = 'Run npm run reconcile on the machine: it names each difference.'
  return [{ what: 'reconciliation', says, advice, view: null, at }]
}

/**
 * Whether an event shows that the webhook tells of payments. What the backfill found has come without the webhook. From an ignored
 * event we learn of no payment: its type does not matter, or we cannot read its form.
 */
const IS_PROOF = sql`not e.backfilled and e.outcome <> 'ignored'`

async function silences(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ processor: string; at: Date | null }>`
    select c.processor,
      (select e.received_at from processor_events e where e.processor = c.processor and ${IS_PROOF} order by e.received_at desc limit 1) as at
    from (
      select distinct c.processor from sellers s
        -- "offset 0" makes PostgreSQL look up each seller's last orders in their index; otherwise a cached plan can read all orders
        cross join lateral (
          select id from orders where seller_id = s.id and paid_at > now() - make_interval(hours => ${SILENT_HOURS}) offset 0) o
        join captures c on c.order_id = o.id) c
    where not exists (select from processor_events e where e.processor = c.processor and ${IS_PROOF}
      and e.received_at > now() - make_interval(hours => ${SILENT_HOURS}))`.execute(db)
  // one address gets the notifications of all sellers' accounts, so one line is enough for them
  const silent = new Map(rows.map(({ processor, at }) => [dashboardOf(processor), at]))
  return Array.from(silent, ([processor, at]) => ({
    what: 'webhook_silence',
    says: `${processor} takes money and has sent no notification about a payment${at ? ` since ${dayOf(at)}` : ''}: the service learns of payments only by asking.`,
    advice: 'Run npm run doctor on the machine: it checks the address of the webhook, and says what to set.',
    view: null,
    at,
  }))
}

async function refusedPayments(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ processor: string; code: string; times: number; at: Date }>`
    select processor, code, sum(times)::bigint as times, max(last_at) as at from payment_refusals
    where last_at > now() - interval '7 days' group by 1, 2 order by 4 desc limit ${MOST_SHOWN}`.execute(db)
  return rows.map(({ processor, code, times, at }) => ({
    what: 'payments_refused',
    says: `${processor} refused to start ${times} ${times === 1 ? 'payment' : 'payments'} (${code}).`,
    advice:
      'npm run doctor on the machine names missing permissions and payment methods. Then correct the account in the processor’s dashboard.',
    view: null,
    at,
  }))
}

/** The queues of mails by their names: mail, notice, sale_mail, those of codes, and those of a buyer's change of address. */
const MAIL_QUEUES = '(^|_)(mail|notice)$|^(seller|mailbox)_code|^email_'

async function failedMails(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ count: number; at: Date | null }>`
    select count(*)::int as count, max(completed_on) as at from pgboss.job
    where state = 'failed' and name ~ ${MAIL_QUEUES}`.execute(db)
  const { count, at } = rows[0]!
  if (count === 0) return []
  const says = `${count} ${count === 1 ? 'mail was' : 'mails were'} given up in the last day.`
  const advice =
    'Run npm run doctor on the machine: it checks the mail server. The log of the service has the server’s answers.'
  return [{ what: 'mail_failed', says, advice, view: null, at }]
}

async function refusedReceipts(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ orderId: string; at: Date }>`
    select o.id as "orderId", o.receipt_bounced_at as at from orders o
    where o.receipt_bounced_at > now() - make_interval(days => ${RECEIPT_DAYS}) and ${waitsForSomebody}
    order by o.receipt_bounced_at desc limit ${MOST_RECEIPTS}`.execute(db)
  return rows.map(({ orderId, at }) => ({
    what: 'receipts_refused',
    says: 'The mail server refused a receipt.',
    advice: 'The seller can correct the address. If many are refused, run npm run doctor.',
    view: `/orders/${orderId}`,
    at,
  }))
}

async function waitingSellers(db: Db): Promise<Matter[]> {
  const { rows } = await sql<{ count: number; at: Date | null }>`
    select count(*)::int as count, min(s.approval_asked_at) as at from sellers s
    where s.approval_asked_at is not null and s.trusted_at is null and ${standingOf('s')} = 'awaiting_approval'`.execute(
    db,
  )
  const { count, at } = rows[0]!
  if (count === 0) return []
  const says = `${count} ${count === 1 ? 'seller waits' : 'sellers wait'} for your approval.`
  return [
    {
      what: 'sellers_waiting',
      says,
      advice: 'Look at each shop, then approve or suspend it.',
      view: '/sellers?standing=awaiting_approval',
      at,
    },
  ]
}

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)
