import { Type } from 'typebox'
import type { Server } from '../kit/http.ts'
import { type Limit, countUses, refuseBeyond } from '../kit/limits.ts'
import { DONE, Time, refusing } from '../kit/schema.ts'
import { NEEDS_SESSION } from './guard.ts'
import type { SellerParts } from './routes.ts'
import { refuseUnlessActive } from './standing.ts'
import { type Site as SiteRow, addSite, listSites, refuseManyOwners, removeSite, siteHost } from './sites.ts'

const TAG = ['Sites']
const SiteParams = Type.Object({
  host: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'A host with an optional port. `*.shop.example` has all names below `shop.example`.',
    examples: ['shop.example'],
  }),
})
export const Site = Type.Object({ host: Type.String({ examples: ['shop.example'] }), createdAt: Time })
export const Sites = Type.Object({ items: Type.Array(Site) })

const TOO_MANY = 'You have added many sites. Please wait a little.'

const siteView = ({ host, createdAt }: SiteRow) => ({ host, createdAt: createdAt.toISOString() })

/** The seller's own sites: they may show the checkout in a frame, and an order may lead there. */
export function siteRoutes(
  server: Server,
  { db, jobs, browsers, limit }: Pick<SellerParts, 'db' | 'jobs' | 'browsers'> & { limit: Limit | undefined },
): void {
  server.get(
    '/api/sites',
    {
      schema: {
        operationId: 'listSites',
        summary: 'Your own sites',
        description:
          'Only these sites may show the checkout in a frame, and only to them an order’s `successUrl` and `cancelUrl` may lead.',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: Sites, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      return { items: (await listSites(db, seller.id)).map(siteView) }
    },
  )

  server.put(
    '/api/sites/:host',
    {
      schema: {
        operationId: 'addSite',
        summary: 'Add a site of yours',
        description: 'A repeat changes nothing. The site is reached by https; by http only on `localhost`.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: SiteParams,
        response: {
          200: Site,
          ...refusing('site_not_valid', 'too_many_sites', 'approval_awaited', 'seller_suspended', 'rate_limited'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      // the host goes to the operator's account at the processor
      await refuseUnlessActive(db, seller.id)
      if (limit) refuseBeyond(await countUses(db, [{ key: `site ${seller.id}`, limit }]), TOO_MANY)
      const host = siteHost(request.params.host)
      await refuseManyOwners(host)
      return siteView(await addSite(db, jobs, seller.id, host))
    },
  )

  server.delete(
    '/api/sites/:host',
    {
      schema: {
        operationId: 'removeSite',
        summary: 'Remove a site of yours',
        description: 'Orders that lead to it keep their addresses.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: SiteParams,
        response: { ...DONE, ...refusing('site_not_valid', 'site_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      await removeSite(db, seller.id, siteHost(request.params.host))
      return reply.code(204).send(null)
    },
  )
}
