import { STATUS_CODES } from 'node:http'

/** The body of every answer that is not a success (RFC 9457). */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: string
  /** Only with `validation_failed` and `card_number_refused`. */
  fields?: FieldProblem[]
  requestId: string
}

/** Every error code with its status and title (RFC 9457). */
const PROBLEMS = {
  validation_failed: [400, 'The request is not valid'],
  malformed_body: [400, 'The body is not valid JSON'],
  bad_request: [400, 'The request is not valid'],
  card_number_refused: [400, 'Card numbers are not accepted here'],
  rail_not_offered: [400, 'This payment method is not offered here'],
  password_too_common: [400, 'The password is too easy to guess'],
  invalid_signature: [400, 'The signature does not match'],
  key_and_session: [400, 'The request has both an API key and a session'],
  not_signed_in: [401, 'You are not signed in'],
  session_conflict: [401, 'The browser sent two sessions'],
  invalid_key: [401, 'The API key is not valid'],
  key_expired: [401, 'The API key has expired'],
  key_revoked: [401, 'The API key was revoked'],
  token_required: [401, 'The token is missing or wrong'],
  invalid_code: [401, 'The code is wrong'],
  cookie_missing: [401, 'The cookie of the code is missing'],
  invalid_credentials: [401, 'The mailbox or the password is wrong'],
  payment_declined: [402, 'The payment was declined'],
  download_link_invalid: [403, 'The link is not valid'],
  download_link_expired: [403, 'The link has expired'],
  download_not_available: [403, 'The files of this order are not available'],
  file_withdrawn: [403, 'The file was recalled'],
  origin_not_allowed: [403, 'This origin is not allowed'],
  local_only: [403, 'This answers only on the machine itself'],
  approval_awaited: [403, 'The shop is waiting for approval'],
  seller_suspended: [403, 'The shop is suspended'],
  recent_sign_in_required: [403, 'Please sign in again first'],
  insufficient_scope: [403, 'The API key may not do this'],
  key_not_accepted: [403, 'API keys are not accepted here'],
  key_bound_to_products: [403, 'The API key is bound to products'],
  key_too_weak: [403, 'The API key has fewer rights than the other key'],
  wrong_password: [403, 'The current password is wrong'],
  not_found: [404, 'There is nothing here'],
  product_not_found: [404, 'The product was not found'],
  file_not_found: [404, 'The file was not found'],
  order_not_found: [404, 'The order was not found'],
  payment_not_found: [404, 'The payment was not found'],
  code_not_found: [404, 'This browser is not waiting for a code'],
  seller_not_found: [404, 'The seller was not found'],
  session_not_found: [404, 'The session was not found'],
  discount_not_found: [404, 'The discount was not found'],
  confirmation_not_found: [404, 'The proposal was not found'],
  key_not_found: [404, 'The API key was not found'],
  identity_not_found: [404, 'The linked identity was not found'],
  idp_not_configured: [404, 'No identity provider is configured'],
  site_not_found: [404, 'The site was not found'],
  upload_not_found: [404, 'The upload was not found'],
  webhook_endpoint_not_found: [404, 'The endpoint was not found'],
  delivery_not_found: [404, 'The delivery was not found'],
  event_not_found: [404, 'The event was not found'],
  payout_not_found: [404, 'The payout was not found'],
  run_not_found: [404, 'The run was not found'],
  invoice_not_found: [404, 'The invoice was not found'],
  method_not_allowed: [405, 'The method is not allowed here'],
  payout_details_not_found: [404, 'There are no payout details'],
  other_account: [409, 'Another account is signed in'],
  statement_already_read: [409, 'The statement was read before'],
  account_not_needed: [409, 'No account at a processor is needed'],
  account_by_details: [409, 'The account is made from your details'],
  account_by_link: [409, 'The account is made at the processor'],
  shop_not_open: [409, 'The shop is not open'],
  product_has_no_files: [409, 'The product has no files'],
  discount_code_taken: [409, 'The code is in use already'],
  too_many_products: [409, 'There are too many products'],
  too_many_discounts: [409, 'There are too many discount codes'],
  too_many_sites: [409, 'There are too many sites'],
  too_many_confirmations: [409, 'Too many proposals wait'],
  too_many_corrections: [409, 'The invoice was corrected too often'],
  too_many_keys: [409, 'There are too many API keys'],
  key_ended: [409, 'The API key has ended'],
  too_many_endpoints: [409, 'There are too many endpoints'],
  email_taken: [409, 'The mailbox belongs to another account'],
  idempotency_key_reused: [409, 'The idempotency key was used for another request'],
  payment_already_captured: [409, 'The payment is already captured'],
  payment_not_captured: [409, 'The payment is not captured'],
  payment_in_progress: [409, 'The bank is working on the payment'],
  payment_closed: [409, 'The payment can no longer be made'],
  order_not_paid: [409, 'The order is not paid'],
  order_not_in_review: [409, 'The order is not waiting for a decision'],
  order_not_acceptable: [409, 'The payment cannot be accepted'],
  order_not_refundable: [409, 'The order cannot be refunded'],
  refund_too_large: [409, 'The refund is larger than the refundable amount'],
  run_line_not_found: [404, 'The run would not pay this seller'],
  run_changed: [409, 'The run has changed'],
  run_not_proposed: [409, 'The run is not waiting for a decision'],
  run_not_approved: [409, 'The run is not approved'],
  run_not_exported: [409, 'The run is not exported'],
  file_made_before: [409, 'The bank file was made before'],
  nothing_to_pay_out: [409, 'There is nothing to pay out'],
  nothing_to_export: [409, 'There is nothing to export'],
  payout_not_movable: [409, 'The payout cannot change to this state'],
  upload_offset_differs: [409, 'The upload is at another offset'],
  upload_finished: [409, 'The upload is finished'],
  confirmation_over: [410, 'The proposal was decided or has ended'],
  email_change_over: [410, 'The change of address has ended'],
  invoice_details_over: [410, 'Details can no longer be added'],
  upload_expired: [410, 'The upload has expired'],
  length_required: [411, 'The length is missing'],
  tus_version_unsupported: [412, 'The version of tus is not supported'],
  file_too_large: [413, 'The file is too large'],
  quota_exceeded: [413, 'There is no room left for this seller'],
  checksum_mismatch: [422, 'The file differs from what was sent'],
  upload_in_progress: [423, 'Another request is writing this upload'],
  currency_not_offered: [422, 'The product has no price in this currency'],
  consent_required: [422, 'Consent is missing'],
  country_required: [422, 'The buyer’s country is missing'],
  country_unconfirmed: [422, 'The buyer’s country is in doubt'],
  tax_rate_missing: [409, 'A tax rate is missing'],
  discount_not_valid: [422, 'The code is not valid'],
  url_not_allowed: [422, 'This address is not allowed'],
  amount_too_small: [422, 'The amount is too small'],
  image_not_readable: [422, 'The picture cannot be read'],
  site_not_valid: [422, 'This is not a site'],
  link_not_valid: [422, 'This is not a link'],
  success_url_not_allowed: [422, 'The address is not one of the seller’s sites'],
  cancel_url_not_allowed: [422, 'The address is not one of the seller’s sites'],
  amount_not_payable: [422, 'This price cannot be paid here'],
  cannot_take_payment: [422, 'The seller cannot take this payment now'],
  currency_not_sold: [422, 'Nothing can be sold in this currency'],
  kind_not_for_currency: [422, 'Payouts in this currency cannot go to this kind of account'],
  country_unknown: [422, 'The country is not known'],
  tax_id_invalid: [422, 'The tax id is not valid'],
  tax_id_not_registered: [422, 'The VAT number is not registered'],
  iban_invalid: [422, 'The IBAN is not valid'],
  bic_invalid: [422, 'The BIC is not valid'],
  upi_invalid: [422, 'The UPI id is not valid'],
  ifsc_invalid: [422, 'The IFSC is not valid'],
  statement_not_readable: [422, 'The statement cannot be read'],
  account_details_refused: [422, 'The processor does not take these details'],
  account_number_invalid: [422, 'The account number is not valid'],
  precondition_failed: [412, 'The file is not the requested one'],
  changed_meanwhile: [412, 'It was changed in the meantime'],
  body_too_large: [413, 'The body is too large'],
  image_too_large: [413, 'The picture is too large'],
  uri_too_long: [414, 'The address is too long'],
  unsupported_media_type: [415, 'The content type is not supported'],
  range_not_satisfiable: [416, 'The range is not satisfiable'],
  misdirected_request: [421, 'The host name does not belong to this service'],
  headers_too_large: [431, 'The headers are too large'],
  rate_limited: [429, 'Too many requests'],
  internal_error: [500, 'Something went wrong on our side'],
  sign_in_busy: [503, 'Too many people are signing in'],
  images_busy: [503, 'Too many pictures are being processed'],
  invoices_busy: [503, 'Too many invoices are being drawn'],
  statements_busy: [503, 'Too many statements are being made'],
  tax_id_check_unavailable: [503, 'The VAT number cannot be checked right now'],
  idp_unavailable: [503, 'The identity provider does not answer'],
  account_unavailable: [503, 'The account cannot be opened right now'],
  processor_unavailable: [503, 'The payment cannot be started right now'],
  payment_unknown: [503, 'The payment is not known yet'],
  secret_missing: [503, 'The service’s earlier secret is missing'],
  storage_unavailable: [503, 'The files cannot be reached right now'],
  database_unavailable: [503, 'The service is busy, please try again'],
  shutting_down: [503, 'The service is restarting, please try again'],
  storage_full: [507, 'There is no room left'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof PROBLEMS
export interface FieldProblem {
  path: string
  message: string
}

/** An expected "no", with a code that stays the same from version to version. */
export class Refusal extends Error {
  readonly code: ProblemCode
  /** With `validation_failed`, and with `card_number_refused` when the number is in the body or in a header. */
  readonly fields: FieldProblem[] | undefined
  readonly retryAfterSeconds: number | undefined
  /** The limit that was reached. */
  readonly limitCount: number | undefined

  constructor(
    code: ProblemCode,
    detail: string,
    more: { fields?: FieldProblem[]; retryAfterSeconds?: number; limitCount?: number; cause?: unknown } = {},
  ) {
    super(detail, { cause: more.cause })
    this.code = code
    this.fields = more.fields
    this.retryAfterSeconds = more.retryAfterSeconds
    this.limitCount = more.limitCount
  }
}

/** The refusal of one field that the schema alone cannot check. */
export const notValid = (path: string, message: string, detail = 'The request is not valid.'): Refusal =>
  new Refusal('validation_failed', detail, { fields: [{ path, message }] })

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[]
export const isProblemCode = (text: string): text is ProblemCode => Object.hasOwn(PROBLEMS, text)

export const statusOf = (code: ProblemCode): number => PROBLEMS[code][0]

/** The body of an answer that is not a success: application/problem+json. */
export function problemOf(refusal: Refusal, requestId: string): Problem {
  const [status, title] = PROBLEMS[refusal.code]
  return {
    type: 'about:blank',
    title,
    status,
    detail: refusal.message,
    code: refusal.code,
    ...(refusal.fields && { fields: refusal.fields }),
    requestId,
  }
}

/** Our codes for the refusals of the HTTP library, by status. */
const BY_STATUS: Record<number, ProblemCode> = {
  // the file server refuses a folder with 403, but clients need not know that it is a folder
  403: 'not_found',
  404: 'not_found',
  405: 'method_not_allowed',
  412: 'precondition_failed',
  413: 'body_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  421: 'misdirected_request',
  429: 'rate_limited',
  431: 'headers_too_large',
}

export function refusalForStatus(status: number): Refusal {
  const code = BY_STATUS[status] ?? (status < 500 ? 'bad_request' : 'internal_error')
  return new Refusal(code, `${STATUS_CODES[BY_STATUS[status] ? statusOf(code) : status] ?? 'Refused'}.`)
}
