import { sql } from 'kysely'
import type { Tx } from '../../kit/database.ts'
import { giveUsesBack } from '../../orders/discounts/uses.ts'
import { leftMinor } from '../../orders/returned-money.ts'

/**
 * Each of these orders that waits for the operator's decision and has no money left gives back its use of a code, whoever sent
 * the money back or took it. An order of which a part is left keeps its use, because the operator can still decide. The caller has locked
 * the orders and written their refunds and disputes.
 */
export const endUsesWithoutMoney = (tx: Tx, orderIds: readonly string[]): Promise<void> =>
  giveUsesBack(
    tx,
    orderIds,
    sql`(orders.state = 'needs_review'
      and not exists (select from captures c where c.order_id = orders.id and ${leftMinor} > 0))`,
  )
