import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { passingBytes } from './passing-bytes.ts'

/** A client that takes longer holds a connection instead of making a request. */
const REQUEST_TIMEOUT_MS = 60_000
/** A body of some megabytes takes minutes on a slow line. The pages wait as long for its answer. */
const LARGE_BODY_TIMEOUT_MS = 300_000
/** The slowest upload that is accepted: at least `bytes` in every `ms`. */
export interface Floor {
  bytes: number
  ms: number
}
/** A large file may take any time while it keeps arriving. Even the slowest mobile connection is twice as fast as this floor. */
const UPLOAD_FLOOR: Floor = { bytes: 32 * 1024, ms: 60_000 }
/**
 * Most clients read an answer only after they have sent the whole body. So after a refusal the server reads and discards the rest of
 * the body for this long.
 */
const DRAIN_MS = 5_000
/** Each piece costs every stream the same work, whatever its size. So pieces are large, but a slow sender's piece waits only this long. */
const PIECE_BYTES = 512 * 1024
const PIECE_MS = 10

/** The requests whose unread body is being discarded. */
const draining = new WeakSet<object>()

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself as a stream of any length. */
    streamed?: boolean
    /** The body is kept in memory and may have some megabytes, so it may take longer than a minute. */
    largeBody?: boolean
  }
}

/**
 * Ends a request whose body takes longer than a minute, or five if it is large. A streamed body may take longer while it keeps up with
 * the floor, and its handler keeps the bytes that arrived. `isAnswered` tells whether the answer has begun.
 */
export function enforceBodyTimeout(
  { raw }: FastifyRequest,
  {
    config,
    isAnswered,
    refuse,
    floor = UPLOAD_FLOOR,
  }: { config: FastifyContextConfig; isAnswered: () => boolean; refuse: () => void; floor?: Floor | undefined },
): void {
  if (raw.headers['transfer-encoding'] === undefined && !(Number(raw.headers['content-length']) > 0)) return
  const end = () => {
    if (raw.complete) return
    // the client would take a second answer for the answer to its next request
    if (isAnswered()) return void raw.destroy()
    refuse()
    // a refused client can keep the connection half open
    const timer = setTimeout(() => raw.destroy(new Error('too slow')), DRAIN_MS)
    raw.once('close', () => clearTimeout(timer))
  }
  if (config.streamed) return keepPace(raw, floor, end)
  // unref: the timer must not keep the process alive
  const timer = setTimeout(end, config.largeBody ? LARGE_BODY_TIMEOUT_MS : REQUEST_TIMEOUT_MS).unref()
  const forget = () => clearTimeout(timer)
  raw.once('end', forget).once('close', forget)
}

/** Calls `end` when the client sends slower than the floor. Time in which we read too slowly does not count. */
function keepPace(raw: IncomingMessage, { bytes, ms }: Floor, end: () => void): void {
  let before = raw.socket.bytesRead
  const look = () => {
    const received = raw.socket.bytesRead - before
    // while the buffer is full, Node takes nothing more from the connection
    const isFull = raw.readableLength >= raw.readableHighWaterMark
    if (received < bytes && !isFull) return end()
    before += received
    timer = setTimeout(look, ms).unref()
  }
  let timer = setTimeout(look, ms).unref()
  const forget = () => clearTimeout(timer)
  // once the whole body has arrived, the handler may take its time
  raw.once('end', forget).once('close', forget)
}

/**
 * Discards the unread rest of a body for a while after the answer, because a client that still sends would otherwise never read the
 * answer. Then ends the connection, which a byte now and then would otherwise hold for ever. A second call changes nothing.
 */
export function drainBody({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed || draining.has(raw)) return
  draining.add(raw)
  raw
    .on('error', () => {})
    .unpipe()
    .resume()
  const timer = setTimeout(() => raw.complete || raw.destroy(), DRAIN_MS)
  raw.once('close', () => clearTimeout(timer))
}

/** The body as a stream of larger pieces. Destroying this stream leaves the connection open, because an answer must still be sent. */
export function bodyOf({ raw }: FastifyRequest): Readable {
  let chunks: Buffer[] = []
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const pass = () => {
    clearTimeout(timer)
    timer = undefined
    if (length > 0 && !body.destroyed) body.push(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length))
    chunks = []
    length = 0
  }
  const body = new Transform({
    readableHighWaterMark: PIECE_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      length += chunk.length
      passingBytes(chunk.length)
      // a piece passed on here waits until the reader has room; a piece passed on by the timer would not
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
  const breakOff = (error?: Error | null) => body.destroy(error ?? new Error('the request broke off'))
  body.on('error', () => {})
  // the client left while the handler asked the database: neither bytes nor an `error` will come any more
  if (raw.destroyed && !raw.readableEnded) return breakOff(raw.errored)
  raw.on('error', breakOff).once('close', () => void (raw.readableEnded || breakOff()))
  return raw.pipe(body)
}
