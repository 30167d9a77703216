import type { FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { bodyOf, drainBody } from '../../kit/bodies.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'
import { errorForLog } from '../../kit/log.ts'
import { isOfStorage, refusalOfStorage } from '../../kit/storage/refusals.ts'

/** The time that a body may still take when the service stops. It is a part of the whole time for stopping. */
const CLOSE_MS = 5_000

export type BodyReader = <T>(request: FastifyRequest, work: (body: () => Readable) => Promise<T>) => Promise<T>

/**
 * Tracks the requests whose bodies are being read. When the service stops, they may run for a while longer. A client of a resumable
 * upload then continues at another instance.
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

/** Runs `work`, and reads the rest of the body after an error, so that the client gets our answer. */
async function readBody<T>(request: FastifyRequest, work: (body: () => Readable) => Promise<T>): Promise<T> {
  try {
    return await work(() => bodyOf(request))
  } catch (error) {
    const { raw } = request
    // all bytes can have arrived and still be unread when the client leaves
    const brokenOff = raw.destroyed && !raw.readableEnded
    drainBody(request)
    if (brokenOff) throw new Refusal('bad_request', 'The request broke off.')
    if (!isOfStorage(error)) throw error
    request.log.warn({ requestId: request.id, ...errorForLog(error) }, 'the storage failed')
    throw refusalOfStorage(error)
  }
}
