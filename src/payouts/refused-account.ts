import { sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { PayoutState } from './moves.ts'

/**
 * The bank refused the payout `p` to the account of the details `d`, or sent it back, and neither the seller nor an operator has
 * confirmed the account since. A payout that was given up before a bank had it says nothing about the account. Nor does one that went to
 * another account before the details changed: the shown parts of two accounts can be the same.
 */
export const speaksAgainst = sql<boolean>`(
  p.seller_id = d.seller_id and p.currency = d.currency and p.destination_shown = d.shown and p.state in ('failed', 'reversed')
    and p.sent_at is not null and not p.pay_again and p.ended_at >= d.changed_at and p.created_at >= d.payable_from)`

/** The same of any payout to the account of the details `d`. */
export const isRefusedAccount = sql<boolean>`exists (select from payouts p where ${speaksAgainst})`

/** Saving the same details again confirms them: runs propose payouts to that account again, without another holding time. */
export async function confirmDetails(tx: Tx, sellerId: string, currency: string): Promise<Date | undefined> {
  const { rows } = await sql<{ changedAt: Date }>`
    update payout_details d set changed_at = clock_timestamp()
    where d.seller_id = ${sellerId} and d.currency = ${currency} and ${isRefusedAccount}
    returning changed_at as "changedAt"`.execute(tx)
  return rows[0]?.changedAt
}

export interface PaidAgain {
  sellerId: string
  currency: string
}

/**
 * The operator says that the account of a payout that failed or came back is right, so the next run pays there again. Undefined: it was
 * so before. Refuses `payout_not_found` and `payout_not_movable`.
 */
export async function payAgain(tx: Tx, payoutId: string): Promise<PaidAgain | undefined> {
  const { rows } = await sql<PaidAgain>`
    update payouts set pay_again = true where id = ${payoutId} and state in ('failed', 'reversed') and not pay_again
    returning seller_id as "sellerId", currency`.execute(tx)
  if (rows[0]) return rows[0]
  const { rows: found } = await sql<{ state: PayoutState }>`select state from payouts where id = ${payoutId}`.execute(
    tx,
  )
  if (!found[0]) throw new Refusal('payout_not_found', 'There is no such payout.')
  if (found[0].state === 'failed' || found[0].state === 'reversed') return undefined
  throw new Refusal('payout_not_movable', `The payout is ${found[0].state}.`)
}
