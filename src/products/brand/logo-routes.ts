import { Type } from 'typebox'
import { Refusal } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'
import { isId } from '../../kit/ids.ts'
import { refusing } from '../../kit/schema.ts'
import { readLogo, removeLogo, setLogo } from '../../sellers/brand.ts'
import { NEEDS_SESSION } from '../../sellers/guard.ts'
import { pictureBytes } from '../images/bytes.ts'
import { logoOf } from '../images/picture.ts'
import type { Places } from '../images/places.ts'
import { NOTHING, type ProductParts } from '../routes.ts'
import { Brand, TAG, ownBrand } from './schema.ts'

/** Takes the bytes of a picture as its body, so its server must read no bodies. */
export function setLogoRoute(server: Server, { db, browsers, baseUrl }: ProductParts, places: Places): void {
  server.put(
    '/api/brand/logo',
    {
      config: { largeBody: true },
      schema: {
        operationId: 'setLogo',
        summary: 'Give the shop a logo',
        description:
          'The body is a PNG, JPEG, WebP, AVIF or GIF of at most 10 MB and 50 million pixels. We make one small size of it and keep its transparency.',
        tags: TAG,
        security: NEEDS_SESSION,
        consumes: ['image/*'],
        body: Type.Any({ description: 'The bytes.' }),
        response: {
          200: Brand,
          ...refusing('image_not_readable', 'image_too_large', 'unsupported_media_type', 'images_busy'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      return places.withPlace(seller.id, async (arrived) => {
        const bytes = await pictureBytes(request, reply, arrived)
        const webp = await places.inTurn(() => logoOf(bytes))
        return ownBrand(baseUrl, await setLogo(db, seller.id, webp))
      })
    },
  )
}

export function logoRoutes(server: Server, { db, browsers }: ProductParts): void {
  server.delete(
    '/api/brand/logo',
    {
      schema: {
        operationId: 'removeLogo',
        summary: 'Remove the shop’s logo',
        description: 'Mails that show it go on showing it, until you have uploaded ten others.',
        tags: TAG,
        security: NEEDS_SESSION,
        response: NOTHING,
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      await removeLogo(db, seller.id)
      return reply.code(204).send(null)
    },
  )

  server.get(
    '/api/logos/:logoId',
    {
      schema: {
        operationId: 'getLogo',
        summary: 'A seller’s logo',
        description: 'Public. The logo at an address never changes.',
        tags: ['Checkout'],
        produces: ['image/webp'],
        params: Type.Object({ logoId: Type.String({ maxLength: 100 }) }),
        response: { 200: Type.Any({ description: 'The bytes.' }), ...refusing('not_found') },
      },
    },
    async (request, reply) => {
      const { logoId } = request.params
      const webp = isId('logo', logoId) ? await readLogo(db, logoId) : undefined
      if (!webp) throw new Refusal('not_found', 'There is no such logo.')
      reply.headers({
        'content-type': 'image/webp',
        'cache-control': 'public, max-age=31536000, immutable',
        'content-disposition': 'inline',
      })
      return reply.send(webp)
    },
  )
}
