import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { notValid } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { idPattern } from '../kit/ids.ts'
import { afterOf, pageOf } from '../kit/keyset.ts'
import { countOneThenOther, countUses, giveBack, refuseBeyond } from '../kit/limits.ts'
import { askedMoment } from '../kit/period.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { needs } from '../sellers/guard.ts'
import type { Caller } from '../sellers/keys/caller.ts'
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

/** Limits them over all endpoints of a seller, because each is kept for 30 days. */
const SENT_BY_HAND_A_DAY = { count: 2000, seconds: 86_400 }

/**
 * The limits have the caller's shop in their names: a stranger who knows an endpoint's id must not use up its owner's count. Keys count
 * their day apart, so that a stolen one does not take the owner's.
 */
async function countSentByHand(db: Db, { seller, session }: Caller, endpointId: string): Promise<void> {
  const [minute, day] = await countOneThenOther(
    db,
    { key: `sent by hand ${seller.id} ${endpointId}`, limit: SENT_BY_HAND },
    { key: `sent by hand a day ${seller.id}${session ? '' : ' by keys'}`, limit: SENT_BY_HAND_A_DAY },
  )
  refuseBeyond([minute!], 'You have sent a lot to this endpoint by hand. Please wait a little.')
  refuseBeyond([day!], 'You have sent a lot by hand to your endpoints today. Please wait up to a day.')
}

/**
 * Limits the replays of many deliveries to one endpoint. Each of them can send all events of 30 days, so one is not one message. The
 * limit leaves room for a receiver that is mended in several steps.
 */
const SENT_AGAIN = { count: 5, seconds: 3600 }

/** Sends many deliveries again. A replay that finds nothing to send does not count. */
async function replayMany(
  db: Db,
  ends: { sellerId: string; endpointId: string },
  asked: { since: Date; status: 'failed' | 'all' },
): Promise<number> {
  const key = `sent again ${ends.sellerId} ${ends.endpointId}`
  const counted = await countUses(db, [{ key, limit: SENT_AGAIN }])
  refuseBeyond(counted, 'You have replayed many deliveries to this endpoint five times. Please wait up to an hour.')
  const count = await replaySince(db, ends, asked)
  if (count === 0) await giveBack(db, [key])
  return count
}

/** Routes that show the deliveries to an endpoint, with their tries, and send them again. */
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
        summary: 'One delivery, with its body and its last 50 tries',
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
      const caller = await browsers.caller(request, reply)
      await countSentByHand(db, caller, request.params.endpointId)
      await replay(db, { sellerId: caller.seller.id, ...request.params })
      return reply.code(202).send({})
    },
  )
}

function replaySinceRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.post(
    '/api/webhook-endpoints/:endpointId/replay',
    {
      schema: {
        operationId: 'replayWebhookDeliveries',
        summary: 'Send again everything since a time',
        description:
          'Ids stay the same. It reaches back for 30 days. Five such replays an hour may go to one endpoint. One that finds nothing to send does not count.',
        tags: TAG,
        security: needs('webhooks:write'),
        params: EndpointParams,
        body: ReplayMany,
        response: { 202: Replayed, ...refusing('webhook_endpoint_not_found') },
      },
    },
    async (request, reply) => {
      const caller = await browsers.caller(request, reply)
      await countSentByHand(db, caller, request.params.endpointId)
      const { since, status = 'failed' } = request.body
      const count = await replayMany(
        db,
        { sellerId: caller.seller.id, ...request.params },
        { since: startOf(since), status },
      )
      return reply.code(202).send({ count })
    },
  )
}

function testRoute(server: Server, { db, browsers }: WebhookRouteParts): void {
  server.post(
    '/api/webhook-endpoints/:endpointId/test',
    {
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
      const caller = await browsers.caller(request, reply)
      await countSentByHand(db, caller, request.params.endpointId)
      const eventIds = await sendTest(db, { sellerId: caller.seller.id, ...request.params }, request.body)
      return reply.code(202).send({ eventIds })
    },
  )
}

/** Refuses `validation_failed` for a time that does not exist or has not come. One before the oldest event means the oldest. */
function startOf(since: string): Date {
  const moment = askedMoment('since', since)!
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
