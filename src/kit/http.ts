import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyContextConfig,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { NO_ADDRESS } from './addresses.ts'
import { type Floor, enforceBodyTimeout, drainBody } from './bodies.ts'
import { headHoldsCardNumber, jsonHoldsCardNumber, refusalOfBody, refusalOfHead } from './card-numbers.ts'
import { Refusal } from './errors.ts'
import { type HostOptions, hostGuard } from './hosts.ts'
import { parseJson } from './json.ts'
import { compileLazily } from './lazy-schemas.ts'
import { type Limit, networkOf, newBudget, refusalBeyond } from './limits.ts'
import type { Log } from './log.ts'
import { answerPreflight, originRules } from './origins.ts'
import { believedHops, capConnections } from './peers.ts'
import {
  type KnownRoutes,
  SAFE_HEADERS,
  TOO_SLOW,
  newKnownRoutes,
  newRequestId,
  refusalFor,
  refuseConnection,
  refuseUnknownRoutes,
  sendRefusal,
} from './refusals.ts'
import type { TrustedProxy } from './peers.ts'

const BODY_LIMIT_BYTES = 64 * 1024
/** A client that takes longer holds a connection instead of making a request. */
const HEADERS_TIMEOUT_MS = 10_000
/** The limit on the internet: an office can be behind one address, and each of its browsers opens six connections. */
export const CONNECTIONS_OF_A_NETWORK = 256
/** A client that reads nothing for this long is gone, or only holds the connection. A download can be resumed. */
const READ_SILENCE_MS = 60_000
/** Longer than a proxy in front keeps its connections, so that it never reuses one that we are closing. */
const KEEP_ALIVE_MS = 72_000
const LONGEST_PARAMETER = 512

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Any origin may call the route, without credentials: a shop's own site needs it. */
    anyOrigin?: boolean
    /** Requests do not count against their network's budget. For probes, and for notifications, which a processor signs. */
    unmetered?: boolean
  }
}

export interface HttpOptions {
  log: Log
  trustProxy: TrustedProxy
  hosts: HostOptions
  /** How many requests a network may make. Absent: no limit. */
  requests?: Limit | undefined
  /** How many connections a network may have at once. Absent: no limit. */
  connections?: number | undefined
  /** The address of the pages, the only origin that may send a session along. */
  appUrl: string
  /** The name of the session cookie. Another site's page must not be able to act with a seller's session. */
  sessionCookie: string
  /** Whether a request proves itself by a value that no other site's page can make a browser send. Then its origin does not matter. */
  needsNoOrigin?: (request: FastifyRequest) => boolean
  /** How long a client may read nothing of an answer. */
  readSilenceMs?: number
  /** The slowest accepted speed of a streamed body. */
  uploadFloor?: Floor
}

export type Server = ReturnType<typeof openFastify>

/** A server with all that its routes share: safe headers, CORS, strict JSON, problems, and one log line a request. */
export async function newServer(options: HttpOptions) {
  const { log, trustProxy, connections, readSilenceMs = READ_SILENCE_MS } = options
  const routes = newKnownRoutes()
  const server = openFastify(log, trustProxy, routes)
  if (connections) capConnections(server.server, { most: connections, trustProxy, log })
  compileLazily(server)
  readJsonOnly(server)
  checkRequests(server, options, routes)
  // the timeout starts again whenever the client reads some of the answer
  server.addHook('onSend', (_request, reply, _payload, done) => {
    reply.raw.setTimeout(readSilenceMs, () => reply.raw.destroy())
    done()
  })
  refuseUnknownRoutes(server, routes)
  server.setErrorHandler((error: FastifyError, request, reply) =>
    sendRefusal(refusalFor(error, request), request, reply),
  )
  endAndLogRequests(server, log)
  return server
}

