import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Server } from '../../kit/http.ts'
import { idPattern } from '../../kit/ids.ts'
import { refusing } from '../../kit/schema.ts'
import { type Browsers, needs } from '../../sellers/guard.ts'
import type { BodyReader } from './body-reader.ts'
import type { AnswerTus } from './resumable.ts'

const TAG = ['Products']
const UploadParams = Type.Object({
  id: Type.String({
    pattern: idPattern('file'),
    description: 'The id of the upload, which becomes the id of the file.',
  }),
})
const UploadAnswer = Type.Null({
  description:
    '`Upload-Offset` is the number of bytes received. `Till-File` is the file’s id, once all bytes are received.',
})

interface TusRouteParts {
  browsers: Browsers
  reading: BodyReader
  tus: AnswerTus
}

/** Uploads in pieces: https://tus.io/protocols/resumable-upload */
export function tusRoutes(scope: Server, parts: TusRouteParts): void {
  for (const route of TUS_ROUTES) tusRoute(scope, parts, route)
}

function tusRoute(
  scope: Server,
  { browsers, reading, tus }: TusRouteParts,
  { method, url, answers, ...schema }: (typeof TUS_ROUTES)[number],
): void {
  scope.route({
    method,
    url,
    config: { streamed: true, swagger: { exposeHeadRoute: true } },
    schema: {
      tags: TAG,
      security: needs('files:write'),
      ...schema,
      response: {
        [answers]: UploadAnswer,
        ...refusing(
          'product_not_found',
          'file_not_found',
          'file_too_large',
          'quota_exceeded',
          'checksum_mismatch',
          'file_withdrawn',
          'upload_not_found',
          'upload_expired',
          'upload_finished',
          'upload_in_progress',
          'upload_offset_differs',
          'tus_version_unsupported',
          'length_required',
          'storage_full',
          'storage_unavailable',
          'bad_request',
        ),
      },
    },
    handler: async (request, reply) => {
      reply.header('tus-resumable', '1.0.0')
      const { seller, productIds } = await browsers.caller(request, reply, { narrows: true })
      const hasBody = method === 'POST' || method === 'PATCH'
      const { status, headers } = await reading(request, (body) =>
        tus(request, { sellerId: seller.id, productIds }, hasBody ? body() : undefined),
      )
      return (reply as FastifyReply).code(status).headers(headers).send()
    },
  })
}

const TUS_ROUTES = [
  {
    method: 'POST',
    answers: 201,
    url: '/api/uploads',
    operationId: 'beginUpload',
    summary: 'Begin an upload that can be interrupted',
    description:
      'The tus protocol, 1.0.0, with creation, termination and expiration. Any tus client works. `Upload-Metadata` holds `productId`, `filename`, and optionally `sha256` (hex, of the whole file) and `replaces` (a file’s id). An upload without a request for a day ends.',
  },
  {
    method: 'HEAD',
    answers: 200,
    url: '/api/uploads/:id',
    params: UploadParams,
    operationId: 'lookAtUpload',
    summary: 'The number of bytes received',
  },
  {
    method: 'PATCH',
    answers: 204,
    url: '/api/uploads/:id',
    params: UploadParams,
    operationId: 'continueUpload',
    summary: 'The next bytes of an upload',
    description: 'With the last bytes the upload becomes a file of the product. `Till-File` is its id.',
  },
  {
    method: 'DELETE',
    answers: 204,
    url: '/api/uploads/:id',
    params: UploadParams,
    operationId: 'endUpload',
    summary: 'End an upload',
  },
] as const
