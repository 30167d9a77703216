import send from '@fastify/send'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { errorForLog } from '../kit/log.ts'
import type { Signer } from '../kit/signing.ts'
import { passingBytes } from '../kit/passing-bytes.ts'
import { refusalOfStorage, unreadable } from '../kit/storage/refusals.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { attachment, redeemDownload } from './downloads.ts'

/** Large files are read in large pieces, because each piece costs time. */
const READ_BYTES = 256 * 1024

/** Buyers download files. The file server answers Range, HEAD and resumed requests; we decide whether the buyer may have the file. */
export function downloadRoutes(
  server: Server,
  { db, storage, signer }: { db: Db; storage: Storage; signer: Signer },
): void {
  server.get(
    '/api/downloads/:token',
    {
      schema: {
        operationId: 'download',
        summary: 'A file that was bought',
        tags: ['Checkout'],
        produces: ['application/octet-stream'],
        params: Type.Object({
          token: Type.String({ maxLength: 300, description: 'The signed token of a download link.' }),
        }),
        response: {
          200: Type.Any({ description: 'The bytes.' }),
          206: Type.Any({ description: 'The requested part.' }),
          302: Type.Any({ description: 'The file is at another address, which works for a minute.' }),
          ...refusing(
            'download_link_invalid',
            'download_link_expired',
            'download_not_available',
            'file_withdrawn',
            'precondition_failed',
            'range_not_satisfiable',
            'storage_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const file = await redeemDownload(db, signer, request.params.token)
      const place = await storage
        .serve(file.fileId, {
          disposition: attachment(file.name),
          contentType: file.contentType,
          method: request.method === 'HEAD' ? 'HEAD' : 'GET',
        })
        .catch((error: unknown) => {
          request.log.warn({ requestId: request.id, ...errorForLog(error) }, 'the storage failed')
          throw refusalOfStorage(error)
        })
      if (!place) throw unreadable()
      if ('url' in place) return reply.redirect(place.url, 302)
      return sendFile(request, reply, file, place)
    },
  )
}

/** Sends the file, or the part of it that the request names, from the disk. */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: Awaited<ReturnType<typeof redeemDownload>>,
  { root, path }: { root: string; path: string },
) {
  // the bytes of a file id never change, so a resumed download only has to compare the time at which the file was made
  const sent = await send(request.raw, `/${path.replaceAll('\\', '/')}`, {
    root,
    etag: false,
    lastModified: true,
    cacheControl: false,
    contentType: false,
    index: false,
    dotfiles: 'deny',
    highWaterMark: READ_BYTES,
  })
  if (sent.type === 'error') {
    // the real length of the file, for a client that resumes a download (RFC 9110, 15.5.17)
    const length = sent.headers['Content-Range']
    if (length) reply.header('content-range', length)
    throw refusalForMissing(sent.statusCode)
  }
  reply.code(sent.statusCode).headers({
    ...sent.headers,
    'content-type': file.contentType,
    'content-disposition': attachment(file.name),
    // RFC 9530: the hash is that of the whole file, also in the answer with a part
    'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
  })
  // an earlier "data" listener would start the stream before its reader is there
  sent.stream.once('resume', () => sent.stream.on('data', (chunk: Buffer) => passingBytes(chunk.length)))
  return reply.send(sent.stream)
}

function refusalForMissing(status: number): Refusal {
  if (status === 416) return new Refusal('range_not_satisfiable', 'The file has no such part.')
  if (status === 412) return new Refusal('precondition_failed', 'The file is not the one you began with.')
  return unreadable()
}
