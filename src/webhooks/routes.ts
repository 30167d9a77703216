import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import type { Limit } from '../kit/limits.ts'
import type { Reach } from '../kit/public-address.ts'
import { DONE, refusing } from '../kit/schema.ts'
import type { TextSeal } from '../kit/sealed-text.ts'
import { type Browsers, needs, refuseUnlessRecent } from '../sellers/guard.ts'
import type { Caller } from '../sellers/keys/caller.ts'
import {
  changeEndpoint,
  createEndpoint,
  findEndpoint,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
} from './endpoints.ts'
import { resumeEndpoint } from './resume.ts'
import { endpointView } from './endpoint-view.ts'
import type { PageUrls } from './envelope.ts'
import { countAddress } from './notices.ts'
import {
  EndpointChange,
  EndpointParams,
  NewEndpoint,
  NewWebhookEndpoint,
  RotatedSecret,
  SecretRotation,
  WebhookEndpoint,
  WebhookEndpoints,
} from './schema.ts'

export const TAG = ['Webhooks']
const USUAL_OVERLAP_HOURS = 24

export interface WebhookRouteParts {
  db: Db
  jobs: Jobs
  browsers: Browsers
  seal: TextSeal
  reach: Reach
  urls: PageUrls
  /** How many addresses a seller may give to endpoints. Undefined: no limit. */
  addressLimit: Limit | undefined
}

/** A seller's endpoints. Another seller's are not found. Where they lead, and their secrets, need a sign-in of the last ten minutes. */
export function endpointRoutes(server: Server, parts: WebhookRouteParts): void {
  createEndpointRoute(server, parts)
  readEndpointRoutes(server, parts)
  changeEndpointRoute(server, parts)
  removeEndpointRoute(server, parts)
  rotateSecretRoute(server, parts)
  resumeEndpointRoute(server, parts)
}

/** The sender of the request. A thief of a session must not learn of every sale, so a browser needs a recent sign-in. */
async function trusted(browsers: Browsers, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const caller = await browsers.caller(request, reply)
  if (caller.session) refuseUnlessRecent(caller.session)
  return caller
}

function createEndpointRoute(server: Server, parts: WebhookRouteParts): void {
  const { db, browsers, urls } = parts
  server.post(
    '/api/webhook-endpoints',
    {
      schema: {
        operationId: 'createWebhookEndpoint',
        summary: 'Have events sent to your program',
        description:
          'Needs a sign-in of the last ten minutes, or a key. A shop has at most ten endpoints. You get a mail.',
        tags: TAG,
        security: needs('webhooks:write'),
        body: NewEndpoint,
        response: {
          201: NewWebhookEndpoint,
          ...refusing('recent_sign_in_required', 'url_not_allowed', 'too_many_endpoints'),
        },
      },
    },
    async (request, reply) => {
      const caller = await trusted(browsers, request, reply)
      await countAddress(db, parts.addressLimit, caller)
      const { secret, ...row } = await createEndpoint(db, { ...parts, caller }, request.body)
      reply.code(201).header('location', `${urls.baseUrl}/api/webhook-endpoints/${row.id}`)
      return { ...endpointView(row), secret }
    },
  )
}

function readEndpointRoutes(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.get(
    '/api/webhook-endpoints',
    {
      schema: {
        operationId: 'listWebhookEndpoints',
        summary: 'Your endpoints',
        tags: TAG,
        security: needs('webhooks:read'),
        response: { 200: WebhookEndpoints, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return { items: (await listEndpoints(db, seller.id)).map(endpointView) }
    },
  )
  server.get(
    '/api/webhook-endpoints/:endpointId',
    {
      schema: {
        operationId: 'getWebhookEndpoint',
        summary: 'One of your endpoints',
        tags: TAG,
        security: needs('webhooks:read'),
        params: EndpointParams,
        response: { 200: WebhookEndpoint, ...refusing('webhook_endpoint_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return endpointView(await findEndpoint(db, seller.id, request.params.endpointId))
    },
  )
}

function changeEndpointRoute(server: Server, parts: WebhookRouteParts): void {
  const { db, browsers } = parts
  server.patch(
    '/api/webhook-endpoints/:endpointId',
    {
      schema: {
        operationId: 'changeWebhookEndpoint',
        summary: 'Change an endpoint',
        description:
          'Needs a sign-in of the last ten minutes, or a key. Fields that are absent stay as they are. You get a mail about another address.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: EndpointParams,
        body: EndpointChange,
        response: {
          200: WebhookEndpoint,
          ...refusing('recent_sign_in_required', 'webhook_endpoint_not_found', 'url_not_allowed'),
        },
      },
    },
    async (request, reply) => {
      const caller = await trusted(browsers, request, reply)
      if (request.body.url !== undefined) await countAddress(db, parts.addressLimit, caller)
      return endpointView(await changeEndpoint(db, { ...parts, caller, ...request.params }, request.body))
    },
  )
}

function removeEndpointRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.delete(
    '/api/webhook-endpoints/:endpointId',
    {
      schema: {
        operationId: 'removeWebhookEndpoint',
        summary: 'Remove an endpoint',
        description: 'Needs a sign-in of the last ten minutes, or a key. What waits for it is never sent.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: EndpointParams,
        response: {
          ...DONE,
          ...refusing('recent_sign_in_required', 'webhook_endpoint_not_found'),
        },
      },
    },
    async (request, reply) => {
      const { seller } = await trusted(browsers, request, reply)
      await removeEndpoint(db, seller.id, request.params.endpointId)
      return reply.code(204).send(null)
    },
  )
}

function rotateSecretRoute(server: Server, { db, browsers, seal }: WebhookRouteParts): void {
  server.post(
    '/api/webhook-endpoints/:endpointId/secret',
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Give an endpoint a new secret',
        description:
          'Needs a sign-in of the last ten minutes, or a key. During the overlap the old secret signs each delivery too, and so does an earlier one until its own end, so you can change over in your own time. With an overlap of 0 all old secrets end at once.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: EndpointParams,
        body: SecretRotation,
        response: { 200: RotatedSecret, ...refusing('recent_sign_in_required', 'webhook_endpoint_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await trusted(browsers, request, reply)
      const { overlapHours = USUAL_OVERLAP_HOURS } = request.body
      const { secret, oldSecretUntil } = await rotateSecret(db, seal, {
        sellerId: seller.id,
        endpointId: request.params.endpointId,
        overlapHours,
      })
      return { secret, ...(oldSecretUntil && { oldSecretUntil: oldSecretUntil.toISOString() }) }
    },
  )
}

function resumeEndpointRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.post(
    '/api/webhook-endpoints/:endpointId/resume',
    {
      schema: {
        operationId: 'resumeWebhookEndpoint',
        summary: 'Send again to a paused endpoint',
        description: 'Everything that happened during the pause is sent, oldest first.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: EndpointParams,
        response: { 200: WebhookEndpoint, ...refusing('webhook_endpoint_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      return endpointView(await resumeEndpoint(db, seller.id, request.params.endpointId))
    },
  )
}
