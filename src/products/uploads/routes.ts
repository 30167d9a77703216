import type { FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { Refusal, notValid } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'
import { idPattern } from '../../kit/ids.ts'
import { Time, refusing } from '../../kit/schema.ts'
import { type Browsers, needs } from '../../sellers/guard.ts'
import { type BodyReader, bodyReader } from './body-reader.ts'
import { publish } from './publish.ts'
import type { AnswerTus } from './resumable.ts'
import { tusRoutes } from './tus-routes.ts'
import {
  NOT_A_NAME,
  type FileRow,
  type Upload,
  type Uploads,
  beginUpload,
  giveUp,
  isFileName,
  keptOpen,
  viewOf,
} from './uploads.ts'

const TAG = ['Products']
const SHA256 = '^[0-9a-fA-F]{64}$'

const ProductFile = Type.Object({
  id: Type.String(),
  name: Type.String(),
  size: Type.Integer({ description: 'Bytes.' }),
  sha256: Type.String({ description: 'Hex, computed by the server.' }),
  contentType: Type.String({ description: 'Detected from the content, not from the name.' }),
  createdAt: Time,
})
const FileQuery = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^\\s*[^\\u0000\\s][^\\u0000]*$',
    description: 'The name that buyers see, and the name of the downloaded file.',
    examples: ['book.pdf'],
  }),
  sha256: Type.Optional(Type.String({ pattern: SHA256, description: 'Hex. If present, the server checks it.' })),
  replaces: Type.Optional(
    Type.String({
      pattern: idPattern('file'),
      description: 'The file that this one replaces. Buyers of the old file keep it.',
    }),
  ),
})
interface UploadRouteParts {
  browsers: Browsers
  uploads: Uploads
  reading: BodyReader
  tus: AnswerTus
}

/** Sellers upload files in one request, or in pieces that survive a broken connection and a restart of the service. */
export function uploadRoutes(server: Server, { browsers, ...uploads }: Uploads & { browsers: Browsers }): void {
  const parts = { browsers, uploads, reading: bodyReader(server), tus: lazyTus(uploads) }
  void server.register(async (scope: Server) => {
    // the handler reads the bytes itself, as they arrive
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request: FastifyRequest, _body: unknown, done: (error: null) => void) =>
      done(null),
    )
    addFileRoute(scope, parts)
    tusRoutes(scope, parts)
  })
}

/** Loads the library of the tus protocol with the first request that needs it. */
function lazyTus(uploads: Uploads): AnswerTus {
  let loading: Promise<AnswerTus> | undefined
  const load = async () => (await import('./resumable.ts')).tusOf(uploads, await uploads.storage.resumable())
  return async (...request) => (await (loading ??= load()))(...request)
}

function addFileRoute(scope: Server, { browsers, uploads, reading }: UploadRouteParts): void {
  scope.post(
    '/api/products/:productId/files',
    {
      config: { streamed: true },
      schema: {
        operationId: 'addFile',
        summary: 'Add a file to a product',
        description:
          'The body is the file itself, with its `Content-Length`: `curl --data-binary @book.pdf` or `-T book.pdf`. If the request breaks off, or the file does not match `sha256`, nothing is stored. For large files over weak connections use `/api/uploads`.',
        tags: TAG,
        security: needs('files:write'),
        params: Type.Object({ productId: Type.String({ pattern: idPattern('prod') }) }),
        querystring: FileQuery,
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
            'unsupported_media_type',
          ),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
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
        return store(uploads, begun, body())
      })
      return reply.code(201).send(viewOf(upload))
    },
  )
}

async function store({ db, storage }: Uploads, upload: Upload, body: Readable): Promise<FileRow> {
  try {
    return await publish(db, storage, upload, await keptOpen(db, upload.id, storage.put(upload.id, body)))
  } catch (error) {
    await giveUp(db, storage, upload.id).catch(() => {})
    throw error
  }
}

function lengthOf({ headers }: FastifyRequest): number {
  const { 'content-length': length, 'content-encoding': encoding, 'content-type': type } = headers
  if (encoding) throw new Refusal('unsupported_media_type', 'Send the bytes as they are, without a Content-Encoding.')
  if (/^multipart\//i.test(type ?? ''))
    throw new Refusal('unsupported_media_type', 'Send the bytes themselves, and not a form.')
  if (length === undefined) throw new Refusal('length_required', 'Content-Length says how many bytes will come.')
  return Number(length)
}
