import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import type { FindStored, StoredPayment } from '../processors/processor.ts'

/** Finds the order, the captures and the transfers of a processor's payment. */
export const storedPayments =
  (db: Db): FindStored =>
  async (processor, processorPaymentId) => {
    const { rows } = await sql<StoredPayment>`
      select p.order_id as "orderId", array_agg(c.processor_capture_id) as "captureIds",
        case when o.connected_account like p.processor || '@%' then split_part(o.connected_account, '@', 2) end as payee,
        array(select t.processor_transfer_id from processor_transfers t
          where t.order_id = o.id and t.processor = p.processor) as "transferIds"
      from payments p join orders o on o.id = p.order_id join captures c on c.order_id = p.order_id and c.payment_id = p.id
      where p.processor = ${processor} and p.processor_payment_id = ${processorPaymentId}
      group by p.id, o.id`.execute(db)
    return rows[0]
  }
