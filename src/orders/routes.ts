import send from '@fastify/send'
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

/** Large files are read in large pieces: fewer of them cost less. */
const READ_BYTES = 256 * 1024

/** The files themselves. Range, HEAD and resume are the file server's; whether one may have them is ours. */
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
        params: Type.Object({ token: Type.String({ maxLength: 300 }) }),
        response: {
          200: Type.Any({ description: 'The bytes.' }),
          206: Type.Any({ description: 'The part that was asked for.' }),
          302: Type.Any({ description: 'The file is in another place, at an address that is good for a minute.' }),
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
      const { root, path } = place
      // the bytes of a file id never change, so the time of their making is all a resumed download has to compare
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
        // how long the file really is, for who resumes a download (RFC 9110, 15.5.17)
        const length = sent.headers['Content-Range']
        if (length) reply.header('content-range', length)
        throw refusalForMissing(sent.statusCode)
      }
      reply.code(sent.statusCode).headers({
        ...sent.headers,
        'content-type': file.contentType,
        'content-disposition': attachment(file.name),
        // RFC 9530: what the whole file must hash to, also for a part of it
        'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
      })
      // once it flows to its reader: a listener before that would set it going
      sent.stream.once('resume', () => sent.stream.on('data', (chunk: Buffer) => passingBytes(chunk.length)))
      return reply.send(sent.stream)
    },
  )
}

function refusalForMissing(status: number): Refusal {
  if (status === 416) return new Refusal('range_not_satisfiable', 'The file has no such part.')
  if (status === 412) return new Refusal('precondition_failed', 'The file is not the one you began with.')
  return unreadable()
}
