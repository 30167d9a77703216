import Bowser from 'bowser'
import { retryConflicts } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { NEEDS_SESSION, sellerView } from './guard.ts'
import { NOTHING, type SellerParts, TAG, refusals } from './routes.ts'
import { CurrentSession, SessionParams, Sessions } from './schema.ts'
import { endOtherSessions, endSessionById, listSessions } from './sessions.ts'

type SessionParts = Pick<SellerParts, 'db' | 'cookies' | 'browsers'>

/** The seller sees the sessions of the account and ends them. */
export function sessionRoutes(server: Server, parts: SessionParts): void {
  getSessionRoute(server, parts)
  listSessionsRoute(server, parts)
  endOtherSessionsRoute(server, parts)
  endSessionRoute(server, parts)
}

function getSessionRoute(server: Server, { browsers }: SessionParts): void {
  server.get(
    '/api/auth/session',
    {
      schema: {
        operationId: 'getSession',
        summary: 'The current session and its seller',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: CurrentSession, ...refusals },
      },
    },
    async (request, reply) => {
      const { id, method, createdAt, recentUntil, seller } = await browsers.signedIn(request, reply)
      const times = { createdAt: createdAt.toISOString(), recentUntil: recentUntil.toISOString() }
      return { seller: sellerView(seller), session: { id, method, ...times } }
    },
  )
}

function listSessionsRoute(server: Server, { db, browsers }: SessionParts): void {
  server.get(
    '/api/auth/sessions',
    {
      schema: {
        operationId: 'listSessions',
        summary: 'Your sessions',
        description: 'Newest first. There are at most fifty: a further one ends the oldest.',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: Sessions, ...refusals },
      },
    },
    async (request, reply) => {
      const current = await browsers.signedIn(request, reply)
      const sessions = await listSessions(db, current.seller.id)
      return {
        items: sessions.map(({ id, method, userAgent, createdAt, seenAt }) => ({
          id,
          current: id === current.id,
          method,
          browser: browserName(userAgent),
          createdAt: createdAt.toISOString(),
          lastSeenAt: seenAt.toISOString(),
        })),
      }
    },
  )
}

function endOtherSessionsRoute(server: Server, { db, browsers }: SessionParts): void {
  server.delete(
    '/api/auth/sessions',
    {
      schema: {
        operationId: 'endOtherSessions',
        summary: 'Sign out everywhere else',
        tags: TAG,
        security: NEEDS_SESSION,
        response: NOTHING,
      },
    },
    async (request, reply) => {
      const { id, seller } = await browsers.signedIn(request, reply)
      await retryConflicts(() => endOtherSessions(db, seller.id, id))
      return reply.code(204).send(null)
    },
  )
}

function endSessionRoute(server: Server, { db, cookies, browsers }: SessionParts): void {
  server.delete(
    '/api/auth/sessions/:sessionId',
    {
      schema: {
        operationId: 'endSession',
        summary: 'End one of your sessions',
        tags: TAG,
        security: NEEDS_SESSION,
        params: SessionParams,
        response: { ...NOTHING, ...refusing('session_not_found') },
      },
    },
    async (request, reply) => {
      const { id, seller } = await browsers.signedIn(request, reply)
      const { sessionId } = request.params
      if (!(await retryConflicts(() => endSessionById(db, seller.id, sessionId))))
        throw new Refusal('session_not_found', 'There is no such session of yours.')
      if (sessionId === id) cookies.clear(reply, 'session')
      return reply.code(204).send(null)
    },
  )
}

/** The browser and system that the user agent names, such as "Firefox on Linux". */
function browserName(userAgent: string): string {
  const { browser, os } = Bowser.parse(userAgent || ' ')
  if (!browser.name) return 'A program'
  return os.name ? `${browser.name} on ${os.name}` : browser.name
}
