import type { FastifyRequest } from 'fastify'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { errorForLog } from '../kit/log.ts'
import { DONE, refusing } from '../kit/schema.ts'
import { type Browsers, NEEDS_SESSION, needs } from '../sellers/guard.ts'
import { type Confirmation, decide, findConfirmation, noteOutcome, reopen } from './confirmations.ts'
import type { Inner, Inside } from './inside.ts'
import { ConfirmationParams, ConfirmationView, Decided } from './schema.ts'

interface ConfirmationParts {
  db: Db
  browsers: Browsers
  inside: Inside
  appUrl: string
}

const TAG = ['Agents']

/** The seller sees the proposals of programs, and decides. */
export function confirmationRoutes(server: Server, parts: ConfirmationParts): void {
  showRoute(server, parts)
  confirmRoute(server, parts)
  declineRoute(server, parts)
}

function showRoute(server: Server, { db, browsers }: ConfirmationParts): void {
  server.get(
    '/api/confirmations/:confirmationId',
    {
      schema: {
        operationId: 'getConfirmation',
        summary: 'What a program has proposed',
        description:
          'The page behind the link that a program got. A key sees what it has proposed itself: `state` says what the seller has decided.',
        tags: TAG,
        // one of the scopes that a key needs to make a proposal
        security: needs('products:read', 'orders:read', 'discounts:read', 'keys:read'),
        params: ConfirmationParams,
        response: { 200: ConfirmationView, ...refusing('confirmation_not_found') },
      },
    },
    async (request, reply) => {
      const { seller, key } = await browsers.caller(request, reply, { narrows: true })
      return view(await findConfirmation(db, seller.id, request.params.confirmationId, key?.id))
    },
  )
}

function confirmRoute(server: Server, { db, browsers, inside, appUrl }: ConfirmationParts): void {
  server.post(
    '/api/confirmations/:confirmationId/confirm',
    {
      schema: {
        operationId: 'confirm',
        summary: 'Do what a program has proposed',
        description:
          'Needs a sign-in of the last ten minutes. The service makes the request in your name, once. The answer says how that went.',
        tags: TAG,
        security: NEEDS_SESSION,
        params: ConfirmationParams,
        response: {
          200: Decided,
          ...refusing('recent_sign_in_required', 'confirmation_not_found', 'confirmation_over', 'shutting_down'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.recentlySignedIn(request, reply)
      // before the request, so that it is made at most once, whatever happens in between
      const { confirmationId } = request.params
      const confirmed = await decide(db, seller.id, confirmationId, 'confirmed')
      const answer = await carryOut({ db, inside, appUrl }, request, confirmed)
      // the row says itself that the outcome is not known, and the answer can have the only copy of a secret
      await noteOutcome(db, confirmed.id, answer.status).catch((error: unknown) =>
        request.log.warn(errorForLog(error), 'the outcome of a confirmation was not noted'),
      )
      const { code, detail, secret } = answer.body as { code?: string; detail?: string; secret?: string }
      return answer.isRefused
        ? { status: answer.status, ...(code && { code }), ...(detail && { detail }) }
        : { status: answer.status, ...(secret !== undefined && { secret }) }
    },
  )
}

/** Makes the request of a confirmed proposal. When the service ends before it is made, the proposal is open again. */
async function carryOut(
  { db, inside, appUrl }: Pick<ConfirmationParts, 'db' | 'inside' | 'appUrl'>,
  request: FastifyRequest,
  { id, method, path, body, ifMatch }: Confirmation,
): Promise<Inner> {
  try {
    return await inside.call(request, {
      method,
      path,
      body,
      headers: {
        cookie: request.headers.cookie,
        'user-agent': request.headers['user-agent'],
        origin: new URL(appUrl).origin,
        'idempotency-key': id,
        ...(ifMatch !== null && { 'if-match': ifMatch }),
      },
    })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'shutting_down') await reopen(db, id)
    throw error
  }
}

function declineRoute(server: Server, { db, browsers }: ConfirmationParts): void {
  server.post(
    '/api/confirmations/:confirmationId/decline',
    {
      schema: {
        operationId: 'decline',
        summary: 'Decline what a program has proposed',
        tags: TAG,
        security: NEEDS_SESSION,
        params: ConfirmationParams,
        response: {
          ...DONE,
          ...refusing('confirmation_not_found', 'confirmation_over'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      await decide(db, seller.id, request.params.confirmationId, 'declined')
      return reply.code(204).send(null)
    },
  )
}

const view = ({ id, tool, keyName, lastFour, state, shown, createdAt, expiresAt, status }: Confirmation) => ({
  id,
  tool,
  key: { name: keyName, lastFour },
  state,
  title: shown.title,
  shown: shown.lines,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
  status,
})
