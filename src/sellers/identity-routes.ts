import { inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { limited } from '../kit/limits.ts'
import { returnPath } from '../kit/return-path.ts'
import { notifyOwner } from './history.ts'
import { listIdentities, unlinkIdentity } from './identities.ts'
import { refusing } from '../kit/schema.ts'
import { NEEDS_SESSION } from './guard.ts'
import { type ProviderRouteParts, beginAttempt } from './provider-routes.ts'
import { ProviderFault } from './provider-port.ts'
import { NOTHING, TAG, refusals } from './routes.ts'
import { Identities, IdentityParams, LinkStart, LinkStarted } from './schema.ts'

/** The page on which a seller links accounts. */
const ACCOUNT = '/account/'

type IdentityRouteParts = Omit<ProviderRouteParts, 'sendCode' | 'signupOf' | 'appUrl'>

/** Lists, links and unlinks a seller's accounts at the identity provider. */
export function identityRoutes(server: Server, parts: IdentityRouteParts): void {
  listIdentitiesRoute(server, parts)
  linkIdentityRoute(server, parts)
  unlinkIdentityRoute(server, parts)
}

function listIdentitiesRoute(server: Server, { db, browsers }: IdentityRouteParts): void {
  server.get(
    '/api/auth/identities',
    {
      schema: {
        operationId: 'listIdentities',
        summary: 'Your linked identities at the provider',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: Identities, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const linked = await listIdentities(db, seller.id)
      return { items: linked.map(({ linkedAt, ...rest }) => ({ ...rest, linkedAt: linkedAt.toISOString() })) }
    },
  )
}

function linkIdentityRoute(server: Server, parts: IdentityRouteParts): void {
  const { browsers, limits, provider } = parts
  server.post(
    '/api/auth/identities',
    {
      config: limited(limits.idp),
      schema: {
        operationId: 'linkIdentity',
        summary: 'Begin to link an account at the provider',
        description:
          'Needs a sign-in of the last ten minutes. It is a POST, so that no other site can send a browser through it. The browser comes back to `returnTo`, with `error` after a failure.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: LinkStart,
        response: { 200: LinkStarted, ...refusing('recent_sign_in_required', 'idp_not_configured', 'idp_unavailable') },
      },
    },
    async (request, reply) => {
      const { id } = await browsers.recentlySignedIn(request, reply)
      if (!provider) throw new Refusal('idp_not_configured', 'No identity provider is configured.')
      try {
        const returnTo = returnPath(request.body.returnTo, ACCOUNT)
        return { url: await beginAttempt(parts, provider, request, reply, { returnTo, linkSessionId: id }) }
      } catch (error) {
        if (!(error instanceof ProviderFault)) throw error
        throw new Refusal('idp_unavailable', 'The identity provider does not answer. The other ways to sign in work.', {
          retryAfterSeconds: 30,
          cause: error,
        })
      }
    },
  )
}

function unlinkIdentityRoute(server: Server, parts: IdentityRouteParts): void {
  const { db, browsers } = parts
  server.delete(
    '/api/auth/identities/:identityId',
    {
      schema: {
        operationId: 'unlinkIdentity',
        summary: 'Unlink an account at the provider',
        description: 'Needs a sign-in of the last ten minutes. The seller can still sign in by a code.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: IdentityParams,
        response: { ...NOTHING, ...refusing('recent_sign_in_required', 'identity_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.recentlySignedIn(request, reply)
      const { identityId } = request.params
      const unlinked = await inTransaction(db, async (tx) => {
        const gone = await unlinkIdentity(tx, seller.id, identityId)
        if (!gone) return false
        const event = { sellerId: seller.id, what: 'identity_unlinked', issuer: gone.issuer } as const
        await notifyOwner(tx, parts.jobs, { ...event, email: gone.email ?? undefined }, seller.email)
        return true
      })
      if (!unlinked) throw new Refusal('identity_not_found', 'There is no such linked identity of yours.')
      return reply.code(204).send(null)
    },
  )
}
