import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Asker } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { neverCached } from '../kit/http.ts'
import { type Limit, networkOf } from '../kit/limits.ts'
import type { Signer } from '../kit/signing.ts'
import { hashOf, isToken, newToken } from '../kit/tokens.ts'
import type { NewCode } from './codes.ts'
import type { Cookies } from './cookies.ts'
import { knownName, mark } from './known-browsers.ts'
import type { Seller } from './schema.ts'
import type { SellerRow } from './sellers.ts'
import { type Browser, type SignedIn, endSessions, sessionFinder } from './sessions.ts'

/** By which a code knows its browser, and the browser's code before it. */
export type CodeHolder = Pick<NewCode, 'browserHash' | 'previousBrowserHash' | 'again'>

/** For the description of a route that needs a session. */
export const NEEDS_SESSION = [{ session: [] }]

/** Everything the sellers' routes read from the requesting browser, and set in it. */
export interface Browsers {
  /** Returns the session and its seller. Throws `not_signed_in`, and `session_conflict` when the browser sends sessions of two sellers. */
  signedIn(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn>
  /** The same, no longer than ten minutes ago: for what protects the account. Throws `recent_sign_in_required` too. */
  recentlySignedIn(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn>
  browser(request: FastifyRequest): Browser
  /** The cookies of a new session, which take the place of an old one's. */
  begin(reply: FastifyReply, session: { token: string; seller: SellerRow }): void
  /** From now on this browser is no stranger to the mailbox. */
  know(reply: FastifyReply, email: string): void
  /** Under which names the requests and the tries for a mailbox are counted. */
  counted(
    request: FastifyRequest,
    email: string,
    /** A provider sent them: they have a count of their own, which a stranger who only types the address cannot use up. */
    options?: { byProvider?: boolean },
  ): Asker
  /** The hash of the cookie that binds a code to this browser. */
  codeHolder(request: FastifyRequest): Buffer | undefined
  /** A new cookie for a code that is yet to be made. `keep` sets it after the code exists, because it replaces the cookie before. */
  newCodeHolder(
    request: FastifyRequest,
    /** It takes the place of the code before it, with all that this one was for. */
    options?: { again?: boolean | undefined },
  ): { holder: CodeHolder; keep: (reply: FastifyReply) => void }
}

/** A browser has one, and one more when the operator has changed the cookie's domain. More than this, and somebody plants them. */
const MOST_TOKENS = 50

export type SignInLimits = Partial<
  Record<'code' | 'code_address' | 'code_try' | 'mailbox' | 'mailbox_site' | 'password' | 'idp', Limit>
>

/** `known` signs which browsers have signed in to a mailbox before. */
export function browsers(db: Db, cookies: Cookies, known: Signer): Browsers {
  const findSession = sessionFinder(db)
  const hashed = (token: string | undefined) => (isToken(token) ? hashOf(token) : undefined)
  const own: Browsers = {
    async signedIn(request, reply) {
      neverCached(reply)
      const { tokens } = own.browser(request)
      // asked together they are one read
      const found =
        tokens.length > MOST_TOKENS
          ? []
          : (await Promise.all(tokens.map(findSession))).filter((one) => one !== undefined)
      const sellers = new Set(found.map(({ seller }) => seller.id))
      if (tokens.length > MOST_TOKENS || sellers.size > 1) {
        // One of them may be planted and may come back, so each session ends in the database too: a cookie that our answer does not
        // reach opens nothing afterwards.
        await endSessions(db, tokens)
        cookies.clearPlanted(request, reply)
        throw new Refusal(
          'session_conflict',
          'This browser sent the sessions of two different accounts. Both have ended, so that you do not work in somebody else’s account. Please sign in again.',
        )
      }
      if (found[0]) return found[0]
      if (cookies.readAll(request, 'session').length > 0) cookies.clear(reply, 'session')
      throw new Refusal('not_signed_in', 'Nobody is signed in, or the session has ended.')
    },
    async recentlySignedIn(request, reply) {
      const signedIn = await own.signedIn(request, reply)
      if (signedIn.isRecent) return signedIn
      throw new Refusal('recent_sign_in_required', 'This can be changed for ten minutes after signing in.')
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

export const sellerView = ({ createdAt, ...seller }: SellerRow): Seller => ({
  id: seller.id,
  name: seller.name,
  email: seller.email,
  supportEmail: seller.supportEmail,
  hasPassword: seller.hasPassword,
  createdAt: createdAt.toISOString(),
})
