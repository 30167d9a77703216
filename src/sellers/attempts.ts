import type { Signer } from '../kit/signing.ts'
import type { Attempt } from './provider-port.ts'

/** Long enough to fetch a phone for the second factor. */
export const ATTEMPT_TTL_SECONDS = 600
/** Another instance, whose clock differs, may have begun the attempt. */
const CLOCK_TOLERANCE_MS = 30_000
/** The library's text for 32 random bytes. */
const RANDOM = /^[\w-]{43}$/

/** A sign-in attempt at the provider, as the browser's cookie stores it. */
export interface StoredAttempt extends Attempt {
  /** Milliseconds since 1970. */
  startedAt: number
  returnTo: string
  /** The session that links an identity. Absent for a sign-in. */
  linkSessionId?: string
}

/** The name of an attempt's cookie. Each attempt has its own, so attempts in several tabs do not mix. Safe for any `state`. */
export const attemptCookieName = (state: string): string => `till_idp_${state.replace(/[^\w-]/g, '').slice(0, 16)}`

/** The attempt as a cookie's value. It is signed and not secret, because it belongs to the browser that holds it. */
export function sealAttempt(signer: Signer, attempt: StoredAttempt): string {
  const text = Buffer.from(JSON.stringify(attempt)).toString('base64url')
  return `${text}.${signer.sign(text)}`
}

/** Returns the attempt. Undefined: we did not sign the cookie, somebody changed it, or it is older than ten minutes. */
export function openAttempt(signer: Signer, value: string | undefined, nowMs: number): StoredAttempt | undefined {
  const [text = '', signature = '', ...rest] = (value ?? '').split('.')
  if (rest.length > 0 || !signer.verify(text, signature)) return undefined
  const attempt = shapeOf(Buffer.from(text, 'base64url').toString())
  if (!attempt) return undefined
  const ageMs = nowMs - attempt.startedAt
  return ageMs >= -CLOCK_TOLERANCE_MS && ageMs <= ATTEMPT_TTL_SECONDS * 1000 ? attempt : undefined
}

/** Checks the shape, because another version of the service can have signed the cookie. */
function shapeOf(json: string): StoredAttempt | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { state, nonce, verifier, startedAt, returnTo, linkSessionId, ...rest } = parsed as Record<string, unknown>
  const isRandom = (text: unknown): text is string => typeof text === 'string' && RANDOM.test(text)
  if (!isRandom(state) || !isRandom(nonce) || !isRandom(verifier)) return undefined
  if (!Number.isSafeInteger(startedAt) || typeof returnTo !== 'string' || Object.keys(rest).length > 0) return undefined
  if (linkSessionId !== undefined && typeof linkSessionId !== 'string') return undefined
  const attempt = { state, nonce, verifier, startedAt: startedAt as number, returnTo }
  return linkSessionId === undefined ? attempt : { ...attempt, linkSessionId }
}
