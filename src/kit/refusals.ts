import type { FastifyContextConfig, FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { isDatabaseOutage } from './database.ts'
import { type ProblemCode, Refusal, problemOf, refusalForStatus, statusOf } from './errors.ts'
import { freshBytes } from './ids.ts'
import { errorForLog } from './log.ts'

// Sends refusals to the client as problems (RFC 9457) with the same safe headers, even on a connection that does not speak HTTP.

const RETRY_AFTER_OUTAGE_SECONDS = 2

/** The headers of every answer. A page replaces the content security policy with its own. */
export const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'cross-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  // without includeSubDomains, because we cannot decide for the operator's other hosts
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export const newRequestId = (): string => Buffer.from(freshBytes(12)).toString('base64url')

/** Our words for the parts of a request that the framework names. */
const WORDS: Record<string, string> = {
  body: 'The body is',
  params: 'The address is',
  querystring: 'The query is',
  headers: 'The headers are',
}

/** An id in the address that is none is answered as one that does not exist. */
export const NO_SUCH: Readonly<Record<string, ProblemCode>> = {
  orderId: 'order_not_found',
  productId: 'product_not_found',
  fileId: 'file_not_found',
  discountId: 'discount_not_found',
  invoiceId: 'invoice_not_found',
  payoutId: 'payout_not_found',
  runId: 'run_not_found',
  sellerId: 'seller_not_found',
  keyId: 'key_not_found',
  sessionId: 'session_not_found',
  identityId: 'identity_not_found',
  confirmationId: 'confirmation_not_found',
  endpointId: 'webhook_endpoint_not_found',
  eventId: 'delivery_not_found',
  id: 'upload_not_found',
}

export function refusalFor(error: FastifyError, request: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error
  if (error.validation) {
    const noSuch = error.validationContext === 'params' && NO_SUCH[error.validation[0]?.instancePath.slice(1) ?? '']
    if (noSuch) return new Refusal(noSuch, 'The address has an id that does not exist.')
    const fields = error.validation.map(({ instancePath, params, message }) => {
      const member = (params as { missingProperty?: string }).missingProperty
      const path = [...instancePath.split('/').filter(Boolean), ...(member ? [member] : [])].join('.')
      return { path: path || (error.validationContext ?? ''), message: message ?? 'is not valid' }
    })
    const where = WORDS[error.validationContext ?? ''] ?? 'The request is'
    return new Refusal('validation_failed', `${where} not valid.`, { fields })
  }
  // The client ended the connection in the middle of its body and does not read the answer. It must not be logged as an outage.
  if (request.raw.errored === error) return new Refusal('bad_request', 'The request broke off.')
  if (isDatabaseOutage(error)) {
    request.log.warn({ requestId: request.id, ...errorForLog(error) }, 'the database cannot be reached')
    return new Refusal('database_unavailable', 'The service cannot reach its database.', {
      retryAfterSeconds: RETRY_AFTER_OUTAGE_SECONDS,
    })
  }
  if (error.statusCode && error.statusCode < 500) return refusalForStatus(error.statusCode)
  request.log.error({ requestId: request.id, ...errorForLog(error) }, 'a request failed')
  return new Refusal('internal_error', 'Please try again; the request id helps us to find the cause.')
}

export function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', refusal.retryAfterSeconds)
  if (refusal.limitCount !== undefined) {
    const reset = refusal.retryAfterSeconds ?? 0
    reply.headers({ 'ratelimit-limit': refusal.limitCount, 'ratelimit-remaining': 0, 'ratelimit-reset': reset })
  }
  reply.header('cache-control', 'no-store').code(statusOf(refusal.code)).type('application/problem+json')
  void reply.serializer(JSON.stringify).send(problemOf(refusal, request.id))
}

/** The routes of a server, by the path of a request. */
export interface KnownRoutes {
  add(route: AddedRoute): void
  methodsAt(path: string): string[]
  /** Whether a route at this path is for any origin. */
  anyOriginAt(path: string): boolean
}

interface AddedRoute {
  url: string
  method: string | string[]
  config?: FastifyContextConfig
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A wrong method is answered as at an unknown address, because only operators may learn of the route. */
    hidden?: boolean
  }
}

export function newKnownRoutes(): KnownRoutes {
  const known: { pattern: RegExp; method: string; anyOrigin: boolean }[] = []
  const routesAt = (path: string) => known.filter(({ pattern }) => pattern.test(path))
  return {
    add({ url, method, config }) {
      if (url.includes('*') || config?.hidden) return
      const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.]/g, '\\.')))
      const pattern = new RegExp(`^${parts.join('/')}$`)
      const anyOrigin = config?.anyOrigin === true
      for (const one of [method].flat()) known.push({ pattern, method: one, anyOrigin })
    },
    methodsAt: (path) => [...new Set(routesAt(path).map(({ method }) => method))],
    anyOriginAt: (path) => routesAt(path).some(({ anyOrigin }) => anyOrigin),
  }
}

/** 405 with `Allow` where another method would be answered, else 404: before a body is read, and whatever the method's name. */
export function refuseUnknownRoutes(
  server: { addHook: Function; setNotFoundHandler: Function },
  routes: KnownRoutes,
): void {
  server.addHook('onRoute', (route: AddedRoute) => routes.add(route))
  const refuse = (request: FastifyRequest, reply: FastifyReply): never => {
    const allowed = routes.methodsAt(request.url.split('?')[0]!)
    // a known method that still found nothing had a parameter longer than any of ours
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new Refusal('not_found', 'There is nothing at this address.')
    reply.header('allow', allowed.join(', '))
    throw new Refusal('method_not_allowed', `Only ${allowed.join(', ')} is answered here.`)
  }
  server.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    // the framework would want a body of some methods first, and answer 400 without
    if (request.is404 && !reply.sent) refuse(request, reply)
    done()
  })
  server.setNotFoundHandler(refuse)
}

/** The first line of a request whose method the parser does not know. */
const UNKNOWN_METHOD = /^[\w!#$%&'*+.^`|~-]{1,40} (\/[^\s?]{0,2000})(?:\?\S{0,8000})? HTTP\/1\.[01]\r?\n/

export const TOO_SLOW = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** Refuses on the bare connection, and closes it, when a request is not HTTP, too large or too slow. Returns the status, if any. */
export function refuseConnection(
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
  { requestId, routes }: { requestId: string; routes?: Pick<KnownRoutes, 'methodsAt'> },
): number | undefined {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const path =
    error.code === 'HPE_INVALID_METHOD' &&
    UNKNOWN_METHOD.exec(Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : '')?.[1]
  const allowed = path ? (routes?.methodsAt(path) ?? []) : []
  const status =
    allowed.length > 0
      ? 405
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? 431
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? 408
          : 400
  const refusal = refusalForStatus(status)
  const body = JSON.stringify({ ...problemOf(refusal, requestId), status })
  const reason = STATUS_CODES[status]
  const headers = Object.entries({ ...SAFE_HEADERS, 'x-request-id': requestId }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/problem+json\r\n${headers.join('')}${allowed.length > 0 ? `allow: ${allowed.join(', ')}\r\n` : ''}` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  return status
}
