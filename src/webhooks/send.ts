import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { DEADLINES } from '../kit/deadlines.ts'
import { type Lookup, type Reach, isWithinReach, vettedLookup } from '../kit/public-address.ts'
import { secondsOfRetryAfter } from './schedule.ts'

/** Of an answer we read this much, so that an endless one costs nothing, and keep the beginning. */
const READ_BYTES = 64 * 1024
const KEPT_BYTES = 2 * 1024
/** Connections that stay open for the next delivery to the same receiver. */
const IDLE_SOCKETS = 4
const IDLE_MS = 5_000

export type SendError = 'dns' | 'tls' | 'timeout' | 'refused' | 'blocked' | 'status' | 'secret'

export interface Sent {
  tookMs: number
  /** The receiver's status, if it answered. */
  status?: number
  /** Undefined: the receiver took the delivery. */
  error?: SendError
  /** The fault, or the beginning of the receiver's answer. */
  answer: string
  retryAfterSeconds?: number | undefined
}

interface Message {
  url: string
  headers: Record<string, string>
  body: string
}

export type Send = (message: Message) => Promise<Sent>

export interface SendOptions {
  reach: Reach
  tryMs?: number
  /** For tests: how names are resolved, and a certificate authority beside those of the system. */
  lookup?: Lookup | undefined
  ca?: string | undefined
}

/**
 * Posts messages to addresses that strangers have chosen. Only addresses within `reach` are connected to, checked after the name is
 * resolved. It follows no redirect, reads a limited part of the answer, and gives up after a time. Never throws.
 */
export function newSender({ reach, tryMs = DEADLINES.deliveryTryMs, lookup, ca }: SendOptions): {
  send: Send
  close: () => void
} {
  const agentOptions = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS, timeout: IDLE_MS, scheduling: 'lifo' } as const
  const agents = { http: new http.Agent(agentOptions), https: new https.Agent({ ...agentOptions, ...(ca && { ca }) }) }
  const vetted = vettedLookup(reach, lookup)

  async function send(message: Message): Promise<Sent> {
    const started = performance.now()
    const tookMs = () => Math.round(performance.now() - started)
    const problem = problemOfUrl(message.url, reach)
    if (problem) return { tookMs: tookMs(), error: 'blocked', answer: problem }
    const deadline = AbortSignal.timeout(tryMs)
    try {
      const answer = await post(message, deadline).catch((error: unknown) => {
        // the receiver closed the idle connection just now, so it has not read the request
        if (isStale(error)) return post(message, deadline, { fresh: true })
        throw error
      })
      return { ...answer, tookMs: tookMs() }
    } catch (error) {
      return { tookMs: tookMs(), ...failureOf(error, deadline.aborted) }
    }
  }

  function post(
    { url, headers, body }: Message,
    signal: AbortSignal,
    { fresh = false } = {},
  ): Promise<Omit<Sent, 'tookMs'>> {
    const isTls = url.startsWith('https:')
    return new Promise((resolve, reject) => {
      const request = (isTls ? https : http).request(url, {
        method: 'POST',
        agent: !fresh && (isTls ? agents.https : agents.http),
        ...(ca && { ca }),
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Till-Webhooks/1',
        },
        lookup: vetted,
        signal,
      })
      request.on('error', (error) => reject(Object.assign(error, { wasReused: request.reusedSocket })))
      request.on('response', (response) => resolve(beginningOf(response).then((text) => answerOf(response, text))))
      // without a listener Node drops the connection and says nothing
      request.on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(answerOf(response, ''))
      })
      // whatever ends a request, this promise settles: an endpoint whose try never ends keeps its slot
      request.on('close', () => reject(new Error('The connection ended without an answer.')))
      request.end(body)
    })
  }
  return { send, close: () => Object.values(agents).forEach((agent) => agent.destroy()) }
}

/** Why an address can never be sent to. The addresses behind a name are checked with each connection. */
export function problemOfUrl(text: string, reach: Reach): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) return 'must be an address that begins with https://'
  if (url.username || url.password) return 'must have no user and no password in it'
  // URL writes every notation of an IPv4 address (decimal, octal, hexadecimal, short) in the usual way
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const isLocal = host === 'localhost' || host.endsWith('.localhost')
  if (net.isIP(host) > 0 && !isWithinReach(host, reach)) return 'must not be an address of a private network'
  if (isLocal && reach === 'public') return 'must not be an address of this machine'
  const isOwnMachine =
    isLocal || (net.isIP(host) > 0 && isWithinReach(host, 'loopback') && !isWithinReach(host, 'public'))
  if (url.protocol === 'http:' && reach !== 'any' && !isOwnMachine) return 'must begin with https://'
  return undefined
}

/** Reads the beginning of an answer. An answer that breaks off, or that is too long or too slow, has been an answer all the same. */
async function beginningOf(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (size < KEPT_BYTES) chunks.push(chunk)
      size += chunk.length
      if (size >= READ_BYTES) break
    }
  } catch {
    // the status has arrived, and it alone decides
  }
  response.destroy()
  return textOf(Buffer.concat(chunks).subarray(0, KEPT_BYTES))
}

function answerOf({ statusCode: status, headers }: http.IncomingMessage, answer: string): Omit<Sent, 'tookMs'> {
  if (String(status).startsWith('2')) return { status: status!, answer }
  const retryAfterSeconds = secondsOfRetryAfter(headers['retry-after'])
  return { status: status!, error: 'status', answer, retryAfterSeconds }
}

const isStale = (error: unknown): boolean => {
  const { code, wasReused } = error as { code?: string; wasReused?: boolean }
  return wasReused === true && (code === 'ECONNRESET' || code === 'EPIPE')
}

const NAME_FAILURES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'EAI_NODATA', 'EAI_NONAME', 'ESERVFAIL'])
const TLS_FAILURE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|INVALID_)/

function failureOf(error: unknown, isLate: boolean): { error: SendError; answer: string } {
  if (isLate) return { error: 'timeout', answer: 'The receiver took too long.' }
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code = '', message = '', syscall = '' } = first as { code?: string; message?: string; syscall?: string }
  const answer = textOf(Buffer.from(message).subarray(0, KEPT_BYTES))
  if (code === 'OUT_OF_REACH') return { error: 'blocked', answer }
  // a name server can refuse or time out as a receiver can, by the same codes
  if (NAME_FAILURES.has(code) || syscall.startsWith('query')) return { error: 'dns', answer }
  if (TLS_FAILURE.test(code)) return { error: 'tls', answer }
  return code === 'ETIMEDOUT' ? { error: 'timeout', answer } : { error: 'refused', answer }
}

/** Text that PostgreSQL can store. */
const textOf = (bytes: Buffer): string => new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
