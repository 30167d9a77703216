import type { FastifyRequest } from 'fastify'
import { type Readable, Transform } from 'node:stream'

/** Who sends slower than this is holding a connection, not making a request. */
const REQUEST_TIMEOUT_MS = 60_000
/** A large file takes as long as it takes, if it comes at all. */
const SILENCE_MS = 60_000
/** Who is refused reads that soonest when all was sent: so much longer is listened to, and nothing of it kept. */
const DRAIN_MS = 5_000
/** What each of many streams does once for a piece costs the same for a large one; what is slow is not waited for. */
const PIECE_BYTES = 512 * 1024
const PIECE_MS = 10

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself, as it comes, however long it is. */
    streamed?: boolean
  }
}

/** No body takes longer than a minute; one that is streamed is not silent for longer. */
export function limitBody({ raw, routeOptions }: FastifyRequest, refuse: () => void): void {
  if (raw.headers['transfer-encoding'] === undefined && !(Number(raw.headers['content-length']) > 0)) return
  const end = () => raw.complete || refuse()
  if (routeOptions.config.streamed) {
    raw.setTimeout(SILENCE_MS, end)
    // what is done with all of it may take its time
    raw.once('end', () => raw.setTimeout(0))
    return
  }
  // it ends a connection, and is no reason for the process to stay
  const timer = setTimeout(end, REQUEST_TIMEOUT_MS).unref()
  const forget = () => clearTimeout(timer)
  raw.once('end', forget).once('close', forget)
}

/** Lets what was not read of a body pass by for a while: whoever still sends would otherwise never read our answer. */
export function passBy({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed) return
  raw
    .on('error', () => {})
    .unpipe()
    .resume()
  const timer = setTimeout(() => raw.complete || raw.socket.destroy(), DRAIN_MS)
  raw.once('close', () => clearTimeout(timer))
}

/** The body as it comes, in larger pieces. Its end in the middle is not the connection's: there is still an answer to be sent. */
export function bodyOf({ raw }: FastifyRequest): Readable {
  let held: Buffer[] = []
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const pass = () => {
    clearTimeout(timer)
    timer = undefined
    if (length > 0 && !body.destroyed) body.push(held.length === 1 ? held[0] : Buffer.concat(held, length))
    held = []
    length = 0
  }
  const body = new Transform({
    readableHighWaterMark: PIECE_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      held.push(chunk)
      length += chunk.length
      // passed on from here it waits until there is room; by the timer it would not
      if (length >= PIECE_BYTES || body.readableLength >= PIECE_BYTES) pass()
      else timer ??= setTimeout(pass, PIECE_MS)
      done()
    },
    flush(done) {
      pass()
      done()
    },
    destroy(error, done) {
      clearTimeout(timer)
      done(error)
    },
  })
  raw.on('error', (error) => body.destroy(error))
  body.on('error', () => {})
  return raw.pipe(body)
}
