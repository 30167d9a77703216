import type { FastifyReply, FastifyRequest } from 'fastify'
import { SAFE_HEADERS } from './refusals.ts'

const EXPOSED_HEADERS =
  'etag, tus-resumable, upload-offset, upload-length, upload-expires, till-file, location, retry-after, x-request-id, ratelimit-limit, ratelimit-remaining, ratelimit-reset'
const FOR_ANY_ORIGIN = {
  ...SAFE_HEADERS,
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
}
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'content-type, idempotency-key, if-match, tus-resumable, upload-length, upload-offset, upload-metadata, authorization, till-seller',
  'access-control-max-age': '600',
  'content-length': '0',
}
const UNSAFE = /^(?:POST|PUT|PATCH|DELETE)$/

/** The rules for other sites (CORS). A route is open when any origin may call it. */
export interface OriginRules {
  /** The headers of an answer: the safe ones, and those for the origin. */
  headers(isOpen: boolean): Record<string, string>
  /** Whether another site's page may be behind a request that changes something. */
  isForeign(request: FastifyRequest): boolean
}

/** Only pages at `appUrl` may send a session along, so that another site's page cannot act with a seller's session. */
export function originRules(appUrl: string, sessionCookie: string): OriginRules {
  const ownOrigin = new URL(appUrl).origin
  const forOwnOrigin = {
    ...FOR_ANY_ORIGIN,
    'access-control-allow-origin': ownOrigin,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  }
  return {
    headers: (isOpen) => (isOpen ? FOR_ANY_ORIGIN : forOwnOrigin),
    isForeign: ({ method, headers }) => UNSAFE.test(method) && !isFromOwnPages(headers, ownOrigin, sessionCookie),
  }
}

/** Answers an OPTIONS request. One without a browser's headers gets the same answer, since there is nothing to refuse. */
export function answerPreflight(reply: FastifyReply): void {
  void reply.headers(PREFLIGHT_HEADERS).code(204).send()
}

/**
 * Browsers send `Origin` with every request that changes something. A request without `Origin` is no browser's, so it is allowed
 * unless it carries a session.
 */
function isFromOwnPages(headers: FastifyRequest['headers'], ownOrigin: string, sessionCookie: string): boolean {
  if (headers.origin !== undefined) return headers.origin === ownOrigin
  return !headers.cookie?.split(';').some((cookie) => cookie.trimStart().startsWith(`${sessionCookie}=`))
}
