import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { CANCELLED } from './accounts/mirror.ts'
import type { StatedPayout } from './statement/statement.ts'

/**
 * The payouts of this service, and those that a processor made from a seller's connected account. An earlier release stored
 * "The bank refused it" for a failure without a reason.
 */
const PAYOUTS = sql`(
  select id, seller_id, state, currency, amount_minor, destination_shown, reference, cutoff_at, created_at, sent_at, paid_at, ended_at,
    failure, false as is_cancelled, null as bank_reference, 'manual' as by
  from payouts
  union all
  select id, seller_id, state, currency, amount_minor,
    case when processor like 'razorpay@%' then 'Your bank account at Razorpay' else 'Your bank account at Stripe' end, processor_payout_id,
    created_at, created_at, created_at, paid_at, ended_at, nullif(failure, 'The bank refused it'), failure is not distinct from ${CANCELLED}, bank_reference,
    case when processor like 'razorpay@%' then 'razorpay-route' else 'stripe-connect' end
  from processor_payouts)`

const COLUMNS = sql`p.by, p.id, p.state, p.currency, p.amount_minor as "amountMinor", p.destination_shown as destination, p.reference,
  p.cutoff_at as "cutoffAt", p.created_at as "createdAt", p.sent_at as "sentAt", p.paid_at as "paidAt", p.ended_at as "endedAt", p.failure,
  p.is_cancelled as "isCancelled", p.bank_reference as "bankReference"`

export interface PayoutFilter {
  currency?: string | undefined
  state?: StatedPayout['state'] | undefined
}

/** A seller's payouts, newest first, from `after` on. */
export async function listPayouts(
  db: Db,
  sellerId: string,
  { currency, state }: PayoutFilter,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<StatedPayout[]> {
  const conditions: RawBuilder<unknown>[] = [sql`p.seller_id = ${sellerId}`]
  if (currency) conditions.push(sql`p.currency = ${currency}`)
  if (state) conditions.push(sql`p.state = ${state}`)
  // one approval makes many payouts at one moment, so the id decides among them
  if (after)
    conditions.push(sql`(p.created_at, p.id) < (select a.created_at, a.id from ${PAYOUTS} a where a.id = ${after})`)
  const { rows } = await sql<StatedPayout>`
    select ${COLUMNS} from ${PAYOUTS} p where ${sql.join(conditions, sql` and `)}
    order by p.created_at desc, p.id desc limit ${limit}`.execute(db)
  return rows
}

/** Refuses `payout_not_found`, also for another seller's. */
export async function findPayout(db: Db, sellerId: string, payoutId: string): Promise<StatedPayout> {
  const { rows } = await sql<StatedPayout>`
    select ${COLUMNS} from ${PAYOUTS} p where p.id = ${payoutId} and p.seller_id = ${sellerId}`.execute(db)
  const [payout] = rows
  if (!payout) throw new Refusal('payout_not_found', 'There is no such payout in your shop.')
  return payout
}
