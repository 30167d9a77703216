import type { FastifyReply, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { CODE_SECONDS } from '../kit/code-limits.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { countUses, limited } from '../kit/limits.ts'
import { returnPath } from '../kit/return-path.ts'
import type { Signer } from '../kit/signing.ts'
import { type StoredAttempt, attemptCookieName, openAttempt, sealAttempt } from './attempts.ts'
import { type IdentityProvider, ProviderFault, type ProvenIdentity } from './provider-port.ts'
import { enterByProvider, linkToSession } from './provider-sign-in.ts'
import { type SellerParts, TAG, refusals } from './routes.ts'
import { Providers } from './schema.ts'
import type { SignupOf } from './sellers.ts'

export interface ProviderRouteParts extends SellerParts {
  signupOf: SignupOf
  appUrl: string
  /** Absent: no identity provider is configured. */
  provider: IdentityProvider | undefined
  /** Signs the cookie that the browser holds between the start and the return. */
  attemptSigner: Signer
}

/** Why the sign-in failed, for the page. The other ways to sign in stay open. */
type Fault =
  | 'idp_not_configured'
  | 'idp_unavailable'
  | 'idp_refused'
  | 'idp_failed'
  | 'idp_attempt_expired'
  | 'idp_no_mailbox'
  | 'signup_closed'
  | 'account_disabled'
  | 'rate_limited'
  | 'identity_taken'
  | 'session_conflict'

/** Where a seller goes after the sign-in, unless `returnTo` names another page. */
const HOME = '/shop/'
const redirect = {
  302: Type.Null({ description: 'To the provider, to a page, or to the sign-in page with `error`.' }),
}

/** One request of a browser on its way through the provider. */
interface Visit {
  parts: ProviderRouteParts
  request: FastifyRequest
  reply: FastifyReply
}

/** Sign-in through an identity provider (OpenID Connect, authorization code with PKCE), and linking the provider's account. */
export function providerRoutes(server: Server, parts: ProviderRouteParts): void {
  getProvidersRoute(server, parts)
  startProviderSignInRoute(server, parts)
  finishProviderSignInRoute(server, parts)
}

function getProvidersRoute(server: Server, { provider }: ProviderRouteParts): void {
  server.get(
    '/api/auth/providers',
    {
      schema: {
        operationId: 'getProviders',
        summary: 'The available identity providers',
        tags: TAG,
        response: { 200: Providers, ...refusals },
      },
    },
    () => ({ idp: provider !== undefined }),
  )
}

function startProviderSignInRoute(server: Server, parts: ProviderRouteParts): void {
  const { limits, provider } = parts
  server.get(
    '/api/auth/idp',
    {
      config: limited(limits.idp),
      exposeHeadRoute: false,
      schema: {
        operationId: 'startProviderSignIn',
        summary: 'Sign in through the identity provider',
        description: 'A browser opens this address. `returnTo` is a path on the pages’ host; other values are ignored.',
        tags: TAG,
        querystring: Type.Object({
          returnTo: Type.Optional(Type.Unknown({ description: 'The page to come back to.' })),
          again: Type.Optional(
            Type.Unknown({
              description:
                '`1`: asks the provider to let the person sign in there anew. The session counts as a sign-in of the last ten minutes only if the provider says that the person did.',
            }),
          ),
        }),
        response: { ...redirect, ...refusals },
      },
    },
    async (request, reply) => {
      const visit = { parts, request, reply }
      const returnTo = returnPath(request.query.returnTo, HOME)
      if (!provider) return fail(visit, 'idp_not_configured', { returnTo })
      try {
        const url = await beginAttempt(parts, provider, request, reply, { returnTo }, request.query.again === '1')
        return await reply.header('cache-control', 'no-store').redirect(url, 302)
      } catch (error) {
        if (error instanceof ProviderFault) return fail(visit, error.code, { returnTo })
        throw error
      }
    },
  )
}

function finishProviderSignInRoute(server: Server, parts: ProviderRouteParts): void {
  const { provider, appUrl } = parts
  server.get(
    '/api/auth/idp/callback',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'finishProviderSignIn',
        summary: 'The return from the identity provider',
        description:
          'The identity provider sends the browser here. Works once, and only in the browser that began the sign-in.',
        tags: TAG,
        querystring: Type.Object(
          { state: Type.Optional(Type.Unknown({ description: 'The signed state of this sign-in.' })) },
          { additionalProperties: true },
        ),
        response: { ...redirect, ...refusals },
      },
    },
    async (request, reply) => {
      const visit = { parts, request, reply }
      if (!provider) return fail(visit, 'idp_not_configured')
      const { state } = request.query
      const attempt = typeof state === 'string' ? await takeAttempt(visit, state) : undefined
      if (!attempt) return fail(visit, 'idp_attempt_expired')
      try {
        const identity = await provider.finish(new URL(request.url, appUrl), attempt)
        return await (attempt.linkSessionId === undefined
          ? enter(visit, identity, attempt.returnTo)
          : link(visit, identity, attempt))
      } catch (error) {
        if (error instanceof ProviderFault) return fail(visit, error.code, attempt)
        throw error
      }
    },
  )
}

