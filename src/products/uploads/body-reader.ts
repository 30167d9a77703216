import type { FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { bodyOf, drainBody } from '../../kit/bodies.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'
import { errorForLog } from '../../kit/log.ts'
import { isOfStorage, refusalOfStorage } from '../../kit/storage/refusals.ts'

/** How long a body may still take once the service ends: a part of the time that the end may take in all. */
const CLOSE_MS = 5_000

export type BodyReader = <T>(request: FastifyRequest, work: (body: () => Readable) => Promise<T>) => Promise<T>

/**
 * Knows the requests whose bodies are being read. When the service ends, they may run for a while longer. A client that sends pieces
 * then goes on at another instance.
 */
export function bodyReader(server: Server): BodyReader {
  const underWay = new Set<FastifyRequest['raw']>()
  server.addHook('preClose', async () => {
    for (const raw of underWay) setTimeout(() => raw.destroy(new Error('closing')), CLOSE_MS)
  })
  return (request, work) => {
    underWay.add(request.raw)
    return readBody(request, work).finally(() => underWay.delete(request.raw))
  }
}

/** Tells the client about every error while its body is read, as long as the connection is there. */
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
