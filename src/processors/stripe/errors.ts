import { Stripe } from 'stripe'
import { ApiRefusal, type Meaning } from '../api-refusal.ts'
import { ChargedBack, PaymentUnknown } from '../refusals.ts'
import { nameOnly } from '../refusal-details.ts'

type LibraryError = InstanceType<typeof Stripe.errors.StripeError>

/** Stripe's answer that is no success (https://docs.stripe.com/error-codes). Its message can quote our request, so we write our own. */
export function refusalOf(error: LibraryError): ApiRefusal {
  const details = {
    status: error.statusCode ?? 0,
    code: nameOnly(error.code ?? error.rawType),
    parameter: nameOnly(error.param),
    requestId: nameOnly(error.requestId),
  }
  const message = `Stripe refused: ${error.type} ${error.code ?? ''} ${error.requestId ?? ''}`.trimEnd()
  // Stripe remembers a key and its answer for a day
  const isReplayed = error.headers?.['idempotent-replayed'] === 'true'
  return new ApiRefusal(message, { meaning: meaningOf(error), details, isReplayed, cause: error })
}

function meaningOf(error: LibraryError): Meaning {
  if (error.code === 'idempotency_key_in_use') return 'in_progress'
  if (error.rawType === 'idempotency_error') return 'key_reused'
  if (error instanceof Stripe.errors.StripeAuthenticationError) return 'key_refused'
  // Stripe checks the permissions of a restricted key before it does anything
  if (error instanceof Stripe.errors.StripePermissionError) return 'refused'
  return error instanceof Stripe.errors.StripeInvalidRequestError ? 'refused' : 'failed'
}

const hasCode = (error: unknown, ...codes: string[]): error is ApiRefusal =>
  error instanceof ApiRefusal && codes.includes(error.details.code ?? '')

/** The payment belongs to another account, or to the other mode. */
export const isMissing = (error: unknown): error is ApiRefusal => hasCode(error, 'resource_missing')

/** The payment cannot be canceled: it is paid, being paid or closed. */
export const isInAnotherState = (error: unknown): boolean => hasCode(error, 'payment_intent_unexpected_state')

/** A seller's account is gone, or gives us no access any more (https://docs.stripe.com/error-codes#account-invalid). */
export const isNoAccount = (error: unknown): error is ApiRefusal => hasCode(error, 'account_invalid')

/** For the `catch` of a read by id. */
export function unlessMissing(error: unknown): never {
  throw isMissing(error) || isNoAccount(error)
    ? new PaymentUnknown('Stripe knows no such payment', { cause: error })
    : error
}

/** For the `catch` of a refund. */
export function ifChargedBack(error: unknown): never {
  if (!hasCode(error, 'charge_disputed', 'refund_disputed_payment')) throw error
  throw new ChargedBack(error.message, { details: error.details, cause: error })
}
