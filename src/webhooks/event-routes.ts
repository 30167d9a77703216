import type { Server } from '../kit/http.ts'
import { limitOf, refusing } from '../kit/schema.ts'
import { needs } from '../sellers/guard.ts'
import { envelopeOf } from './envelope.ts'
import { pullEvents } from './events.ts'
import { TAG, type WebhookRouteParts } from './routes.ts'
import { Events, EventsQuery } from './schema.ts'

/** The same events for a program that cannot be called. */
export function eventRoutes(server: Server, { db, browsers, urls }: WebhookRouteParts): void {
  server.get(
    '/api/events',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'What happened, oldest first',
        description:
          'The events of the last 30 days, also without any endpoint. Ask again with the id of the last item as `after`: no event is left out, and none comes twice.',
        tags: TAG,
        security: needs('webhooks:read'),
        querystring: EventsQuery,
        response: { 200: Events, ...refusing('event_not_found') },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { after, limit } = request.query
      const most = limitOf(limit)
      const rows = await pullEvents(db, seller.id, { after, limit: most + 1 })
      return { items: rows.slice(0, most).map((row) => envelopeOf(row, urls)), hasMore: rows.length > most }
    },
  )
}
