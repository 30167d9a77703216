import type { Db } from '../kit/database.ts'
import { owedOf } from '../payouts/owed.ts'
import type { Balance } from './schema.ts'

/** A seller's balances by the ledger, one for each currency, with their parts. */
export async function balancesOf(db: Db, sellerId: string, holdDays: number): Promise<Balance['items']> {
  const owed = await owedOf(db, sellerId, holdDays)
  return owed.map(({ byKind, ...item }) => {
    const sum = (...kinds: string[]) => kinds.reduce((total, kind) => total + (byKind[kind] ?? 0), 0)
    const lessOf = (...kinds: string[]) => 0 - sum(...kinds)
    return {
      ...item,
      sales: sum('sale'),
      fees: lessOf('fee', 'fee_refund', 'fee_again'),
      refunds: lessOf('refund', 'refund_failed'),
      disputes: lessOf('dispute_hold', 'dispute_release', 'dispute_return', 'held_loss', 'held_loss_back'),
      payouts: lessOf('payout', 'payout_failed', 'payout_reversed', 'passed_on', 'passed_back'),
      adjustments: sum('adjustment'),
    }
  })
}
