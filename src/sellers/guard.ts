import type { FastifyReply, FastifyRequest } from 'fastify'
import assert from 'node:assert/strict'
import { type Asker, refuseWithoutCookie } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { neverCached } from '../kit/http.ts'
import { type Limit, networkOf } from '../kit/limits.ts'
import type { Signer } from '../kit/signing.ts'
import { hashOf, isToken, newToken } from '../kit/tokens.ts'
import type { NewCode } from './codes.ts'
import type { Cookies } from './cookies.ts'
import { type Caller, type CallerOptions, type Keys, askForKey } from './keys/caller.ts'
import { securityOf, takesKeys, takesSession } from './keys/scopes.ts'
import { bearerOf } from './keys/secret.ts'
import { knownName, mark } from './known-browsers.ts'
import type { Seller } from './schema.ts'
import type { SellerRow } from './sellers.ts'
import { type Browser, type FindSession, type SignedIn, endSessions, sessionFinder } from './sessions.ts'

/** The hashes that bind a code to its browser, and identify the browser's code before it. */
export type CodeHolder = Pick<NewCode, 'browserHash' | 'previousBrowserHash' | 'again'>

export { NEEDS_KEY, NEEDS_SESSION, needs } from './keys/scopes.ts'

/** Everything that the sellers' routes read from the client's cookies, and set in them. */
export interface Browsers {
  /**
   * Returns who makes the request, by a session or by a key with a scope that the route declares. Throws as `signedIn` does, and
   * `key_and_session`, `invalid_key`, `key_expired`, `key_revoked`, `insufficient_scope`, `key_bound_to_products`, and `rate_limited`.
   */
  caller(request: FastifyRequest, reply: FastifyReply, options?: CallerOptions): Promise<Caller>
  /**
   * Returns the session and its seller. Throws `not_signed_in`, `session_conflict` when the browser sends sessions of two sellers,
   * `other_account` when the page was drawn for another seller, and `key_not_accepted` when the request brings a key.
   */
  signedIn(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn>
  /** The same for a sign-in of the last ten minutes, which changes to the account's security need. Throws `recent_sign_in_required` too. */
  recentlySignedIn(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn>
  /**
   * Returns the session, if the browser has sessions of exactly one seller. It changes nothing in the response, so that the browser notices
   * nothing.
   */
  quietly(request: FastifyRequest): Promise<SignedIn | undefined>
  browser(request: FastifyRequest): Browser
  /** Sets the cookies of a new session, which replace those of an old one. */
  begin(reply: FastifyReply, session: { token: string; seller: SellerRow }): void
  /** Marks this browser as known to the mailbox. */
  know(reply: FastifyReply, email: string): void
  /** The names under which limits count the client's requests and tries for a mailbox. */
  counted(
    request: FastifyRequest,
    email: string,
    /** A provider sent the browser. These requests count separately, so a stranger who only types the address cannot use them up. */
    options?: { byProvider?: boolean },
  ): Asker
  /** The hash of the cookie that binds a code to this browser. */
  codeHolder(request: FastifyRequest): Buffer | undefined
  /** The same for a browser that brings a code. Throws `cookie_missing`. */
  neededCodeHolder(request: FastifyRequest): Buffer | undefined
  /** Makes a cookie for a new code. Call `keep` after the code exists, because this cookie replaces the one before. */
  newCodeHolder(
    request: FastifyRequest,
    /** The new code replaces the last one, and keeps its purpose and its identity at a provider. */
    options?: { again?: boolean | undefined },
  ): { holder: CodeHolder; keep: (reply: FastifyReply) => void }
}

/** A browser has one token, or two after the operator has changed the cookie's domain. More than this many were set by somebody else. */
const MOST_TOKENS = 50

export type SignInLimits = Partial<
  Record<'code' | 'code_address' | 'code_try' | 'mailbox' | 'mailbox_site' | 'password' | 'idp', Limit>
>

export interface BrowserParts {
  db: Db
  cookies: Cookies
  /** Signs the marks of browsers that have signed in to a mailbox before. */
  known: Signer
  keys: Keys
}

export function browsers({ db, cookies, known, keys }: BrowserParts): Browsers {
  const findSession = sessionFinder(db)
  const findSignedIn = signedInFinder(db, cookies, findSession)
  const hashed = (token: string | undefined) => (isToken(token) ? hashOf(token) : undefined)
  const own: Browsers = {
    async caller(request, reply, options = {}) {
      const security = securityOf(request)
      assert(takesKeys(security), `${request.routeOptions.url} does not declare which keys may use it`)
      const secret = bearerOf(request)
      if (secret === undefined && takesSession(security)) {
        const session = await own.signedIn(request, reply).catch((error: unknown) => withChallenge(error, reply))
        return { seller: session.seller, session }
      }
      neverCached(reply)
      if (secret !== undefined) refuseSessionBeside(cookies, request)
      return keys.callerOf(secret, request, reply, options)
    },
    async signedIn(request, reply) {
      neverCached(reply)
      if (bearerOf(request) === undefined) return findSignedIn(request, reply, own.browser(request).tokens)
      refuseSessionBeside(cookies, request)
      throw new Refusal('key_not_accepted', 'A key cannot do this. Sign in on our pages.')
    },
    async recentlySignedIn(request, reply) {
      const signedIn = await own.signedIn(request, reply)
      refuseUnlessRecent(signedIn)
      return signedIn
    },
    async quietly(request) {
      if (bearerOf(request) !== undefined) return undefined
      const found = await sessionsOf(own.browser(request).tokens, findSession)
      return isOfOneSeller(found) ? found[0] : undefined
    },
    browser: (request) => ({
      userAgent: request.headers['user-agent'],
      tokens: cookies.readAll(request, 'session').filter(isToken),
    }),
    begin(reply, { token, seller }) {
      cookies.set(reply, 'session', token)
      own.know(reply, seller.email)
      cookies.clear(reply, 'code')
    },
    know: (reply, email) => cookies.set(reply, 'known', mark(known, email)),
    counted: (request, email, { byProvider = false } = {}) => ({
      mailbox: byProvider ? `idp ${email}` : email,
      network: networkOf(request.ip),
      known: knownName(known, email, cookies.read(request, 'known')),
    }),
    codeHolder: (request) => hashed(cookies.read(request, 'code')),
    neededCodeHolder(request) {
      const token = cookies.read(request, 'code')
      refuseWithoutCookie(token)
      return hashed(token)
    },
    newCodeHolder(request, { again = false } = {}) {
      const token = newToken()
      return {
        holder: { browserHash: hashOf(token), previousBrowserHash: own.codeHolder(request), again },
        keep: (reply) => cookies.set(reply, 'code', token),
      }
    },
  }
  return own
}

/** The refusals of a missing session, which are answered with 401. */
const WITHOUT_SESSION: ReadonlySet<string> = new Set(['not_signed_in', 'session_conflict'])

/** Throws the error. The route takes a key too, so its 401 says so. */
function withChallenge(error: unknown, reply: FastifyReply): never {
  if (error instanceof Refusal && WITHOUT_SESSION.has(error.code)) askForKey(reply)
  throw error
}

function signedInFinder(db: Db, cookies: Cookies, findSession: FindSession) {
  return async (request: FastifyRequest, reply: FastifyReply, tokens: readonly string[]): Promise<SignedIn> => {
    const found = await sessionsOf(tokens, findSession)
    if (tokens.length > MOST_TOKENS || (found.length > 0 && !isOfOneSeller(found))) {
      // An attacker may have set one of the cookies. If our response does not clear it, it could come back. So each session also ends
      // in the database.
      await endSessions(db, tokens)
      cookies.clearPlanted(request, reply)
      throw new Refusal(
        'session_conflict',
        'This browser sent the sessions of two different accounts. Both have ended, so that you do not work in somebody else’s account. Please sign in again.',
      )
    }
    if (found[0]) {
      refuseOtherAccount(request, found[0])
      return found[0]
    }
    if (cookies.readAll(request, 'session').length > 0) cookies.clear(reply, 'session')
    throw new Refusal('not_signed_in', 'You are not signed in, or your session has ended.')
  }
}

/** The sessions that these tokens find: none of a browser with too many tokens. */
async function sessionsOf(tokens: readonly string[], findSession: FindSession): Promise<SignedIn[]> {
  if (tokens.length > MOST_TOKENS) return []
  // requested together, so that they share one statement
  return (await Promise.all(tokens.map(findSession))).filter((one) => one !== undefined)
}

const isOfOneSeller = (found: readonly SignedIn[]): boolean => new Set(found.map(({ seller }) => seller.id)).size === 1

/**
 * Our pages name the seller for whom they were drawn, because another account can have signed in since, in another tab. Refuses
 * `other_account`.
 */
export function refuseOtherAccount({ headers }: FastifyRequest, { seller }: SignedIn): void {
  const drawnFor = headers['till-seller']
  if (drawnFor === undefined || drawnFor === seller.id) return
  throw new Refusal(
    'other_account',
    'Another account is signed in by now. Nothing was changed. Please load the page again.',
  )
}

/** Refuses a session beside a key. We could only guess which one is meant, and another host of our domain may have set the cookie. */
function refuseSessionBeside(cookies: Cookies, request: FastifyRequest): void {
  if (cookies.readAll(request, 'session').length === 0) return
  throw new Refusal('key_and_session', 'This request brings a key and the cookie of a session. Send only one of them.')
}

/** Refuses `recent_sign_in_required`. */
export function refuseUnlessRecent({ isRecent }: SignedIn): void {
  if (isRecent) return
  throw new Refusal(
    'recent_sign_in_required',
    'Sign in again first: this can be changed for ten minutes after a sign-in.',
  )
}

export const sellerView = ({ createdAt, ...seller }: SellerRow): Seller => ({
  id: seller.id,
  name: seller.name,
  email: seller.email,
  supportEmail: seller.supportEmail,
  hasPassword: seller.hasPassword,
  standing: seller.standing,
  createdAt: createdAt.toISOString(),
})
