import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { newId } from '../kit/ids.ts'
import {
  AmountNotTaken,
  PaymentClosed,
  type Processor,
  ProcessorUnavailable,
  type StartedPayment,
} from './processor.ts'
import type { Settle } from './settle.ts'

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
 * the processor's idempotency key: asked again after a crash or a lost answer, the processor gives the same payment. One that
 * was closed there meanwhile is settled, and another takes its place. Undefined when the order takes no payment any more.
 * Refuses `processor_unavailable`, `amount_not_payable`.
 */
export async function startPayment(
  { db, settle }: { db: Db; settle: Settle },
  processor: Processor,
  order: OrderToPay,
): Promise<StartedPayment | undefined> {
  try {
    const attempt = await attemptFor(db, processor, order.id)
    if (!attempt) return undefined
    try {
      return await begin(db, processor, order, attempt)
    } catch (error) {
      if (!(error instanceof PaymentClosed && attempt.processorPaymentId)) throw error
      const payment = await processor.fetchPayment(attempt.processorPaymentId)
      await settle({ processor: processor.name, payment })
      const next = await attemptFor(db, processor, order.id)
      return next && (await begin(db, processor, order, next))
    }
  } catch (error) {
    if (error instanceof AmountNotTaken)
      throw new Refusal(
        'amount_not_payable',
        'This price cannot be paid here: it is too small, too large, or not exact.',
        {
          cause: error,
        },
      )
    if (!(error instanceof ProcessorUnavailable)) throw error
    throw new Refusal('processor_unavailable', 'Payments cannot be started right now. Nothing was charged.', {
      retryAfterSeconds: error.retryAfterSeconds ?? RETRY_AFTER_SECONDS,
      cause: error,
    })
  }
}

interface Attempt {
  id: string
  processorPaymentId: string | null
}

async function begin(db: Db, processor: Processor, order: OrderToPay, attempt: Attempt): Promise<StartedPayment> {
  const { id: orderId, amountMinor, currency, statementDescriptor } = order
  const started = await processor.startPayment({
    key: attempt.id,
    processorPaymentId: attempt.processorPaymentId ?? undefined,
    orderId,
    amountMinor,
    currency,
    statementDescriptor,
  })
  if (!attempt.processorPaymentId) await noteStarted(db, attempt.id, started.processorPaymentId)
  return started
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
async function attemptFor(db: Db, processor: Processor, orderId: string): Promise<Attempt | undefined> {
  const { rows } = await sql<Attempt>`
    insert into payments (id, order_id, processor)
    select ${newId('pay')}, id, ${processor.name} from orders
    where id = ${orderId} and state in ('pending', 'processing') for share
    on conflict (order_id) where state in ('starting', 'open', 'processing') do nothing
    returning id, processor_payment_id as "processorPaymentId"`.execute(db)
  if (rows[0]) return rows[0]
  const live = await sql<Attempt>`
    select id, processor_payment_id as "processorPaymentId" from payments
    where order_id = ${orderId} and processor = ${processor.name} and state in ('starting', 'open', 'processing')`.execute(
    db,
  )
  return live.rows[0]
}
