import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { limited } from '../kit/limits.ts'
import { momentOf, notValid } from '../kit/period.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { needs } from '../sellers/guard.ts'
import { type DeliveryRow, type TryRow, findDelivery, listDeliveries, oldestKept, replay, replaySince } from './deliveries.ts' // oxfmt-ignore
import { envelopeOf } from './envelope.ts'
import { TAG, type WebhookRouteParts } from './routes.ts'
import {
  DeliveriesQuery,
  DeliveryParams,
  EndpointParams,
  ReplayMany,
  Replayed,
  TestEvent,
  TestSent,
  WebhookDeliveries,
  type WebhookDelivery,
  WebhookDeliveryDetail,
} from './schema.ts'
import { sendTest } from './test-events.ts'

/** Limits the messages that a seller sends to one endpoint by hand. Otherwise our service could flood somebody else's server. */
const SENT_BY_HAND = { count: 60, seconds: 60 }
const endpointOf = (request: FastifyRequest) => `sent by hand ${(request.params as { endpointId: string }).endpointId}`

/** Routes that show the deliveries to an endpoint, with every try, and send them again. */
export function deliveryRoutes(server: Server, parts: WebhookRouteParts): void {
  listDeliveriesRoute(server, parts)
  getDeliveryRoute(server, parts)
  replayRoute(server, parts)
  replaySinceRoute(server, parts)
  testRoute(server, parts)
}

function listDeliveriesRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.get(
    '/api/webhook-endpoints/:endpointId/deliveries',
    {
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'What was sent to an endpoint',
        description: 'Newest first, of the last 30 days.',
        tags: TAG,
        security: needs('webhooks:read'),
        params: EndpointParams,
        querystring: DeliveriesQuery,
        response: { 200: WebhookDeliveries, ...refusing('webhook_endpoint_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { cursor, limit, status } = request.query
      const most = limitOf(limit)
      const page = { status, after: afterOf(cursor, idPattern('evt')), limit: most + 1 }
      const rows = await listDeliveries(db, { sellerId: seller.id, ...request.params }, page)
      return pageOf(rows, most, deliveryView)
    },
  )
}

function getDeliveryRoute(server: Server, { db, browsers, urls }: WebhookRouteParts): void {
  server.get(
    '/api/webhook-endpoints/:endpointId/deliveries/:eventId',
    {
      schema: {
        operationId: 'getWebhookDelivery',
        summary: 'One delivery, with its body and every try',
        tags: TAG,
        security: needs('webhooks:read'),
        params: DeliveryParams,
        response: { 200: WebhookDeliveryDetail, ...refusing('webhook_endpoint_not_found', 'delivery_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const row = await findDelivery(db, { sellerId: seller.id, ...request.params })
      const log = row.log.map((one) => ({ number: one.number, ...tryView(one), answer: one.answer }))
      return { ...deliveryView(row), event: envelopeOf(row, urls), log }
    },
  )
}

function replayRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.post(
    '/api/webhook-endpoints/:endpointId/deliveries/:eventId/replay',
    {
      config: limited(SENT_BY_HAND, endpointOf),
      schema: {
        operationId: 'replayWebhookDelivery',
        summary: 'Send a delivery again',
        description: 'Its id stays the same, so a receiver that has acted on it before does nothing.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: DeliveryParams,
        response: { 202: Type.Object({}), ...refusing('webhook_endpoint_not_found', 'delivery_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      await replay(db, { sellerId: seller.id, ...request.params })
      return reply.code(202).send({})
    },
  )
}

function replaySinceRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.post(
    '/api/webhook-endpoints/:endpointId/replay',
    {
      config: limited(SENT_BY_HAND, endpointOf),
      schema: {
        operationId: 'replayWebhookDeliveries',
        summary: 'Send again everything since a time',
        description: 'Ids stay the same. It reaches back for 30 days.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: EndpointParams,
        body: ReplayMany,
        response: { 202: Replayed, ...refusing('webhook_endpoint_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { since, status = 'failed' } = request.body
      const count = await replaySince(db, { sellerId: seller.id, ...request.params }, { since: startOf(since), status })
      return reply.code(202).send({ count })
    },
  )
}

function testRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.post(
    '/api/webhook-endpoints/:endpointId/test',
    {
      config: limited(SENT_BY_HAND, endpointOf),
      schema: {
        operationId: 'testWebhookEndpoint',
        summary: 'Send a test event',
        description:
          'Goes to this endpoint alone, whatever types it has chosen, with `"test": true` beside its data. An event about an order has an invented order in it.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: EndpointParams,
        body: TestEvent,
        response: { 202: TestSent, ...refusing('webhook_endpoint_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const eventIds = await sendTest(db, { sellerId: seller.id, ...request.params }, request.body)
      return reply.code(202).send({ eventIds })
    },
  )
}

/** Refuses `validation_failed` for a time that does not exist or has not come. One before the oldest event means the oldest. */
function startOf(since: string): Date {
  const moment = momentOf('since', since)!
  if (moment.getTime() > Date.now()) throw notValid('since', 'must be in the past')
  return new Date(Math.max(moment.getTime(), oldestKept().getTime()))
}

const tryView = ({ at, tookMs, status, error }: TryRow) => ({
  at: new Date(at).toISOString(),
  tookMs,
  ...(status !== null && { status }),
  ...(error !== null && { error }),
})

const deliveryView = ({
  id,
  type,
  orderId,
  state,
  tries,
  dueAt,
  createdAt,
  lastTry,
}: DeliveryRow): WebhookDelivery => ({
  eventId: id,
  type,
  ...(orderId !== null && { orderId }),
  status: state,
  tries,
  ...(dueAt && { nextTryAt: dueAt.toISOString() }),
  ...(lastTry && { lastTry: tryView(lastTry) }),
  createdAt: createdAt.toISOString(),
})