/**
 * Takes the attempt of this browser with that state. Each attempt is good once: a second request with the same state gets undefined,
 * also when it comes at the same time.
 */
async function takeAttempt({ parts, request, reply }: Visit, state: string): Promise<StoredAttempt | undefined> {
  const { db, cookies, attemptSigner } = parts
  const name = attemptCookieName(state)
  const sealed = cookies.readAttempt(request, name)
  if (sealed === undefined) return undefined
  cookies.clearAttempt(reply, name)
  const attempt = openAttempt(attemptSigner, sealed, Date.now())
  if (attempt?.state !== state) return undefined
  const key = `idp_attempt ${createHash('sha256').update(state).digest('base64url')}`
  // the count outlives the attempt, so that an attempt cannot be used again once its count is forgotten
  const [used] = await countUses(db, [{ key, limit: { count: 1, seconds: 2 * CODE_SECONDS } }])
  return used!.within ? attempt : undefined
}

/** Signs the seller in. If the provider has not proven the mailbox, it sends a code and redirects to the page that asks for it. */
async function enter(visit: Visit, identity: ProvenIdentity, returnTo: string) {
  const { parts, request, reply } = visit
  const { browsers, sendCode } = parts
  const entered = await enterByProvider(parts, identity, browsers.browser(request))
  if (entered.kind === 'refused') return fail(visit, entered.why, { returnTo })
  if (entered.kind === 'signed_in') {
    browsers.begin(reply, entered)
    return go(visit, returnTo)
  }
  const { issuer, subject } = identity
  const { holder, keep } = browsers.newCodeHolder(request)
  try {
    await sendCode({
      email: entered.email,
      purpose: 'sign_in',
      identity: { issuer, subject },
      asker: browsers.counted(request, entered.email, { byProvider: true }),
      ...holder,
    })
    keep(reply)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'rate_limited') return fail(visit, 'rate_limited', { returnTo })
    throw error
  }
  return go(visit, '/sign-in/', { step: 'code', ...(returnTo !== HOME && { returnTo }) })
}

/** Links the provider's account to the seller who began the attempt in this session. */
async function link(visit: Visit, identity: ProvenIdentity, attempt: StoredAttempt) {
  const { parts, request, reply } = visit
  const signedIn = await parts.browsers.signedIn(request, reply).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'not_signed_in') return undefined
    if (error instanceof Refusal && error.code === 'session_conflict') return error.code
    throw error
  })
  if (signedIn === 'session_conflict') return fail(visit, signedIn)
  // an attempt of another session would let the person who began it into this account
  if (signedIn?.id !== attempt.linkSessionId) return fail(visit, 'idp_attempt_expired', attempt)
  return (await linkToSession(parts, signedIn!, identity))
    ? go(visit, attempt.returnTo)
    : fail(visit, 'identity_taken', attempt)
}

/** Sends the browser back to where the person can go on: the sign-in page, or the page on which the linking began. */
function fail(visit: Visit, error: Fault, attempt?: Pick<StoredAttempt, 'returnTo' | 'linkSessionId'>) {
  if (attempt?.linkSessionId !== undefined) return go(visit, attempt.returnTo, { error })
  const returnTo = attempt?.returnTo ?? HOME
  return go(visit, '/sign-in/', { error, ...(returnTo !== HOME && { returnTo }) })
}

function go({ parts, reply }: Visit, path: string, query: Record<string, string> = {}) {
  const search = new URLSearchParams(query).toString()
  const joint = search && (path.includes('?') ? '&' : '?')
  return reply.header('cache-control', 'no-store').redirect(`${parts.appUrl}${path}${joint}${search}`, 302)
}

/** Returns the address at the provider, and sets the cookie by which the browser's return is recognized. Throws a ProviderFault. */
export async function beginAttempt(
  { cookies, attemptSigner }: Pick<ProviderRouteParts, 'cookies' | 'attemptSigner'>,
  { start }: IdentityProvider,
  request: FastifyRequest,
  reply: FastifyReply,
  more: Pick<StoredAttempt, 'returnTo' | 'linkSessionId'>,
  again = false,
): Promise<string> {
  const { url, attempt } = await start(again)
  const sealed = sealAttempt(attemptSigner, { ...attempt, ...more, startedAt: Date.now() })
  cookies.setAttempt(request, reply, attemptCookieName(attempt.state), sealed)
  return url
}
