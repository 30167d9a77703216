import { Refusal } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'
import { refusing } from '../../kit/schema.ts'
import { type BrandChange as BrandFieldsChange, changeBrand, findBrand } from '../../sellers/brand.ts'
import { NEEDS_SESSION } from '../../sellers/guard.ts'
import type { ProductParts } from '../routes.ts'
import { logoRoutes } from './logo-routes.ts'
import { Brand, BrandChange, TAG, ownBrand } from './schema.ts'

/** The brand of a seller is stored in at most 16,000 bytes. */
const LONGEST_LINK = 2000
const LINKS = ['websiteUrl', 'termsUrl', 'privacyUrl'] as const

/** How a seller's checkout, order pages and mails look to buyers. */
export function brandRoutes(server: Server, parts: ProductParts): void {
  const { db, browsers, baseUrl } = parts
  server.get(
    '/api/brand',
    {
      schema: {
        operationId: 'getBrand',
        summary: 'How your shop looks to buyers',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: Brand, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      return ownBrand(baseUrl, await findBrand(db, seller.id))
    },
  )

  server.patch(
    '/api/brand',
    {
      schema: {
        operationId: 'changeBrand',
        summary: 'Change how your shop looks to buyers',
        description:
          'Fields that are absent stay as they are. We make every accent colour legible on light and on dark pages. Another link needs a sign-in of the last ten minutes.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: BrandChange,
        response: { 200: Brand, ...refusing('recent_sign_in_required', 'link_not_valid') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const { refundPolicy, accent, asksConsent, ...links } = request.body
      const change: BrandFieldsChange = {
        ...Object.fromEntries(
          LINKS.flatMap((name) => (links[name] === undefined ? [] : [[name, linkOf(links[name])]])),
        ),
        ...(accent !== undefined && { accent: accent?.toLowerCase() ?? null }),
        ...(refundPolicy !== undefined && { refundPolicy: refundPolicy?.trim() || null }),
        ...(asksConsent !== undefined && { asksConsent: asksConsent || null }),
      }
      const before = await findBrand(db, seller.id)
      // a thief of a session must not lead buyers to pages of their own
      if (LINKS.some((name) => name in change && (change[name] ?? undefined) !== before[name]))
        await browsers.recentlySignedIn(request, reply)
      return ownBrand(baseUrl, await changeBrand(db, seller.id, change))
    },
  )

  logoRoutes(server, parts)
}

/** An https address as it is stored. Refuses `link_not_valid`. */
function linkOf(typed: string | null): string | null {
  if (typed === null) return null
  const url = URL.canParse(typed.trim()) ? new URL(typed.trim()) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new Refusal('link_not_valid', 'A link is a whole address that begins with https://.')
  // other characters than ASCII become longer there
  if (url.href.length > LONGEST_LINK) throw new Refusal('link_not_valid', 'This link is too long.')
  return url.href
}
