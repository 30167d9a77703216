import type { FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { passingBytes } from './passing-bytes.ts'

/** Who sends slower than this is holding a connection, not making a request. */
const REQUEST_TIMEOUT_MS = 60_000
/** The least that must come of a large file in a time. */
export interface Floor {
  bytes: number
  ms: number
}
/** A large file takes as long as it takes, if it comes at all: the slowest mobile line brings twice as much. */
const UPLOAD_FLOOR: Floor = { bytes: 32 * 1024, ms: 60_000 }
/** Who is refused reads that soonest when all was sent: so much longer is listened to, and nothing of it kept. */
const DRAIN_MS = 5_000
/** What each of many streams does once for a piece costs the same for a large one; what is slow is not waited for. */
const PIECE_BYTES = 512 * 1024
const PIECE_MS = 10

/** The bodies that pass by. */
const passing = new WeakSet<object>()

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself, as it comes, however long it is. */
    streamed?: boolean
  }
}

/**
 * No body takes longer than a minute; one that is streamed takes as long as it keeps coming, and what came of it is the handler's.
 * `isAnswered`: whether the answer has begun.
 */
export function enforceBodyTimeout(
  { raw, routeOptions }: FastifyRequest,
  {
    isAnswered,
    refuse,
    floor = UPLOAD_FLOOR,
  }: { isAnswered: () => boolean; refuse: () => void; floor?: Floor | undefined },
): void {
  if (raw.headers['transfer-encoding'] === undefined && !(Number(raw.headers['content-length']) > 0)) return
  const end = () => {
    if (raw.complete) return
    // an answer that was given already is the only one: a second would be taken for that of the next request
    if (isAnswered()) return void raw.destroy()
    refuse()
    // who was refused can keep the connection half open
    const timer = setTimeout(() => raw.destroy(new Error('too slow')), DRAIN_MS)
    raw.once('close', () => clearTimeout(timer))
  }
  if (routeOptions.config.streamed) return keepPace(raw, floor, end)
  // it ends a connection, and is no reason for the process to stay
  const timer = setTimeout(end, REQUEST_TIMEOUT_MS).unref()
  const forget = () => clearTimeout(timer)
  raw.once('end', forget).once('close', forget)
}

/** Calls `end` once less than the floor has come in its time, unless it was us who read too slowly. */
function keepPace(raw: IncomingMessage, { bytes, ms }: Floor, end: () => void): void {
  let before = raw.socket.bytesRead
  const look = () => {
    const came = raw.socket.bytesRead - before
    // nothing more is taken from the connection while this is full
    const isFull = raw.readableLength >= raw.readableHighWaterMark
    if (came < bytes && !isFull) return end()
    before += came
    timer = setTimeout(look, ms).unref()
  }
  let timer = setTimeout(look, ms).unref()
  const forget = () => clearTimeout(timer)
  // what is done with all of it may take its time
  raw.once('end', forget).once('close', forget)
}

/**
 * Lets what was not read of a body pass by for a while after the answer, since whoever still sends would otherwise never read it, and
 * then ends the connection: a byte now and then would hold it for ever. A second call changes nothing.
 */
export function drainBody({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed || passing.has(raw)) return
  passing.add(raw)
  raw
    .on('error', () => {})
    .unpipe()
    .resume()
  const timer = setTimeout(() => raw.complete || raw.destroy(), DRAIN_MS)
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
      passingBytes(chunk.length)
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
