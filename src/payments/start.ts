import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { newId } from '../kit/ids.ts'
import { type Processor, ProcessorUnavailable, type StartedPayment } from './processor.ts'

export interface OrderToPay {
  id: string
  amountMinor: number
  currency: string
  statementDescriptor: string
}

/** When to try again after the processor could not be reached. */
const RETRY_AFTER_SECONDS = 5

/**
 * Starts the order's payment at the processor, or finds the one under way. The attempt's row is written first and its id is
 * the processor's idempotency key: asked again after a crash or a lost answer, the processor gives the same payment.
 * Undefined when the order takes no payment any more. Refuses `processor_unavailable`.
 */
export async function startPayment(
  db: Db,
  processor: Processor,
  order: OrderToPay,
): Promise<StartedPayment | undefined> {
  const key = await attemptFor(db, processor, order.id)
  if (!key) return undefined
  try {
    const { id: orderId, ...terms } = order
    const started = await processor.startPayment({ key, orderId, ...terms })
    await noteStarted(db, key, started.processorPaymentId)
    return started
  } catch (error) {
    if (!(error instanceof ProcessorUnavailable)) throw error
    throw new Refusal('processor_unavailable', 'Payments cannot be started right now. Nothing was charged.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    })
  }
}

/** The processor answered: from now on its notifications find the order. A repeat of the same answer changes nothing. */
export async function noteStarted(db: Db, paymentId: string, processorPaymentId: string): Promise<void> {
  await sql`
    update payments set processor_payment_id = ${processorPaymentId}, state = 'open'
    where id = ${paymentId} and state = 'starting'`.execute(db)
}

/**
 * The order's one live attempt at this processor, made if there is none. The order is locked while its state is read: a
 * settlement under way would otherwise end the old attempt first and let a paid order have a new one.
 */
async function attemptFor(db: Db, processor: Processor, orderId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    insert into payments (id, order_id, processor)
    select ${newId('pay')}, id, ${processor.name} from orders
    where id = ${orderId} and state in ('pending', 'processing') for share
    on conflict (order_id) where state in ('starting', 'open', 'processing') do nothing
    returning id`.execute(db)
  if (rows[0]) return rows[0].id
  const live = await sql<{ id: string }>`
    select id from payments
    where order_id = ${orderId} and processor = ${processor.name} and state in ('starting', 'open', 'processing')`.execute(
    db,
  )
  return live.rows[0]?.id
}
