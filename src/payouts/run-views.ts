import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { isSuspended } from '../sellers/standing.ts'
import type { PayoutState } from './moves.ts'
import { speaksAgainst } from './refused-account.ts'
import { type Block, selectionOf } from './runs.ts'

export interface RunRow {
  id: string
  state: 'proposed' | 'approved' | 'cancelled'
  period: string | null
  cutoffAt: Date
  createdAt: Date
  createdBy: string
  approvedAt: Date | null
  approvedBy: string | null
  cancelledAt: Date | null
  cancelledBy: string | null
  /** By currency: the proposed sum, the payouts that the approval made, and how far these are. */
  sums: RunSum[]
  /** Stands for the lines that are paid: see `selectionOf`. */
  selection: string
}

export interface RunSum {
  currency: string
  proposed: number
  proposedMinor: number
  blocked: number
  payouts: number
  payoutsMinor: number
  byState: Partial<Record<PayoutState, number>>
}

const RUN = sql`
  r.id, r.state, r.period, r.cutoff_at as "cutoffAt", r.created_at as "createdAt", r.created_by as "createdBy",
  r.approved_at as "approvedAt", r.approved_by as "approvedBy", r.cancelled_at as "cancelledAt", r.cancelled_by as "cancelledBy",
  (select coalesce(jsonb_agg(jsonb_build_object('currency', c.currency, 'proposed', c.proposed, 'proposedMinor', c.proposed_minor,
      'blocked', c.blocked, 'payouts', coalesce(p.payouts, 0), 'payoutsMinor', coalesce(p.minor, 0),
      'byState', coalesce(p.by_state, '{}')) order by c.currency), '[]')
    from (
      select l.currency, count(*) filter (where l.blocked is null) as proposed, count(*) filter (where l.blocked is not null) as blocked,
        coalesce(sum(l.amount_minor) filter (where l.blocked is null), 0) as proposed_minor
      from payout_run_lines l where l.run_id = r.id group by 1) c
    left join (
      select s.currency, sum(s.payouts) as payouts, sum(s.minor) as minor, jsonb_object_agg(s.state, s.payouts) as by_state
      from (select currency, state, count(*) as payouts, sum(amount_minor) as minor from payouts where run_id = r.id group by 1, 2) s
      group by 1) p on p.currency = c.currency) as sums, ${selectionOf(sql`r.id`)} as selection`

/** Runs, the newest first. */
export async function listRuns(
  db: Db,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`
    select ${RUN} from payout_runs r
    where ${after ?? null}::text is null or (r.created_at, r.id) < ((select created_at from payout_runs where id = ${after ?? null}), ${after ?? null})
    order by r.created_at desc, r.id desc limit ${limit}`.execute(db)
  return rows
}

/** Refuses `run_not_found`. */
export async function findRun(db: Db, runId: string): Promise<RunRow> {
  const { rows } = await sql<RunRow>`select ${RUN} from payout_runs r where r.id = ${runId}`.execute(db)
  if (!rows[0]) throw new Refusal('run_not_found', 'There is no such run.')
  return rows[0]
}

export interface RunLine {
  /** The seller and the currency, which together name a line of a run. */
  id: string
  sellerId: string
  sellerName: string
  sellerEmail: string
  currency: string
  amountMinor: number
  blocked: Block | null
  /** Only of an amount below zero: the balance at the proposal. Where it is not below zero, the seller does not owe: sales are pending. */
  balanceMinor: number | null
  /** The seller's debts in other currencies at the proposal. A run counts each currency alone, so it pays this line all the same. */
  owes: { currency: string; amountMinor: number }[]
  /** Where the money goes, masked: as it was at the approval, and before it as the details are now. */
  destination: string | null
  payout: RunPayout | null
}

export interface RunPayout {
  id: string
  amountMinor: number
  state: PayoutState
  isExported: boolean
  /** It is approved, and the shop was suspended since. It is paid all the same. */
  isToSuspended: boolean
  failure: string | null
}

/** The most lines of a run that are shown at once. */
const MOST_LINES = 1000

/** The balance of the line `l` when the run was proposed. Its amount does not say it, because pending money is not in the amount. */
const balanceAtProposal = (runId: string): RawBuilder<unknown> => {
  const side = (column: RawBuilder<unknown>) => sql`
    select coalesce(sum(t.amount_minor), 0) from transfers t
    where ${column} = 'seller:' || l.seller_id and t.currency = l.currency
      and t.created_at <= (select r.cutoff_at from payout_runs r where r.id = ${runId})`
  return sql`((${side(sql`t.credit_account`)}) - (${side(sql`t.debit_account`)}))::bigint`
}

/**
 * The lines of a run, or those of one seller in it: those that are paid first, and of these first the sellers who owe in another
 * currency, each kind by its amount, the largest first. There can be more: `lineCount` has all of them.
 */
