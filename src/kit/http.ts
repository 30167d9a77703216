import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Socket } from 'node:net'
import { limitBody } from './bodies.ts'
import { headHoldsCardNumber, jsonHoldsCardNumber, refusalOfBody, refusalOfHead } from './card-numbers.ts'
import { isDatabaseOutage } from './database.ts'
import { Refusal, problemOf, refusalForStatus, statusOf } from './errors.ts'
import { freshBytes } from './ids.ts'
import { parseJson } from './json.ts'
import { compileLazily } from './lazy-schemas.ts'
import { type Log, errorForLog } from './log.ts'

const BODY_LIMIT_BYTES = 64 * 1024
/** Who sends slower than this is holding a connection, not making a request. */
const HEADERS_TIMEOUT_MS = 10_000
/** Longer than a proxy in front keeps its connections, so that it never reuses one we are closing. */
const KEEP_ALIVE_MS = 72_000
const LONGEST_PARAMETER = 512
const RETRY_AFTER_OUTAGE_SECONDS = 2
/** On every answer, whatever it is. A page puts a policy of its own in the place of this one. */
const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'cross-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  // the operator's other hosts are not ours to promise for
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
const EXPOSED_HEADERS =
  'etag, tus-resumable, upload-offset, upload-length, upload-expires, till-file, location, retry-after, x-request-id, ratelimit-limit, ratelimit-remaining, ratelimit-reset'
/** OPTIONS without what a browser adds is answered like a preflight: there is nothing to refuse. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'content-type, idempotency-key, if-match, tus-resumable, upload-length, upload-offset, upload-metadata',
  'access-control-max-age': '600',
  'content-length': '0',
}

export interface HttpOptions {
  log: Log
  trustProxy: boolean | number | string
  /** Where the pages are: the only origin that may send a session along. */
  appUrl: string
  /** Paths any origin may call, without credentials: what a shop's own site needs. */
  openPaths: RegExp
  /** The cookie that makes a request somebody's own: another site's page must not be able to send it along. */
  sessionCookie: string
}

const UNSAFE = /^(?:POST|PUT|PATCH|DELETE)$/

const newRequestId = (): string => Buffer.from(freshBytes(12)).toString('base64url')

export type Server = Awaited<ReturnType<typeof newServer>>

/** A server with everything that is the same for all routes: safe headers, CORS, strict JSON, problems, one log line a request. */
export async function newServer({ log, trustProxy, appUrl, openPaths, sessionCookie }: HttpOptions) {
  const server = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // a number is that many proxies in front of us, counted from here
    trustProxy: typeof trustProxy === 'number' ? (_address: string, hop: number) => hop < trustProxy : trustProxy,
    bodyLimit: BODY_LIMIT_BYTES,
    // bodies.ts: the platform's own knows no exception, and large files are one
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    genReqId: newRequestId,
    // nothing is logged through a request that a logger of its own would add to
    childLoggerFactory: (logger) => logger,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...SAFE_HEADERS, 'x-request-id': request.id })
      sendRefusal(
        error instanceof Refusal ? error : refusalForStatus(error.statusCode ?? 400),
        request as FastifyRequest,
        reply as FastifyReply,
      )
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  compileLazily(server)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
      if (charset && charset.toLowerCase() !== 'utf-8')
        throw new Refusal('unsupported_media_type', 'Only UTF-8 is read here.')
      if (request.headers['content-encoding'])
        throw new Refusal('unsupported_media_type', 'Compressed bodies are not read here.')
      const value = parseJson(body)
      if (jsonHoldsCardNumber(body, value)) throw refusalOfBody(value)
      return value
    },
  )

  const forAnyOrigin = {
    ...SAFE_HEADERS,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': EXPOSED_HEADERS,
  }
  const ownOrigin = new URL(appUrl).origin
  const forOwnOrigin = {
    ...forAnyOrigin,
    'access-control-allow-origin': ownOrigin,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  }
  // these hooks run for every request, so they are of the cheap kind that makes no promise
  server.addHook('onRequest', (request, reply, done) => {
    limitBody(request, () => refuseConnection(TOO_SLOW, request.raw.socket))
    // by the route that was found: an address can spell the same one in many ways
    const isOpen = openPaths.test(request.routeOptions.url ?? request.url)
    reply.headers(isOpen ? forAnyOrigin : forOwnOrigin).header('x-request-id', request.id)
    if (headHoldsCardNumber(request)) return done(refusalOfHead(request))
    if (!isOpen && UNSAFE.test(request.method) && !isFromOwnPages(request, ownOrigin, sessionCookie))
      return done(new Refusal('origin_not_allowed', 'Only our own pages may ask for this.'))
    if (request.method !== 'OPTIONS') return done()
    void reply.headers(PREFLIGHT_HEADERS).code(204).send()
  })

  refuseUnknownRoutes(server)
  server.setErrorHandler((error: FastifyError, request, reply) =>
    sendRefusal(refusalFor(error, request), request, reply),
  )
  let closing = false
  server.addHook('preClose', async () => void (closing = true))
  server.addHook('onResponse', (request, reply, done) => {
    // A line that is in use when we close would then stay open, idle, for as long as it is kept alive, and hold up our end.
    if (closing) request.raw.socket.end()
    const { method, id } = request
    // the route's pattern, never the address itself: that holds ids, tokens and mailboxes
    const line = {
      requestId: id,
      method,
      route: request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    }
    log.info(line, 'request')
    done()
  })
  return server
}

