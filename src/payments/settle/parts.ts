import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { moveOrders, noteEvents } from '../../orders/move.ts'

/**
 * Gives files back to buyers who lost them through a lost dispute over a part of the price. Only versions before
 * 040_parts_charged_back.sql leave an order like that. Such a version can run beside the new schema during a rolling upgrade.
 */
export function repairParts(db: Db): Promise<void> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: string; disputed: boolean }>`
      select o.id, exists (select from disputes d join captures c using (processor, processor_capture_id)
          where d.order_id = o.id and d.state = 'open' and c.purpose = 'sale') as disputed
      from orders o
      where o.state = 'charged_back' and o.id in (select order_id from disputes where state = 'lost')
        and o.refunded_minor + (select coalesce(sum(coalesce(d.lost_minor, d.amount_minor)), 0)
          from disputes d join captures c using (processor, processor_capture_id)
          where d.order_id = o.id and d.state = 'lost' and c.purpose = 'sale') < o.amount_minor
      order by o.id for update of o`.execute(tx)
    await moveOrders(
      tx,
      rows.map(({ id, disputed }) => ({ orderId: id, move: disputed ? 'unlose_disputed' : 'unlose_part' })),
    )
    await noteEvents(
      tx,
      rows.map(({ id }) => ({ orderId: id, what: 'partially_charged_back' })),
    )
  })
}
