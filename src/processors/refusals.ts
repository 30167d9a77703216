import type { RefusalDetails } from './refusal-details.ts'

// An adapter throws one of these when its processor does not do what it was asked.

/** The processor did not carry out our request, and may do it later. */
export class ProcessorUnavailable extends Error {
  /** The processor answered and refused, so this is no outage. */
  readonly answered: boolean = false
  /** When it makes sense to ask again, if that is known. */
  readonly retryAfterSeconds: number | undefined
  /** The processor's answer, if there was one. */
  readonly details: RefusalDetails | undefined
  constructor(
    message: string,
    {
      retryAfterSeconds,
      details,
      ...more
    }: { retryAfterSeconds?: number; details?: RefusalDetails | undefined; cause?: unknown } = {},
  ) {
    super(message, more)
    this.retryAfterSeconds = retryAfterSeconds
    this.details = details
  }
}

/** HTTP's "Too Many Requests": the processor works, and carried nothing out. */
const TOO_MANY_REQUESTS = 429

/** The processor answered that it gets too many requests of ours now (https://docs.stripe.com/rate-limits). */
export const isBusy = (error: unknown): error is ProcessorUnavailable =>
  error instanceof ProcessorUnavailable && error.details?.status === TOO_MANY_REQUESTS

/** The processor answered and refused. */
export class ProcessorRefused extends ProcessorUnavailable {
  override readonly answered: boolean = true
}

/** The processor never takes this amount or currency. Another try does not help. */
export class AmountNotTaken extends ProcessorRefused {}

/** The processor will refuse this payment again, until somebody changes the account, the key or our settings. */
export class PaymentRefused extends ProcessorRefused {}

/** The processor does not know the payment: it belongs to another account, or to the other mode (test or live). */
export class PaymentUnknown extends ProcessorRefused {}

/** The payment that an earlier call started takes no money any more. */
export class PaymentClosed extends ProcessorRefused {}

/** The processor says that it never refunds this payment, because a bank has taken a part of it back. */
export class ChargedBack extends ProcessorRefused {}

/** The processor takes our fee some time after the payment, and has not taken it yet. */
export class FeePending extends ProcessorRefused {}

/** The processor accepted the refund, and the adapter could not read the payment afterwards. */
export class RefundTaken extends ProcessorUnavailable {}

/** For the `catch` of a read that follows an accepted refund. */
export function refundTaken(cause: unknown): never {
  throw new RefundTaken('the processor accepted the refund, and the payment could not be read afterwards', { cause })
}
