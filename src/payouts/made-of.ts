import type { Db } from '../kit/database.ts'
import { itemOrders, itemSums } from './accounts/items.ts'
import * as entries from './entries.ts'
import type { PayoutSums, StatedPayout } from './statement/statement.ts'

// The parts of a payout: entries of the ledger, or the items that the processor lists for a payout of its own.

type Payout = Pick<StatedPayout, 'id' | 'by' | 'amountMinor' | 'createdAt'>

export const sumsOf = (db: Db, payout: Payout): Promise<PayoutSums> =>
  payout.by === 'manual' ? entries.sumsOf(db, payout.id) : itemSums(db, payout)

export const ordersOf = (
  db: Db,
  { id, by }: Pick<Payout, 'id' | 'by'>,
  range: { after?: string | undefined; limit: number },
): Promise<entries.OrderOfPayout[]> => (by === 'manual' ? entries.ordersOf(db, id, range) : itemOrders(db, id, range))
