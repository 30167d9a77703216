import { ApiError } from './api.ts'
import { inAWhile } from './language.ts'
import { pageData } from './page-data.ts'

/** The event, and the way on. */
export interface Said {
  title: string
  text?: string
}

/** The name of the identity provider on this service. */
export const providerName: string = pageData.idpLabel ?? 'your company account'
const provider = providerName.charAt(0).toUpperCase() + providerName.slice(1)
const OTHER_WAYS = 'A code by e-mail or your password works as always.'

/** The refusals of a picture, for the logo of a shop and for a product. */
export const PICTURE_REFUSALS: Record<string, Said> = {
  image_not_readable: {
    title: 'This picture cannot be read.',
    text: 'Please use a JPEG, PNG, WebP, AVIF or GIF that other programs can open.',
  },
  image_too_large: {
    title: 'This picture is too large.',
    text: 'The limit is 10 MB and 50 megapixels. Please make it smaller.',
  },
}

/** The service's refusals, each with the way on. */
const REFUSALS: Record<string, Said> = {
  invalid_code: {
    title: 'This code does not work.',
    text: 'It may be mistyped, or a newer one is on its way. Check the latest mail.',
  },
  invalid_credentials: {
    title: 'This e-mail and password do not match.',
    text: 'Perhaps the account has no password yet. A code by e-mail works for every account.',
  },
  wrong_password: { title: 'This is not your current password.' },
  password_too_common: {
    title: 'This password is among the first that others would try.',
    text: 'Please take another one, such as a few words that do not belong together.',
  },
  recent_sign_in_required: {
    title: 'Please sign in again first.',
    text: 'This is possible for ten minutes after signing in, so that a person who finds your screen open cannot take over the account.',
  },
  card_number_refused: {
    title: 'That looks like the number of a card.',
    text: 'It was not kept. Please do not enter card numbers here.',
  },
  link_not_valid: { title: 'This is not a link.', text: 'Enter a whole address that begins with https://.' },
  ...PICTURE_REFUSALS,
  email_taken: { title: 'Another account here has this address.', text: 'Please use another one, or sign in with it.' },
  sign_in_busy: { title: 'Many people are signing in right now.', text: 'Please try again in a moment.' },
  origin_not_allowed: {
    title: 'This page is not open at its proper address.',
    text: 'The operator of this service has set another one (APP_URL). Please use that.',
  },
  idp_not_configured: { title: `Signing in with ${providerName} is not set up here.`, text: OTHER_WAYS },
  idp_unavailable: { title: `${provider} does not answer right now.`, text: `${OTHER_WAYS} Or try again in a moment.` },
  idp_refused: { title: `Signing in with ${providerName} was cancelled.`, text: `Nothing has changed. ${OTHER_WAYS}` },
  idp_failed: {
    title: `The answer from ${providerName} could not be trusted, so it was not used.`,
    text: `Please try again. ${OTHER_WAYS}`,
  },
  idp_attempt_expired: {
    title: 'That took too long, or was begun in another browser.',
    text: 'Please start again.',
  },
  idp_no_mailbox: {
    title: `${provider} did not name an e-mail address that can be used here.`,
    text: OTHER_WAYS,
  },
  identity_taken: {
    title: `This is already linked to another account here.`,
    text: 'Sign in with it to get there, or unlink it there first.',
  },
  signup_closed: {
    title: 'There is no account with this address.',
    text: 'New accounts are not opened here. Ask the operator of this service.',
  },
  account_disabled: {
    title: 'This account is switched off.',
    text: 'Only the operator of this service can switch it on again.',
  },
  session_conflict: {
    title: 'This browser was signed in to two accounts at once, so both sessions have ended.',
    text: 'Somebody may have tried to make you work in their account. Please sign in again. If this comes back, tell the operator of this service.',
  },
  tax_rate_missing: {
    title: 'A tax rate that you need is not loaded.',
    text: 'Ask the operator of this service to load the rates of your country and category, and with the one-stop-shop those of the whole EU.',
  },
  session_ended: { title: 'You have been signed out.', text: 'Sign in again to go on.' },
}

/** The meaning of a refused or lost request for the seller. */
export function explain(trouble: unknown): Said {
  if (!(trouble instanceof ApiError)) return { title: 'Something went wrong on this page.', text: 'Please reload it.' }
  const known = REFUSALS[trouble.code]
  if (known) return known
  switch (trouble.code) {
    case 'unreachable':
      return navigator.onLine
        ? { title: 'The service cannot be reached right now.', text: 'Please try again in a moment.' }
        : { title: 'You are offline.', text: 'Please try again as soon as you are back.' }
    case 'rate_limited':
      return {
        title: 'Too many tries in a short time.',
        text: `To keep guessers out, there is a pause now. Please try again ${inAWhile(trouble.retryAfterSeconds)}.`,
      }
    case 'validation_failed':
      return { title: 'This cannot be accepted.', text: 'Please check what you entered.' }
    default:
      return trouble.unknown
        ? { title: 'The service is busy.', text: `Please try again ${inAWhile(trouble.retryAfterSeconds)}.` }
        : { title: 'The service did not accept this.', text: 'Please reload the page and try again.' }
  }
}

/** The text for `?error=` in the address. `what` is the action that failed. */
export function explainCode(code: string, what = 'Signing in'): Said {
  if (code === 'rate_limited')
    return { title: 'Too many tries in a short time.', text: 'Please wait a few minutes, then try again.' }
  if (code === 'idp_refused')
    return { title: `${what} with ${providerName} was cancelled.`, text: `Nothing has changed. ${OTHER_WAYS}` }
  const known = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined
  return known ?? { title: `${what} did not work.`, text: `Please try again. ${OTHER_WAYS}` }
}
