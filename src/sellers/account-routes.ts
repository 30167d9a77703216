import Bowser from 'bowser'
import { retryConflicts } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { changeEmail } from './change-email.ts'
import { changeSeller } from './change-seller.ts'
import { findAwaited } from './codes.ts'
import { refusing } from '../kit/schema.ts'
import { NEEDS_SESSION, sellerView } from './guard.ts'
import { listEvents } from './history.ts'
import { NOTHING, type SellerParts, TAG, refusals } from './routes.ts'
import { saleMailRoutes } from './sale-mail-routes.ts'
import {
  CodeSent,
  CurrentSession,
  EmailChange,
  EmailVerification,
  History,
  SellerChange,
  SessionParams,
  Sessions,
  SignedInSeller,
} from './schema.ts'
import { endOtherSessions, endSessionById, listSessions } from './sessions.ts'

/** Who is signed in, where, and under which name and mailbox. */
export function accountRoutes(server: Server, parts: SellerParts): void {
  const { db, cookies, browsers, sendCode } = parts
  saleMailRoutes(server, parts)

  server.get(
    '/api/auth/session',
    {
      schema: {
        operationId: 'getSession',
        summary: 'Who is signed in',
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

  server.get(
    '/api/auth/sessions',
    {
      schema: {
        operationId: 'listSessions',
        summary: 'Where one is signed in',
        description: 'The newest first, at most fifty: a further one ends the oldest.',
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

  server.delete(
    '/api/auth/sessions/:sessionId',
    {
      schema: {
        operationId: 'endSession',
        summary: 'End one of one’s own sessions',
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

  server.get(
    '/api/auth/history',
    {
      schema: {
        operationId: 'listAccountEvents',
        summary: 'What has changed in what protects the account',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: History, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const events = await listEvents(db, seller.id)
      return { items: events.map(({ at, ...event }) => ({ at: at.toISOString(), ...event })) }
    },
  )

  server.patch(
    '/api/auth/seller',
    {
      schema: {
        operationId: 'renameSeller',
        summary: 'Change the name and the support address that buyers read',
        description:
          'What is left out stays as it is. Another support address needs a sign-in of the last ten minutes, and the owner is told.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: SellerChange,
        response: { 200: SignedInSeller, ...refusing('recent_sign_in_required') },
      },
    },
    async (request, reply) => {
      const signedIn = await browsers.signedIn(request, reply)
      const { name, supportEmail: given } = request.body
      const supportEmail = given && canonicalEmail(given)
      // whoever has stolen a session must not have buyers write to them
      if (supportEmail !== undefined && supportEmail !== signedIn.seller.supportEmail)
        await browsers.recentlySignedIn(request, reply)
      const seller = await changeSeller(parts, signedIn, { name: name?.trim(), supportEmail })
      return { seller: sellerView(seller) }
    },
  )

  server.post(
    '/api/auth/email',
    {
      schema: {
        operationId: 'requestEmailChange',
        summary: 'Move the account to another mailbox',
        description:
          'Within ten minutes of signing in. A code goes to the new mailbox; nothing changes until it answers.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: EmailChange,
        response: { 202: CodeSent, ...refusing('recent_sign_in_required', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const { id: sessionId } = await browsers.recentlySignedIn(request, reply)
      const email = canonicalEmail(request.body.email)
      const { holder, keep } = browsers.newCodeHolder(request)
      const { resendAfterSeconds: resendAfter } = await sendCode({
        email,
        purpose: 'change_email',
        sessionId,
        asker: browsers.counted(request, email),
        ...holder,
      })
      keep(reply)
      return reply.code(202).send({ resendAfter })
    },
  )

  server.post(
    '/api/auth/email/verify',
    {
      schema: {
        operationId: 'verifyEmailChange',
        summary: 'Prove the new mailbox',
        description:
          'In the session and the browser that asked. The old mailbox is told, and every other session ends.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: EmailVerification,
        response: { 200: SignedInSeller, ...refusing('invalid_code', 'email_taken', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const signedIn = await browsers.signedIn(request, reply)
      const browserHash = browsers.codeHolder(request)
      const awaited = browserHash && (await findAwaited(db, browserHash, 'change_email'))
      // wrong codes count for the mailbox they are guessed at
      const asker = browsers.counted(request, awaited?.email ?? signedIn.seller.email)
      const seller = await changeEmail(parts, signedIn, { code: request.body.code, browserHash }, asker)
      cookies.clear(reply, 'code')
      browsers.know(reply, seller.email)
      return { seller: sellerView(seller) }
    },
  )
}

/** "Firefox on Linux", as far as a browser tells. */
function browserName(userAgent: string): string {
  const { browser, os } = Bowser.parse(userAgent || ' ')
  if (!browser.name) return 'A program'
  return os.name ? `${browser.name} on ${os.name}` : browser.name
}
