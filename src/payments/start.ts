import { Refusal } from '../kit/errors.ts'
import type { Attempt, Attempts } from './attempts.ts'
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
  { attempts, settle }: { attempts: Attempts; settle: Settle },
  processor: Processor,
  order: OrderToPay,
): Promise<StartedPayment | undefined> {
  try {
    const attempt = await attempts.liveFor({ orderId: order.id, processor: processor.name })
    if (!attempt) return undefined
    try {
      return await begin(attempts, processor, order, attempt)
    } catch (error) {
      if (!(error instanceof PaymentClosed && attempt.processorPaymentId)) throw error
      const payment = await processor.fetchPayment(attempt.processorPaymentId)
      await settle({ processor: processor.name, payment })
      const next = await attempts.liveFor({ orderId: order.id, processor: processor.name })
      return next && (await begin(attempts, processor, order, next))
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

async function begin(
  attempts: Attempts,
  processor: Processor,
  order: OrderToPay,
  attempt: Attempt,
): Promise<StartedPayment> {
  const { id: orderId, amountMinor, currency, statementDescriptor } = order
  const started = await processor.startPayment({
    key: attempt.id,
    processorPaymentId: attempt.processorPaymentId ?? undefined,
    orderId,
    amountMinor,
    currency,
    statementDescriptor,
  })
  if (attempt.processorPaymentId) return started
  const { processorPaymentId } = started
  const noted = await attempts.noteStarted({ id: attempt.id, processorPaymentId })
  if (noted === processorPaymentId) return started
  // what the processor has made besides is told to nobody, so nobody pays it
  return begin(attempts, processor, order, { ...attempt, processorPaymentId: noted })
}
