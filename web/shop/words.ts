import { ApiError } from '../ui/api.ts'
import { explain as explainSignIn, PICTURE_REFUSALS, type Said } from '../ui/auth-words.ts'

/** The service's refusals of a seller's requests, each with the way on. */
const REFUSALS: Record<string, Said> = {
  product_not_found: { title: 'There is no such product in your shop.', text: 'The link may be mistyped.' },
  order_not_found: { title: 'There is no such order in your shop.', text: 'The link may be mistyped.' },
  file_not_found: { title: 'This file has already been removed.' },
  discount_not_found: { title: 'This code has already been removed.' },
  changed_meanwhile: { title: 'This was changed in the meantime.', text: 'Your changes are not saved yet.' },
  storage_unavailable: {
    title: 'The file storage is not responding.',
    text: 'Nothing was lost. Please try again in a moment.',
  },
  file_too_large: { title: 'This file is larger than allowed here.' },
  checksum_mismatch: {
    title: 'The file was damaged on the way.',
    text: 'None of it was kept. Continue to send it again.',
  },
  file_withdrawn: {
    title: 'This file was recalled by the operator of this service.',
    text: 'It is refused under any name, and nothing of it was kept.',
  },
  ...PICTURE_REFUSALS,
  recent_sign_in_required: {
    title: 'Please sign in again first.',
    text: 'This is possible for ten minutes after signing in, so that a person who finds your screen open cannot do it.',
  },
  not_signed_in: {
    title: 'You have been signed out.',
    text: 'Sign in once more in another tab, then continue here.',
  },
  payout_not_found: { title: 'There is no such payout in your shop.', text: 'The link may be mistyped.' },
  payout_details_not_found: { title: 'These payout details are gone already.' },
  key_not_found: { title: 'This key has already been removed.' },
  key_ended: { title: 'This key has ended.', text: 'Make a new one.' },
  too_many_keys: { title: 'You have a hundred keys.', text: 'Revoke one that you do not use any more.' },
  webhook_endpoint_not_found: { title: 'This endpoint has already been removed.' },
  delivery_not_found: { title: 'This delivery is gone.', text: 'Deliveries are kept for 30 days.' },
  discount_code_taken: { title: 'You have a code like this already.' },
  too_many_discounts: {
    title: 'You have made 100,000 codes.',
    text: 'No more are possible. The operator of this service can help.',
  },
  too_many_products: { title: 'You have 10,000 products.', text: 'Change one that you do not sell any more.' },
  storage_full: {
    title: 'There is no room left for files.',
    text: 'The operator of this service has to make room.',
  },
}

/** The meaning of a refused or lost request, and the advice. */
export function explain(trouble: unknown): Said {
  const known = trouble instanceof ApiError ? REFUSALS[trouble.code] : undefined
  if (known) return known
  if (trouble instanceof ApiError && !trouble.unknown && isSaidByService(trouble)) return { title: trouble.message }
  return explainSignIn(trouble)
}

/** The service writes the refusals of the shop's own routes for people. */
const isSaidByService = ({ code, message, fields }: ApiError): boolean =>
  message !== code && !['validation_failed', 'rate_limited', 'not_found', 'unexpected'].includes(code) && !fields.length