function openFastify(log: Log, trustProxy: TrustedProxy, routes: KnownRoutes) {
  return Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: believedHops(trustProxy),
    bodyLimit: BODY_LIMIT_BYTES,
    // bodies.ts has the timeout instead, because Node's own has no exception for large files
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    genReqId: newRequestId,
    // requests need no logger of their own
    childLoggerFactory: (logger) => logger,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler(error, socket) {
      const requestId = newRequestId()
      const status = refuseConnection(error, socket, { requestId, routes })
      if (status) log.info({ requestId, status }, 'a request that could not be read')
    },
    // for an address that cannot be decoded, or has too long a parameter; the hooks do not run for these
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...SAFE_HEADERS, 'x-request-id': request.id })
      reply.raw.once('finish', () => {
        drainBody(request as FastifyRequest)
        log.info(lineOf(request as FastifyRequest, reply as FastifyReply), 'request')
      })
      sendRefusal(refusalFor(error, request as FastifyRequest), request as FastifyRequest, reply as FastifyReply)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
}

function readJsonOnly(server: Server): void {
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
}

/** Refuses requests before their routes read them. The hook takes a callback, because that is cheaper than a promise. */
function checkRequests(
  server: Server,
  { log, hosts, requests, appUrl, sessionCookie, needsNoOrigin, uploadFloor }: HttpOptions,
  routes: KnownRoutes,
): void {
  const origins = originRules(appUrl, sessionCookie)
  const refusalOfHost = hostGuard(hosts)
  const budget = newBudget(requests)
  let isWarned = false
  server.addHook('onRequest', (request, reply, done) => {
    // once, because the framework makes these options anew each time they are read
    const config: FastifyContextConfig = request.routeOptions.config ?? {}
    enforceBodyTimeout(request, {
      config,
      isAnswered: () => reply.sent || reply.raw.headersSent,
      refuse: () => void refuseConnection(TOO_SLOW, request.raw.socket, { requestId: request.id }),
      floor: uploadFloor,
    })
    // a preflight has no route of its own, so the routes at its path decide
    const isOpen = request.is404 ? routes.anyOriginAt(request.url.split('?')[0]!) : config.anyOrigin === true
    reply.headers(origins.headers(isOpen)).header('x-request-id', request.id)
    const misdirected = refusalOfHost(request, config)
    if (misdirected) return done(misdirected)
    // before the more expensive search for card numbers, and before authentication
    const network = networkOf(request.ip)
    if (network === NO_ADDRESS && !isWarned) {
      isWarned = true
      log.warn(
        'a proxy forwards client addresses that are no IP addresses: the limits count these clients as one network',
      )
    }
    const counted = config.unmetered ? undefined : budget(network)
    if (counted && !counted.within) return done(refusalBeyond(counted, 'Too many requests. Please wait a little.'))
    if (headHoldsCardNumber(request)) return done(refusalOfHead(request))
    if (!isOpen && origins.isForeign(request) && !needsNoOrigin?.(request))
      return done(new Refusal('origin_not_allowed', 'Only our own pages may make this request.'))
    if (request.method !== 'OPTIONS') return done()
    answerPreflight(reply)
  })
}

function endAndLogRequests(server: Server, log: Log): void {
  let closing = false
  server.addHook('preClose', async () => void (closing = true))
  server.addHook('onResponse', (request, reply, done) => {
    // the answer may have been sent before the whole body had arrived
    drainBody(request)
    // a connection in use when we close would stay open and idle after its answer, and delay the end of the process
    if (closing) request.raw.socket.end()
    log.info(lineOf(request, reply), 'request')
    done()
  })
}

/** The log has the route's pattern, never the address itself, which holds ids, tokens and mailboxes. */
const lineOf = ({ id, method, routeOptions }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply) => ({
  requestId: id,
  method,
  route: routeOptions.url ?? '(none)',
  status: statusCode,
  ms: Math.round(elapsedTime * 10) / 10,
})

/**
 * Accepts no new requests, lets running requests finish, and ends their connections after `mostMs`. Otherwise a client that stops
 * reading a download would keep the process from ending.
 */
export async function closeWithin(server: Server, mostMs: number): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), mostMs)
  await server.close()
  clearTimeout(cut)
}

/** Forbids caching, for answers about a person or an order. */
export function neverCached(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
}
