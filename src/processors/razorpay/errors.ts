import { ApiRefusal, type Meaning } from '../api-refusal.ts'
import { PaymentUnknown } from '../refusals.ts'
import { nameOnly } from '../refusal-details.ts'
import { type Failure, shapes } from './entities.ts'

/** Razorpay refused the request, and the same request would fail again. Other failures, such as limits and outages, can pass. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 409])
/** Razorpay refused the key, or the key lacks the permission. */
const KEY_REFUSED: ReadonlySet<number> = new Set([401, 403])
/** Another request with the same idempotency key is running. */
const CONFLICT = 409

/** Razorpay's answer that is no success: `{error: {code, description, reason, …}}` (https://razorpay.com/docs/errors). */
export function refusalOf(name: string, status: number, answer: unknown, requestId: string | undefined): ApiRefusal {
  const error: Failure['error'] = shapes.failure.Check(answer) ? answer.error : {}
  const description = typeof error.description === 'string' ? error.description.slice(0, 300) : ''
  const details = {
    status,
    // Razorpay's code is the same for nearly every bad request, so the reason comes first
    code: nameOnly(error.reason) ?? nameOnly(error.code),
    parameter: nameOnly(error.field),
    requestId: nameOnly(requestId),
  }
  const meaning = meaningOf(status, typeof error.code === 'string', description)
  return new ApiRefusal(`${name}: answered with ${status} ${description}`.trim(), { meaning, details })
}

function meaningOf(status: number, hasCode: boolean, description: string): Meaning {
  // without Razorpay's code the answer came from a proxy on the way, and says nothing about the key
  if (!hasCode) return 'failed'
  if (KEY_REFUSED.has(status)) return 'key_refused'
  if (!REFUSALS.has(status)) return 'failed'
  if (/different request with the same idempotency key/i.test(description)) return 'key_reused'
  return status === CONFLICT || /in progress|duplicate receipt/i.test(description) ? 'in_progress' : 'refused'
}

/** Whether Razorpay understood the request and made nothing of it now. Another request, running or ended, may have made it. */
export const isRefused = (error: unknown): error is ApiRefusal =>
  error instanceof ApiRefusal && error.meaning !== 'key_refused' && error.meaning !== 'failed'

/** Whether Razorpay refuses to show an Order because of its age: "Order older than 180 days, please use reports." */
export const isTooOld = (error: unknown): boolean => isRefused(error) && /\bolder than\b/i.test(error.message)

/** For `catch`: uses `instead` when Razorpay refuses. Other errors stay errors. */
export const unlessRefused =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (isRefused(error)) return instead
    throw error
  }

/** For the `catch` of a read by id: a refusal means that the id does not exist. */
export function unlessMissing(error: unknown): never {
  throw isRefused(error) ? new PaymentUnknown('Razorpay knows no such payment', { cause: error }) : error
}
