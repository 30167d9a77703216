import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { Refusal } from '../../kit/errors.ts'
import { bodyOf, drainBody } from '../../kit/bodies.ts'
import type { Server } from '../../kit/http.ts'
import { idPattern } from '../../kit/ids.ts'
import { errorForLog } from '../../kit/log.ts'
import { notValid } from '../../kit/period.ts'
import { Time, refusing } from '../../kit/schema.ts'
import { isOfStorage, refusalOfStorage } from '../../kit/storage/refusals.ts'
import { type Browsers, NEEDS_SESSION } from '../../sellers/guard.ts'
import type { AnswerTus } from './resumable.ts'
import {
  NOT_A_NAME,
  type FileRow,
  type Upload,
  type Uploads,
  beginUpload,
  giveUp,
  isFileName,
  publish,
  viewOf,
} from './uploads.ts'

const TAG = ['Products']
/** Of the time that the end of the service may take. */
const CLOSE_MS = 5_000
const SHA256 = '^[0-9a-fA-F]{64}$'

const ProductFile = Type.Object({
  id: Type.String(),
  name: Type.String(),
  size: Type.Integer({ description: 'Bytes.' }),
  sha256: Type.String({ description: 'Hex, computed here.' }),
  contentType: Type.String({ description: 'By its content, whatever its name says.' }),
  createdAt: Time,
})
const UploadParams = Type.Object({ id: Type.String({ pattern: idPattern('file') }) })
const UploadAnswer = Type.Null({
  description: '`Upload-Offset` says how much is here; `Till-File` is the file’s id once all of it is, and only then.',
})

/** Files come here: in one request, or in pieces that survive whatever happens to the network and to us. */
export function uploadRoutes(server: Server, { browsers, ...uploads }: Uploads & { browsers: Browsers }): void {
  const { db, storage } = uploads
  let loading: Promise<AnswerTus> | undefined
  // loaded when the first piece comes
  const load = async () => (await import('./resumable.ts')).tusOf(uploads, await storage.resumable())
  const tus: AnswerTus = async (...asked) => (await (loading ??= load()))(...asked)

  /** What is being read. Who has pieces goes on elsewhere; the rest may end by itself, for a while. */
  const underWay = new Set<FastifyRequest['raw']>()
  server.addHook('preClose', async () => {
    for (const raw of underWay) setTimeout(() => raw.destroy(new Error('closing')), CLOSE_MS)
  })
  const reading = <T>(request: FastifyRequest, work: (body: () => Readable) => Promise<T>): Promise<T> => {
    underWay.add(request.raw)
    return readBody(request, work).finally(() => underWay.delete(request.raw))
  }

  void server.register(async (scope: Server) => {
    // the bytes are read by whoever stores them
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request: FastifyRequest, _body: unknown, done: (error: null) => void) =>
      done(null),
    )

    scope.post(
      '/api/products/:productId/files',
      {
        config: { streamed: true },
        schema: {
          operationId: 'addFile',
          summary: 'Add a file to a product',
          description:
            'The body is the file, byte for byte, with its `Content-Length`: `curl --data-binary @book.pdf` or `-T book.pdf`. Nothing is kept of one that breaks off or does not hash to `sha256`. For large files over weak lines there is `/api/uploads`.',
          tags: TAG,
          security: NEEDS_SESSION,
          params: Type.Object({ productId: Type.String({ pattern: idPattern('prod') }) }),
          querystring: Type.Object({
            name: Type.String({
              minLength: 1,
              maxLength: 255,
              pattern: '^\\s*[^\\u0000\\s][^\\u0000]*$',
              description: 'What buyers see, and what the file is called on their disk.',
              examples: ['book.pdf'],
            }),
            sha256: Type.Optional(Type.String({ pattern: SHA256, description: 'Hex. Then it is checked.' })),
            replaces: Type.Optional(
              Type.String({
                pattern: idPattern('file'),
                description: 'The file in whose place it comes. Who has bought that one keeps it.',
              }),
            ),
          }),
          response: {
            201: ProductFile,
            ...refusing(
              'product_not_found',
              'file_not_found',
              'length_required',
              'checksum_mismatch',
              'file_withdrawn',
              'file_too_large',
              'quota_exceeded',
              'storage_full',
              'storage_unavailable',
              'bad_request',
            ),
          },
        },
      },
      async (request, reply) => {
        const { seller } = await browsers.signedIn(request, reply)
        const { name, sha256, replaces } = request.query
        if (!isFileName(name)) throw notValid('name', NOT_A_NAME)
        const upload = await reading(request, async (body) => {
          const begun = await beginUpload(uploads, {
            sellerId: seller.id,
            productId: request.params.productId,
            name,
            sizeBytes: lengthOf(request),
            sha256: sha256?.toLowerCase(),
            replaces,
          })
          return store(begun, body())
        })
        return reply.code(201).send(viewOf(upload))
      },
    )

    for (const { method, url, answers, ...schema } of TUS_ROUTES)
      scope.route({
        method,
        url,
        config: { streamed: true, swagger: { exposeHeadRoute: true } },
        schema: {
          tags: TAG,
          security: NEEDS_SESSION,
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
          const { seller } = await browsers.signedIn(request, reply)
          const hasBody = method === 'POST' || method === 'PATCH'
          const { status, headers } = await reading(request, (body) =>
            tus(request, seller.id, hasBody ? body() : undefined),
          )
          return (reply as FastifyReply).code(status).headers(headers).send()
        },
      })
  })

  async function store(upload: Upload, body: Readable): Promise<FileRow> {
    try {
      return await publish(db, storage, upload, await storage.put(upload.id, body))
    } catch (error) {
      await giveUp(db, storage, upload.id).catch(() => {})
      throw error
    }
  }
}

