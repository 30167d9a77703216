import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import type { FindStored, StoredPayment } from '../processors/processor.ts'

/** Finds the order and the captures of a processor's payment. */
export const storedPayments =
  (db: Db): FindStored =>
  async (processor, processorPaymentId) => {
    const { rows } = await sql<StoredPayment>`
      select p.order_id as "orderId", array_agg(c.processor_capture_id) as "captureIds"
      from payments p join captures c on c.order_id = p.order_id and c.payment_id = p.id
      where p.processor = ${processor} and p.processor_payment_id = ${processorPaymentId}
      group by p.order_id`.execute(db)
    return rows[0]
  }
