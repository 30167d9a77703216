import type { FastifyRequest } from 'fastify'

/** Who sends slower than this is holding a connection, not making a request. */
const REQUEST_TIMEOUT_MS = 60_000
/** A large file takes as long as it takes, if it comes at all. */
const SILENCE_MS = 60_000
/** Who is refused reads that soonest when all was sent: so much longer is listened to, and nothing of it kept. */
const DRAIN_MS = 5_000

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
  const timer = setTimeout(end, REQUEST_TIMEOUT_MS)
  raw.once('close', () => clearTimeout(timer))
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