/** Whatever goes wrong while a body is read is told to who sends it, as far as somebody listens. */
async function readBody<T>(request: FastifyRequest, work: (body: () => Readable) => Promise<T>): Promise<T> {
  try {
    return await work(() => bodyOf(request))
  } catch (error) {
    const { raw } = request
    const brokenOff = raw.destroyed && !raw.complete
    drainBody(request)
    if (brokenOff) throw new Refusal('bad_request', 'The request broke off.')
    if (!isOfStorage(error)) throw error
    request.log.warn({ requestId: request.id, ...errorForLog(error) }, 'the storage failed')
    throw refusalOfStorage(error)
  }
}

function lengthOf({ headers }: FastifyRequest): number {
  const { 'content-length': length, 'content-encoding': encoding, 'content-type': type } = headers
  if (encoding) throw new Refusal('unsupported_media_type', 'Send the bytes as they are: nothing is unpacked here.')
  if (/^multipart\//i.test(type ?? ''))
    throw new Refusal('unsupported_media_type', 'Send the bytes themselves, and not a form.')
  if (length === undefined) throw new Refusal('length_required', 'Content-Length says how many bytes will come.')
  return Number(length)
}

const TUS_ROUTES = [
  {
    method: 'POST',
    answers: 201,
    url: '/api/uploads',
    operationId: 'beginUpload',
    summary: 'Begin an upload that can be interrupted',
    description:
      'The tus protocol, 1.0.0, with creation, termination and expiration; all of its clients will do. `Upload-Metadata` holds `productId`, `filename`, and where wanted `sha256` (hex, of the whole file) and `replaces` (a file’s id). What is silent for a day is given up.',
  },
  {
    method: 'HEAD',
    answers: 200,
    url: '/api/uploads/:id',
    params: UploadParams,
    operationId: 'lookAtUpload',
    summary: 'How much of an upload is here',
  },
  {
    method: 'PATCH',
    answers: 204,
    url: '/api/uploads/:id',
    params: UploadParams,
    operationId: 'continueUpload',
    summary: 'The next bytes of an upload',
    description: 'The last of them makes it a file of the product, whose id is in `Till-File`.',
  },
  {
    method: 'DELETE',
    answers: 204,
    url: '/api/uploads/:id',
    params: UploadParams,
    operationId: 'endUpload',
    summary: 'Give up an upload',
  },
] as const