/** A browser names the page's origin whenever it changes something. Who has no browser has no session either, or must name it too. */
function isFromOwnPages({ headers }: FastifyRequest, ownOrigin: string, sessionCookie: string): boolean {
  if (headers.origin !== undefined) return headers.origin === ownOrigin
  return !headers.cookie?.split(';').some((cookie) => cookie.trimStart().startsWith(`${sessionCookie}=`))
}

/** For answers about a person or an order. */
export function neverCached(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
}

/** What the framework names by the parts of its own request. */
const WORDS: Record<string, string> = {
  body: 'The body is',
  params: 'The address is',
  querystring: 'The query is',
  headers: 'The headers are',
}

function refusalFor(error: FastifyError, request: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error
  if (error.validation) {
    const fields = error.validation.map(({ instancePath, params, message }) => {
      const member = (params as { missingProperty?: string }).missingProperty
      const path = [...instancePath.split('/').filter(Boolean), ...(member ? [member] : [])].join('.')
      return { path: path || (error.validationContext ?? ''), message: message ?? 'is not valid' }
    })
    const where = WORDS[error.validationContext ?? ''] ?? 'The request is'
    return new Refusal('validation_failed', `${where} not valid.`, { fields })
  }
  if (isDatabaseOutage(error)) {
    request.log.warn({ requestId: request.id, ...errorForLog(error) }, 'the database is away')
    return new Refusal('database_unavailable', 'The service cannot reach its database.', {
      retryAfterSeconds: RETRY_AFTER_OUTAGE_SECONDS,
    })
  }
  if (error.statusCode && error.statusCode < 500) return refusalForStatus(error.statusCode)
  request.log.error({ requestId: request.id, ...errorForLog(error) }, 'a request failed')
  return new Refusal('internal_error', 'Please try again; the request id helps us to find the cause.')
}

function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', refusal.retryAfterSeconds)
  if (refusal.limitCount !== undefined) {
    const reset = refusal.retryAfterSeconds ?? 0
    reply.headers({ 'ratelimit-limit': refusal.limitCount, 'ratelimit-remaining': 0, 'ratelimit-reset': reset })
  }
  reply.header('cache-control', 'no-store').code(statusOf(refusal.code)).type('application/problem+json')
  void reply.serializer(JSON.stringify).send(problemOf(refusal, request.id))
}

/** 405 with `Allow` where another method would be answered, else 404. */
function refuseUnknownRoutes(server: { addHook: Function; setNotFoundHandler: Function }): void {
  const known: { pattern: RegExp; method: string }[] = []
  server.addHook('onRoute', ({ url, method }: { url: string; method: string | string[] }) => {
    if (url.includes('*')) return
    const pattern = new RegExp(
      `^${url
        .split('/')
        .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.]/g, '\\.')))
        .join('/')}$`,
    )
    for (const one of [method].flat()) known.push({ pattern, method: one })
  })
  server.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?')[0]!
    const allowed = [...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
    // a known method that still found nothing had a parameter longer than any of ours
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new Refusal('not_found', 'There is nothing at this address.')
    reply.header('allow', allowed.join(', '))
    throw new Refusal('method_not_allowed', `Only ${allowed.join(', ')} is answered here.`)
  })
}

const TOO_SLOW = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** What is not even HTTP, or too large or slow to be read: answered on the bare connection, and closed. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  const refusal = refusalForStatus(status)
  const body = JSON.stringify({ ...problemOf(refusal, newRequestId()), status })
  const reason = status === 431 ? 'Request Header Fields Too Large' : status === 408 ? 'Request Timeout' : 'Bad Request'
  const headers = Object.entries(SAFE_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/problem+json\r\n${headers.join('')}` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
