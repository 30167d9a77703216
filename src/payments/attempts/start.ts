import { Refusal } from '../../kit/errors.ts'
import type { Attempt, Attempts } from './attempts.ts'
import { homeOf, partPassedOn } from './payee.ts'
import type { Processor, StartedPayment } from '../../processors/processor.ts'
import {
  AmountNotTaken,
  PaymentClosed,
  PaymentRefused,
  PaymentUnknown,
  ProcessorUnavailable,
} from '../../processors/refusals.ts'
import type { Settle } from '../settle/settle.ts'
import { type Telling, notifyRefusal } from './refused.ts'

export interface OrderToPay {
  id: string
  amountMinor: number
  currency: string
  statementDescriptor: string
  hasLimitedCode: boolean
  feeMinor: number
  /**
   * The seller's connected account, as a processor's name. The order is paid there, or at our account, and the processor passes it on.
   */
  connectedAccount: string | null
  /** The attempt that was begun with the order, if this request has made the order. */
  attempt?: { id: string; processor: string } | null
}

interface Starting extends Telling {
  attempts: Attempts
  settle: Settle
  processors: ReadonlyMap<string, Processor>
}

/** The client tries again after this pause when the processor did not answer. */
const RETRY_AFTER_SECONDS = 5

/**
 * Starts the order's payment at the processor, or finds the one under way. The attempt's row is written first, and its id is the
 * idempotency key: after a crash or a lost answer the processor returns the same payment. If the processor has closed the payment
 * meanwhile, it is settled, and a new one starts at the `preferred` processor, or where the connected account takes its payments. Undefined
 * when the order takes no payment any more, or when its payment is out of reach because its processor was removed from the settings or has
 * other keys now. Refuses `processor_unavailable`, `amount_not_payable`, `cannot_take_payment`. The last two are permanent, and the seller
 * gets a mail.
 */
export async function startPayment(
  parts: Starting,
  preferred: Processor,
  order: OrderToPay,
): Promise<(StartedPayment & { processor: string }) | undefined> {
  const { attempts, settle, processors } = parts
  const first = order.connectedAccount === null ? preferred : homeOf(processors, order.connectedAccount)
  if (!first) return undefined
  let chosen = first
  const live = async (begunBefore?: Attempt) => {
    const attempt = begunBefore ?? (await attempts.liveFor({ orderId: order.id, processor: first.name }))
    const processor = attempt && processors.get(attempt.processor)
    if (!processor) return undefined
    chosen = processor
    return { attempt, processor, begin: () => begin(attempts, processor, order, attempt) }
  }
  try {
    const begun = await live(order.attempt ? { ...order.attempt, processorPaymentId: null } : undefined)
    if (!begun) return undefined
    const { processor, attempt } = begun
    try {
      return { ...(await begun.begin()), processor: processor.name }
    } catch (error) {
      if (!(error instanceof PaymentClosed && attempt.processorPaymentId)) throw error
      const payment = await processor.fetchPayment(attempt.processorPaymentId)
      await settle({ processor: processor.name, payment })
      const next = await live()
      return next && { ...(await next.begin()), processor: next.processor.name }
    }
  } catch (error) {
    if (error instanceof AmountNotTaken || error instanceof PaymentRefused)
      await notifyRefusal(parts, { orderId: order.id, processor: chosen.name, error })
    if (error instanceof PaymentRefused)
      throw new Refusal(
        'cannot_take_payment',
        'The seller cannot take this payment now. Nothing was taken, and the seller is told; please come back later.',
        {
          cause: error,
        },
      )
    if (error instanceof AmountNotTaken)
      throw new Refusal(
        'amount_not_payable',
        'This price cannot be paid here: it is too small, too large, or not exact. Nothing was taken, and the seller is told.',
        {
          cause: error,
        },
      )
    // the payment belongs to another account or mode and may still be paid there, so no second payment starts
    if (error instanceof PaymentUnknown) return undefined
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
  const { id: orderId, amountMinor, currency, statementDescriptor, hasLimitedCode: withoutVouchers, feeMinor } = order
  const passOn = partPassedOn(processor, order)
  const started = await processor.startPayment({
    key: attempt.id,
    processorPaymentId: attempt.processorPaymentId ?? undefined,
    orderId,
    amountMinor,
    currency,
    statementDescriptor,
    withoutVouchers,
    feeMinor,
    passOn,
  })
  if (attempt.processorPaymentId) return started
  const { processorPaymentId } = started
  const noted = await attempts.noteStarted({ id: attempt.id, processorPaymentId })
  if (noted === processorPaymentId) return started
  // a faster request stored another payment: ours never reaches the buyer, so it cannot be paid
  return begin(attempts, processor, order, { ...attempt, processorPaymentId: noted })
}
