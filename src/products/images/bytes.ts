import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../kit/errors.ts'
import type { Server } from '../../kit/http.ts'

const MOST_BYTES = 10_000_000
const TOO_LARGE = `A picture may have at most ${MOST_BYTES / 1_000_000} MB.`

/** For routes that take a picture: its content says of which kind it is, and a handler reads the bytes once it knows the seller. */
export function readNoBodies(scope: Server): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request: unknown, _body: unknown, done: (error: null) => void) => done(null))
}

/** Reads the whole body. Refuses `image_too_large` by the announced length, or as soon as more bytes come. */
export async function pictureBytes(
  { raw, headers }: FastifyRequest,
  reply: FastifyReply,
  arrived: (bytes: number) => void,
): Promise<Buffer> {
  if (headers['content-encoding']) throw new Refusal('unsupported_media_type', 'Compressed bodies are not read here.')
  const chunks: Buffer[] = []
  let size = 0
  const refuseLarge = () => {
    throw new Refusal('image_too_large', TOO_LARGE)
  }
  try {
    if (Number(headers['content-length']) > MOST_BYTES) refuseLarge()
    for await (const chunk of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MOST_BYTES) refuseLarge()
      arrived(chunk.length)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refusal) {
      // we do not wait for the rest of the body
      reply.header('connection', 'close')
      throw error
    }
    // the connection broke off, so this answer reaches no client
    throw new Refusal('bad_request', 'The picture did not arrive whole.', { cause: error })
  }
  return Buffer.concat(chunks, size)
}