export async function linesOf(db: Db, runId: string, sellerId?: string): Promise<RunLine[]> {
  const ofSeller = sellerId === undefined ? sql`` : sql`and l.seller_id = ${sellerId}`
  const { rows } = await sql<RunLine>`
    with below as materialized (
      select l.seller_id, l.currency, ${balanceAtProposal(runId)} as balance from payout_run_lines l
      where l.run_id = ${runId} and l.amount_minor < 0 ${ofSeller}
        -- only these can be shown at another line
        and exists (select from payout_run_lines o where o.run_id = l.run_id and o.seller_id = l.seller_id and o.amount_minor > 0)),
    debts as (
      select seller_id, jsonb_agg(jsonb_build_object('currency', currency, 'amountMinor', -balance) order by currency) as owes
      from below where balance < 0 group by 1)
    select l.seller_id || ' ' || l.currency as id, l.seller_id as "sellerId", s.name as "sellerName", s.email as "sellerEmail",
      l.currency, l.amount_minor as "amountMinor", l.blocked,
      case when l.amount_minor < 0 then coalesce(
        (select b.balance from below b where b.seller_id = l.seller_id and b.currency = l.currency), ${balanceAtProposal(runId)}) end as "balanceMinor",
      coalesce(l.owes, '[]') as owes, coalesce(p.destination_shown, d.shown) as destination,
      case when p.id is not null then
        jsonb_build_object('id', p.id, 'amountMinor', p.amount_minor, 'state', p.state, 'isExported', p.file_id is not null,
          'isToSuspended', p.state = 'approved' and ${isSuspended}, 'failure', p.failure) end as payout
    from (
      select l.*, d.owes from payout_run_lines l left join debts d on d.seller_id = l.seller_id and l.amount_minor > 0
      where l.run_id = ${runId} ${ofSeller}
      order by l.blocked is not null, d.owes is null, l.amount_minor desc, l.seller_id, l.currency limit ${MOST_LINES}) l
    join sellers s on s.id = l.seller_id
    left join payouts p on p.run_id = l.run_id and p.seller_id = l.seller_id and p.currency = l.currency
    left join payout_details d on d.seller_id = l.seller_id and d.currency = l.currency
    order by l.blocked is not null, l.owes is null, l.amount_minor desc, l.seller_id, l.currency`.execute(db)
  return rows
}

/** How many lines a run has, of all currencies. */
export const lineCount = ({ sums }: RunRow): number =>
  sums.reduce((all, { proposed, blocked }) => all + proposed + blocked, 0)

export interface FoundPayout {
  id: string
  runId: string
  sellerId: string
  sellerName: string
  sellerEmail: string
  currency: string
  amountMinor: number
  state: PayoutState
  destination: string
  reference: string
  isExported: boolean
  createdAt: Date
  sentAt: Date | null
  paidAt: Date | null
  endedAt: Date | null
  failure: string | null
  /** It speaks against the account, so runs pay nothing there for now. */
  holdsBack: boolean
}

export interface PayoutSearch {
  state?: PayoutState | undefined
  sellerId?: string | undefined
  runId?: string | undefined
  /** A payout's id or its reference. */
  q?: string | undefined
}

/** Payouts, the newest first. */
export async function searchPayouts(
  db: Db,
  { state, sellerId, runId, q }: PayoutSearch,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<FoundPayout[]> {
  const conditions = [sql`true`]
  const typed = q?.trim()
  if (state) conditions.push(sql`p.state = ${state}`)
  if (sellerId) conditions.push(sql`p.seller_id = ${sellerId}`)
  if (runId) conditions.push(sql`p.run_id = ${runId}`)
  if (typed) conditions.push(sql`(p.id = ${typed} or p.reference = ${typed.toUpperCase()})`)
  if (after !== undefined)
    conditions.push(sql`(p.created_at, p.id) < ((select created_at from payouts where id = ${after}), ${after})`)
  const { rows } = await sql<FoundPayout>`
    select p.id, p.run_id as "runId", p.seller_id as "sellerId", s.name as "sellerName", s.email as "sellerEmail", p.currency,
      p.amount_minor as "amountMinor", p.state, p.destination_shown as destination, p.reference,
      p.file_id is not null as "isExported", p.created_at as "createdAt", p.sent_at as "sentAt", p.paid_at as "paidAt",
      p.ended_at as "endedAt", p.failure,
      exists (select from payout_details d where ${speaksAgainst}) as "holdsBack"
    from payouts p join sellers s on s.id = p.seller_id
    where ${sql.join(conditions, sql` and `)} order by p.created_at desc, p.id desc limit ${limit}`.execute(db)
  return rows
}
