import type { FastifyReply, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { CODE_SECONDS } from '../kit/codes.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { countUses, limited } from '../kit/limits.ts'
import { returnPath } from '../kit/return-path.ts'
import type { Signer } from '../kit/signing.ts'
import { type KeptAttempt, attemptCookieName, openAttempt, sealAttempt } from './attempts.ts'
import { type IdentityProvider, ProviderFault, type ProvenIdentity } from './provider-port.ts'
import { enterByProvider, linkToSession } from './provider-sign-in.ts'
import { type SellerParts, TAG, refusals } from './routes.ts'
import { Providers } from './schema.ts'

export interface ProviderRouteParts extends SellerParts {
  appUrl: string
  /** Absent: no identity provider is configured. */
  provider: IdentityProvider | undefined
  /** Signs what is kept from the start to the return. */
  attemptSigner: Signer
}

/** What the sign-in page says when it did not work. Each leaves the other ways in open. */
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

/** Where a seller goes who came to nothing in particular. */
const HOME = '/shop/'

/** Sign-in through an identity provider (OpenID Connect, authorization code with PKCE), and what is linked by it. */
export function providerRoutes(server: Server, parts: ProviderRouteParts): void {
  const { db, cookies, browsers, sendCode, provider, attemptSigner, appUrl, limits } = parts

  const go = (reply: FastifyReply, path: string, query: Record<string, string> = {}) => {
    const search = new URLSearchParams(query).toString()
    const joint = search && (path.includes('?') ? '&' : '?')
    return reply.header('cache-control', 'no-store').redirect(`${appUrl}${path}${joint}${search}`, 302)
  }
  /** Back to where a person can go on: the sign-in page, or the page from which they were linking. */
  const fail = (reply: FastifyReply, error: Fault, attempt?: Pick<KeptAttempt, 'returnTo' | 'linkSessionId'>) => {
    if (attempt?.linkSessionId !== undefined) return go(reply, attempt.returnTo, { error })
    const returnTo = attempt?.returnTo ?? HOME
    return go(reply, '/sign-in/', { error, ...(returnTo !== HOME && { returnTo }) })
  }
  server.get(
    '/api/auth/providers',
    {
      schema: {
        operationId: 'getProviders',
        summary: 'Which providers can be used',
        tags: TAG,
        response: { 200: Providers, ...refusals },
      },
    },
    () => ({ idp: provider !== undefined }),
  )

  const redirect = {
    302: Type.Null({ description: 'To the provider, to a page, or to the sign-in page with `error`.' }),
  }
  server.get(
    '/api/auth/idp',
    {
      config: limited(limits.idp),
      exposeHeadRoute: false,
      schema: {
        operationId: 'startProviderSignIn',
        summary: 'Sign in through the identity provider',
        description: 'For a browser to go to. `returnTo` is a path on the pages’ own host; anything else is ignored.',
        tags: TAG,
        querystring: Type.Object({ returnTo: Type.Optional(Type.Unknown()) }),
        response: { ...redirect, ...refusals },
      },
    },
    async (request, reply) => {
      const returnTo = returnPath(request.query.returnTo, HOME)
      if (!provider) return fail(reply, 'idp_not_configured', { returnTo })
      try {
        const url = await beginAttempt(parts, provider, request, reply, { returnTo })
        return await reply.header('cache-control', 'no-store').redirect(url, 302)
      } catch (error) {
        if (error instanceof ProviderFault) return fail(reply, error.code, { returnTo })
        throw error
      }
    },
  )

  server.get(
    '/api/auth/idp/callback',
    {
      exposeHeadRoute: false,
      schema: {
        operationId: 'finishProviderSignIn',
        summary: 'Where the identity provider sends the browser back to',
        description: 'Works once, and only in the browser that began it.',
        tags: TAG,
        querystring: Type.Object({ state: Type.Optional(Type.Unknown()) }, { additionalProperties: true }),
        response: { ...redirect, ...refusals },
      },
    },
    async (request, reply) => {
      if (!provider) return fail(reply, 'idp_not_configured')
      const { state } = request.query
      const attempt = typeof state === 'string' ? await take(request, reply, state) : undefined
      if (!attempt) return fail(reply, 'idp_attempt_expired')
      try {
        const identity = await provider.finish(new URL(request.url, appUrl), attempt)
        return await (attempt.linkSessionId === undefined
          ? enter(request, reply, identity, attempt.returnTo)
          : link(request, reply, identity, attempt))
      } catch (error) {
        if (error instanceof ProviderFault) return fail(reply, error.code, attempt)
        throw error
      }
    },
  )

  /** The attempt of this browser with that state, once: whoever comes with it again, or beside, gets none. */
  async function take(request: FastifyRequest, reply: FastifyReply, state: string): Promise<KeptAttempt | undefined> {
    const name = attemptCookieName(state)
    const sealed = cookies.readAttempt(request, name)
    if (sealed === undefined) return undefined
    cookies.clearAttempt(reply, name)
    const attempt = openAttempt(attemptSigner, sealed, Date.now())
    if (attempt?.state !== state) return undefined
    const key = `idp_attempt ${createHash('sha256').update(state).digest('base64url')}`
    // longer than the attempt itself lives, so that it cannot come back when the count is forgotten
    const [used] = await countUses(db, [{ key, limit: { count: 1, seconds: 2 * CODE_SECONDS } }])
    return used!.within ? attempt : undefined
  }

  async function enter(request: FastifyRequest, reply: FastifyReply, identity: ProvenIdentity, returnTo: string) {
    const entered = await enterByProvider(parts, identity, browsers.browser(request))
    if (entered.kind === 'refused') return fail(reply, entered.why, { returnTo })
    if (entered.kind === 'signed_in') {
      browsers.begin(reply, entered)
      return go(reply, returnTo)
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
      if (error instanceof Refusal && error.code === 'rate_limited') return fail(reply, 'rate_limited', { returnTo })
      throw error
    }
    return go(reply, '/sign-in/', { step: 'code', ...(returnTo !== HOME && { returnTo }) })
  }

  async function link(request: FastifyRequest, reply: FastifyReply, identity: ProvenIdentity, attempt: KeptAttempt) {
    const signedIn = await browsers.signedIn(request, reply).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'not_signed_in') return undefined
      if (error instanceof Refusal && error.code === 'session_conflict') return error.code
      throw error
    })
    if (signedIn === 'session_conflict') return fail(reply, signedIn)
    // begun in another session: linking it here would open this account to whoever began it
    if (signedIn?.id !== attempt.linkSessionId) return fail(reply, 'idp_attempt_expired', attempt)
    return (await linkToSession(parts, signedIn!, identity))
      ? go(reply, attempt.returnTo)
      : fail(reply, 'identity_taken', attempt)
  }
}

/** Sends somebody to the provider: the address, and the cookie that brings them back. Throws a ProviderFault. */
export async function beginAttempt(
  { cookies, attemptSigner }: ProviderRouteParts,
  { start }: IdentityProvider,
  request: FastifyRequest,
  reply: FastifyReply,
  more: Pick<KeptAttempt, 'returnTo' | 'linkSessionId'>,
): Promise<string> {
  const { url, attempt } = await start()
  const sealed = sealAttempt(attemptSigner, { ...attempt, ...more, startedAt: Date.now() })
  cookies.setAttempt(request, reply, attemptCookieName(attempt.state), sealed)
  return url
}
