import { type RawBuilder, sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { newId } from '../kit/ids.ts'
import { payoutTransfer } from '../ledger/payout-transfers.ts'
import { post } from '../ledger/post.ts'
import { standingOf } from '../sellers/standing.ts'
import { owedTo } from './owed.ts'
import { isRefusedAccount } from './refused-account.ts'

/** Why a line of a run is not paid. */
export const BLOCKS = [
  'negative_balance',
  'below_minimum',
  'suspended',
  'awaiting_approval',
  'no_details',
  'details_changed',
  'account_refused',
  'left_out',
] as const
export type Block = (typeof BLOCKS)[number]

/** The settings that decide who gets how much. */
export interface PayoutRules {
  holdDays: number
  /** The least amount of a payout in minor units, by currency. */
  minimumMinor: Readonly<Record<string, number>>
}

/**
 * Each seller's payable amount now, with any block: rows of `seller_id, currency, payable, blocked`. The statement reads all of it in one
 * snapshot. `payable` is negative where more has gone out than is due.
 */
const duePayouts = (owed: RawBuilder<unknown>, { minimumMinor }: PayoutRules): RawBuilder<unknown> => sql`
  select o.seller_id, o.currency, o.payable, case
      when o.payable < 0 then 'negative_balance'
      when o.payable < greatest(coalesce(m.minor, 1), 1) then 'below_minimum'
      when s.disabled_at is not null then 'suspended'
      when ${standingOf('s')} <> 'active' then ${standingOf('s')}
      when d.seller_id is null then 'no_details'
      when ${isRefusedAccount} then 'account_refused'
      when d.payable_from > now() then 'details_changed' end as blocked
  from (${owed}) o
  join sellers s on s.id = o.seller_id
  left join payout_details d on d.seller_id = o.seller_id and d.currency = o.currency
  left join unnest(${Object.keys(minimumMinor)}::text[], ${Object.values(minimumMinor)}::bigint[]) as m(currency, minor)
    on m.currency = o.currency`

export interface NewRun {
  /** The operator's mailbox, "machine" or "schedule". */
  by: string
  /** The week or month of the schedule. A period has at most one run, and none if no seller would be paid. */
  period?: string
}

/**
 * Proposes to pay all sellers the money due now, in one statement. It reserves nothing. Undefined: there is nothing to propose, or
 * the period has its run. It reads the whole ledger, so `db` must be patient.
 */
export async function proposeRun(db: Db | Tx, rules: PayoutRules, { by, period }: NewRun): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with due as materialized (
      select * from (${duePayouts(owedTo('all', rules.holdDays), rules)}) as d where payable <> 0),
    run as (
      insert into payout_runs (id, period, cutoff_at, created_by)
      select ${newId('run')}, ${period ?? null}, now(), ${by}
      where exists (select from due where blocked is null or ${period === undefined})
      on conflict (period) do nothing
      returning id),
    lines as (
      insert into payout_run_lines (run_id, seller_id, currency, amount_minor, blocked)
      select r.id, d.seller_id, d.currency, d.payable, d.blocked from run r cross join due d)
    select id from run`.execute(db)
  return rows[0]?.id
}

export interface NewPayout {
  id: string
  sellerId: string
  currency: string
  amountMinor: number
}

/** Stands for the lines that a run would pay or has paid. It changes with each seller who is left out or taken in. */
export const selectionOf = (runId: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select encode(sha256(convert_to(coalesce(string_agg(l.seller_id || l.currency, ' ' order by l.seller_id, l.currency), ''), 'UTF8')), 'hex')
  from payout_run_lines l where l.run_id = ${runId} and l.blocked is null)`

/**
 * Approves a run. In one transaction it locks the sellers, counts again the money that can be paid now, makes the payouts and books them:
 * from then on the money is reserved. A seller gets at most the proposed sum, and nothing when something has come between. A second
 * approval gets `run_not_proposed`. Refuses `run_not_found`, and `run_changed` where the run would pay others by now than those of
 * `selection`.
 */
export const approveRun = (
  db: Db,
  rules: PayoutRules,
  { runId, by, selection }: { runId: string; by: string; selection?: string | undefined },
  noted: (tx: Tx, payouts: readonly NewPayout[]) => Promise<void>,
): Promise<NewPayout[]> =>
  inTransaction(db, async (tx) => {
    const { rows: approved } = await sql`
      update payout_runs set state = 'approved', approved_at = now(), approved_by = ${by}
      where id = ${runId} and state = 'proposed' returning 1`.execute(tx)
    if (approved.length === 0) await refuseRun(tx, runId)
    if (selection !== undefined) await refuseIfChanged(tx, runId, selection)
    // in one order everywhere, so that two approvals at once never deadlock
    const { rows: sellers } = await sql<{ id: string }>`
      select id from sellers where id in (
        select seller_id from payout_run_lines where run_id = ${runId} and blocked is null)
      order by id for no key update`.execute(tx)
    // a statement of its own, after the locks: it sees the entries that another run has just booked
    const payouts = await stillDue(tx, runId, rules, sellers.map(({ id }) => id)) // oxfmt-ignore
    await insertPayouts(tx, runId, rules, payouts)
    await post(tx, payouts.map(payoutTransfer))
    await noted(tx, payouts)
    return payouts
  })

/** The run is locked by now, so no seller is left out or taken in after this. */
async function refuseIfChanged(tx: Tx, runId: string, selection: string): Promise<void> {
  const { rows } = await sql<{ now: string }>`select ${selectionOf(sql`${runId}`)} as now`.execute(tx)
  if (rows[0]!.now === selection) return
  const detail = 'Sellers were left out of the run or taken in since you saw it. Look at it again first.'
  throw new Refusal('run_changed', detail)
}

/** Cancels a run that waits. Refuses `run_not_found` and `run_not_proposed`. */
export async function cancelRun(tx: Tx, { runId, by }: { runId: string; by: string }): Promise<void> {
  const { rows } = await sql`
    update payout_runs set state = 'cancelled', cancelled_at = now(), cancelled_by = ${by}
    where id = ${runId} and state = 'proposed' returning 1`.execute(tx)
  if (rows.length === 0) await refuseRun(tx, runId)
}

async function stillDue(tx: Tx, runId: string, rules: PayoutRules, sellerIds: string[]): Promise<NewPayout[]> {
  if (sellerIds.length === 0) return []
  const { rows } = await sql<Omit<NewPayout, 'id'>>`
    select l.seller_id as "sellerId", l.currency, least(l.amount_minor, d.payable)::bigint as "amountMinor"
    from payout_run_lines l
    join (${duePayouts(owedTo(sellerIds, rules.holdDays), rules)}) d on d.seller_id = l.seller_id and d.currency = l.currency
    where l.run_id = ${runId} and l.blocked is null and d.blocked is null
    order by l.seller_id, l.currency`.execute(tx)
  return rows.map((row) => ({ ...row, id: newId('po') }))
}

/** The bank repeats this with its answers. SEPA allows letters and digits without case, so it is the id without its sign. */
export const referenceOf = (payoutId: string): string => payoutId.replace('_', '').toUpperCase()

async function insertPayouts(tx: Tx, runId: string, rules: PayoutRules, payouts: readonly NewPayout[]): Promise<void> {
  if (payouts.length === 0) return
  const column = <K extends keyof NewPayout>(name: K) => payouts.map((payout) => payout[name])
  await sql`
    insert into payouts (id, run_id, seller_id, currency, amount_minor, destination, destination_kind, destination_shown,
      reference, cutoff_at, hold_days)
    select n.id, ${runId}, n.seller_id, n.currency, n.amount_minor, d.sealed, d.kind, d.shown, n.reference, now(), ${rules.holdDays}
    from unnest(${column('id')}::text[], ${column('sellerId')}::text[], ${column('currency')}::text[],
      ${column('amountMinor')}::bigint[], ${payouts.map(({ id }) => referenceOf(id))}::text[])
      as n(id, seller_id, currency, amount_minor, reference)
    join payout_details d on d.seller_id = n.seller_id and d.currency = n.currency`.execute(tx)
}

/** Refuses `run_not_found`, and `run_not_proposed` for a run that is decided. */
export async function refuseRun(tx: Tx, runId: string): Promise<never> {
  const { rows } = await sql<{ state: string }>`select state from payout_runs where id = ${runId}`.execute(tx)
  if (!rows[0]) throw new Refusal('run_not_found', 'There is no such run.')
  throw new Refusal('run_not_proposed', `The run is ${rows[0].state} already.`)
}
