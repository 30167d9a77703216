import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { sellerAccount } from '../ledger/transfers.ts'

export interface Balance {
  currency: string
  balance: number
  sales: number
  fees: number
  refunds: number
  disputes: number
  payouts: number
  adjustments: number
}

/** A seller's balances by the ledger, one for each currency, with their parts. */
export async function balancesOf(db: Db, sellerId: string): Promise<Balance[]> {
  const account = sellerAccount(sellerId)
  const { rows } = await sql<Balance>`
    select currency, sum(minor)::bigint as balance,
      coalesce(sum(minor) filter (where kind = 'sale'), 0)::bigint as sales,
      coalesce(-sum(minor) filter (where kind in ('fee', 'fee_refund', 'fee_again')), 0)::bigint as fees,
      coalesce(-sum(minor) filter (where kind in ('refund', 'refund_failed')), 0)::bigint as refunds,
      coalesce(-sum(minor) filter (where kind in (
        'dispute_hold', 'dispute_release', 'dispute_return', 'held_loss', 'held_loss_back')), 0)::bigint as disputes,
      coalesce(-sum(minor) filter (where kind in ('payout', 'payout_failed', 'payout_reversed')), 0)::bigint as payouts,
      coalesce(sum(minor) filter (where kind = 'adjustment'), 0)::bigint as adjustments
    from (
      select kind, currency, sum(amount_minor) as minor from transfers where credit_account = ${account} group by 1, 2
      union all
      select kind, currency, -sum(amount_minor) from transfers where debit_account = ${account} group by 1, 2) as entries
    group by currency order by currency`.execute(db)
  return rows
}
