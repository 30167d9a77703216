import { AmountNotTaken, PaymentRefused, ProcessorRefused, ProcessorUnavailable } from './refusals.ts'
import type { RefusalDetails } from './refusal-details.ts'

/**
 * The meaning of an answer that is not a success:
 * - `refused`: the processor understood the request, and it had no effect.
 * - `key_refused`: the processor does not take our key. This says nothing about the payment or refund itself.
 * - `key_reused`: the idempotency key was first used for another request, which has ended.
 * - `in_progress`: the processor is working on the same request, or has done it. Its result is not known yet.
 * - `failed`: a limit or an outage, which can pass. The request may have had an effect.
 */
export type Meaning = 'refused' | 'key_refused' | 'key_reused' | 'in_progress' | 'failed'

/** The API of a processor answered and did not carry out our request. Each adapter says what the answer means, in its `errors.ts`. */
export class ApiRefusal extends ProcessorUnavailable {
  override readonly details: RefusalDetails
  override readonly answered: boolean
  readonly meaning: Meaning
  /** The processor repeats its answer to an earlier request with the same idempotency key. It says nothing about the processor now. */
  readonly isReplayed: boolean
  constructor(
    message: string,
    {
      meaning,
      details,
      isReplayed = false,
      cause,
    }: { meaning: Meaning; details: RefusalDetails; isReplayed?: boolean; cause?: unknown },
  ) {
    super(message, { details, cause })
    this.details = details
    this.isReplayed = isReplayed
    this.meaning = meaning
    this.answered = meaning !== 'in_progress' && meaning !== 'failed'
  }
}

export const isRefusal = (error: unknown, meaning: Meaning): error is ApiRefusal =>
  error instanceof ApiRefusal && error.meaning === meaning

/** The codes of Stripe (https://docs.stripe.com/error-codes) and Razorpay (https://razorpay.com/docs/errors/payments/list). */
const AMOUNT_CODES: ReadonlySet<string | undefined> = new Set([
  'amount_too_small',
  'amount_too_large',
  'amount_less_than_minimum_amount',
])

/**
 * The error for a start that the processor would refuse again: AmountNotTaken or PaymentRefused. A processor's minimum and maximum differ
 * by currency, account and payment method, and some of these refusals have no code of their own: they only name the parameter.
 */
export function refusedStart(cause: ApiRefusal): AmountNotTaken | PaymentRefused {
  const { details, message } = cause
  const isAmount = AMOUNT_CODES.has(details.code) || details.parameter === 'amount'
  return new (isAmount ? AmountNotTaken : PaymentRefused)(message, { details, cause })
}

/**
 * The processor refused the details that a seller gave for a connected account. `reason` is in the processor's words, for the seller alone.
 */
export class DetailsRefused extends ProcessorRefused {
  readonly reason: string
  constructor(reason: string, more: { details?: RefusalDetails | undefined; cause?: unknown }) {
    super('the processor refused the details of an account', more)
    this.reason = reason
  }
}
