import { sql } from 'kysely'
import type { Tx } from '../../kit/database.ts'
import { giveUsesBack } from '../../orders/discounts/uses.ts'

/** The part of the capture `c` that has not gone back, is not on its way back, and was not taken by a bank. */
export const leftMinor = sql<number>`(c.amount_minor
  - (select coalesce(sum(r.amount_minor), 0) from refunds r where r.order_id = c.order_id and r.processor = c.processor
      and r.processor_capture_id = c.processor_capture_id and r.state in ('requested', 'succeeded'))
  - (select coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0) from disputes d where d.order_id = c.order_id
      and d.processor = c.processor and d.processor_capture_id = c.processor_capture_id and d.state = 'lost'))::bigint`

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
