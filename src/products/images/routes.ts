import { Type } from 'typebox'
import { Refusal } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'
import { isId } from '../../kit/ids.ts'
import { refusing } from '../../kit/schema.ts'
import type { Storage } from '../../kit/storage/storage.ts'
import { needs } from '../../sellers/guard.ts'
import { findProduct } from '../find.ts'
import type { UploadLimits } from '../uploads/limits.ts'
import { setLogoRoute } from '../brand/logo-routes.ts'
import { pictureBytes, readNoBodies } from './bytes.ts'
import { type Places, imagePlaces } from './places.ts'
import { readImage } from './store.ts'
import { SIZES, type Size } from './urls.ts'
import { setImage, showImage } from './images.ts'
import { sizesOf } from './picture.ts'
import { NOTHING, type ProductParts, TAG, answer } from '../routes.ts'
import { OwnProductParams, Product } from '../schema.ts'

export interface ImageParts extends ProductParts {
  storage: Storage
  limits: UploadLimits
}

/** Sellers upload product pictures, and anybody can see them. */
export async function imageRoutes(server: Server, parts: ImageParts): Promise<void> {
  await server.register(async (scope: Server) => {
    readNoBodies(scope)
    const places = imagePlaces()
    setProductImageRoute(scope, parts, places)
    setLogoRoute(scope, parts, places)
  })
  removeProductImageRoute(server, parts)
  getImageRoute(server, parts)
}

function setProductImageRoute(server: Server, parts: ImageParts, places: Places): void {
  const { db, browsers, storage, limits } = parts
  server.put(
    '/api/products/:productId/image',
    {
      config: { largeBody: true },
      schema: {
        operationId: 'setProductImage',
        summary: 'Give a product a picture',
        description:
          'The body is a PNG, JPEG, WebP, AVIF or GIF of at most 10 MB and 50 million pixels. We make smaller sizes of it, never larger ones, and keep no other data of the file. Of an animation we use the first frame.',
        tags: TAG,
        security: needs('products:write'),
        consumes: ['image/*'],
        params: OwnProductParams,
        body: Type.Any({ description: 'The bytes.' }),
        response: {
          200: Product,
          ...refusing(
            'product_not_found',
            'image_not_readable',
            'image_too_large',
            'unsupported_media_type',
            'images_busy',
            'quota_exceeded',
            'storage_full',
            'storage_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { productId } = request.params
      await findProduct(db, seller.id, productId)
      await places.withPlace(seller.id, async (arrived) => {
        const bytes = await pictureBytes(request, reply, arrived)
        const sizes = await places.inTurn(() => sizesOf(bytes))
        await setImage(db, storage, { sellerId: seller.id, productId, limits }, sizes)
      })
      return answer(reply, await findProduct(db, seller.id, productId), parts)
    },
  )
}

function removeProductImageRoute(server: Server, { db, browsers }: ImageParts): void {
  server.delete(
    '/api/products/:productId/image',
    {
      schema: {
        operationId: 'removeProductImage',
        summary: 'Remove a product’s picture',
        description: 'Mails and links that show the picture work for another month.',
        tags: TAG,
        security: needs('products:write'),
        params: OwnProductParams,
        response: { ...NOTHING, ...refusing('product_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      await showImage(db, { sellerId: seller.id, productId: request.params.productId, imageId: null })
      return reply.code(204).send(null)
    },
  )
}

function getImageRoute(server: Server, { storage }: ImageParts): void {
  server.get(
    '/api/images/:imageId/:width',
    {
      schema: {
        operationId: 'getImage',
        summary: 'A product’s picture',
        description: 'Public. The picture at an address never changes.',
        tags: ['Checkout'],
        produces: ['image/webp', 'image/jpeg'],
        params: Type.Object({
          imageId: Type.String({ maxLength: 100 }),
          width: Type.String({ maxLength: 100, description: `One of ${SIZES.join(', ')}.` }),
        }),
        response: { 200: Type.Any({ description: 'The bytes.' }), ...refusing('not_found', 'storage_unavailable') },
      },
    },
    async (request, reply) => {
      const { imageId, width } = request.params
      const size = SIZES.find((one) => one === width)
      const bytes = size && isId('img', imageId) ? await readImage(storage, imageId, size) : undefined
      if (!bytes) throw new Refusal('not_found', 'There is no such picture.')
      reply.headers({
        'content-type': typeOf(size!),
        'cache-control': 'public, max-age=31536000, immutable',
        // we made the bytes, so they are a picture; the headers of every answer keep a browser from taking them for anything else
        'content-disposition': 'inline',
      })
      return reply.send(bytes)
    },
  )
}

const typeOf = (size: Size): string => (size === 'preview' ? 'image/jpeg' : 'image/webp')
