import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { hasLimitedCode, renewHolds } from './discounts/uses.ts'
import { type CreatedOrder, taxOfOrder } from './new-order.ts'

interface PayableOrder extends CreatedOrder {
  productId: string
  email: string
}

/** An order that was made before, as its creation returns it. The buyer is there to pay it, so it keeps its use of the code. */
export async function orderToPay(db: Db, orderId: string): Promise<PayableOrder | undefined> {
  const { rows } = await sql<PayableOrder>`
    select id, product_id as "productId", email, amount_minor as "amountMinor", discount_minor as "discountMinor", currency,
      statement_descriptor as "statementDescriptor", state, ${hasLimitedCode} as "hasLimitedCode",
      fee_minor as "feeMinor", connected_account as "connectedAccount", ${taxOfOrder(sql`o`)} as tax
    from orders o where id = ${orderId}`.execute(db)
  if (rows[0] && (rows[0].discountMinor > 0 || rows[0].hasLimitedCode)) await renewHolds(db, [orderId])
  return rows[0]
}
