import { Type } from 'typebox'
import { EVENT_TYPES } from '../events/event-types.ts'
import { idPattern } from '../kit/ids.ts'
import { MOMENT } from '../kit/period.ts'
import { NextCursor, PageQuery, Time } from '../kit/schema.ts'
import { Envelope } from './envelope.ts'

/** The longest time for which the secret before a rotation signs too. */
const LONGEST_OVERLAP_HOURS = 168

const Url = Type.String({
  minLength: 8,
  maxLength: 2048,
  pattern: '^https?://[\\x21-\\x7e]+$',
  description: 'Where we post. It begins with https:// and leads to the public internet.',
})
const Subscriptions = Type.Array(Type.Enum([...EVENT_TYPES, '*']), {
  minItems: 1,
  maxItems: EVENT_TYPES.length + 1,
  description: 'The types of events to send, or `["*"]` for all, also those of later releases.',
})
const Description = Type.String({ maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' })

export const EndpointParams = Type.Object({ endpointId: Type.String({ pattern: idPattern('we') }) })
export const DeliveryParams = Type.Object({
  endpointId: Type.String({ pattern: idPattern('we') }),
  eventId: Type.String({ pattern: idPattern('evt') }),
})

export const NewEndpoint = Type.Object({ url: Url, events: Subscriptions, description: Type.Optional(Description) })
export const EndpointChange = Type.Partial(NewEndpoint)

const endpoint = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.Enum([...EVENT_TYPES, '*'])),
  description: Type.String(),
  status: Type.Enum(['active', 'failing', 'paused'], {
    description:
      '`failing`: no try has succeeded since `failingSince`; we go on trying. `paused`: nothing is sent until you resume it, and events wait.',
  }),
  pausedBecause: Type.Optional(
    Type.Enum(['failing', 'gone'], { description: '`failing`: for 72 hours. `gone`: the receiver answered 410.' }),
  ),
  failingSince: Type.Optional(Time),
  heldUntil: Type.Optional(
    Type.String({
      description:
        'The receiver has answered 429 or 503 and asked us by Retry-After to wait until then. A test or a replay ends the wait.',
    }),
  ),
  waiting: Type.Integer({ description: 'Deliveries that wait for a try. Counted up to 1000.' }),
  failed: Type.Integer({
    description: 'Deliveries of the last 30 days whose tries have all failed. Counted up to 1000.',
  }),
  oldSecretUntil: Type.Optional(Type.String({ description: 'Until then the secret before the rotation signs too.' })),
  createdAt: Time,
  madeByKey: Type.Optional(
    Type.Object(
      {
        id: Type.String(),
        name: Type.Optional(Type.String({ description: 'Absent when the key ended long ago.' })),
        ended: Type.Boolean({ description: 'The key was revoked, or has expired.' }),
      },
      {
        description:
          'The key that made the endpoint, or changed its address last. The endpoint stays when the key ends: remove it if you do not know it.',
      },
    ),
  ),
}
export const WebhookEndpoint = Type.Object(endpoint)
export type WebhookEndpoint = Type.Static<typeof WebhookEndpoint>
export const WebhookEndpoints = Type.Object({ items: Type.Array(WebhookEndpoint) })
const secret = Type.String({ description: 'Shown only now. The key of the signatures, `whsec_` and base64.' })
export const NewWebhookEndpoint = Type.Object({ ...endpoint, secret })

export const SecretRotation = Type.Object({
  overlapHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LONGEST_OVERLAP_HOURS,
      description: 'How long the old secret signs too: 24 by default.',
    }),
  ),
})
export const RotatedSecret = Type.Object({ secret, oldSecretUntil: Type.Optional(Time) })

export const WEATHERS = ['fair', 'late', 'twice', 'reordered'] as const
export const TestEvent = Type.Object({
  type: Type.Optional(Type.Enum([...EVENT_TYPES], { description: '`endpoint.test` by default.' })),
  weather: Type.Optional(
    Type.Enum([...WEATHERS], {
      description:
        'What networks do: `late` comes after 30 seconds, `twice` comes two times with one id, `reordered` sends the second event of an order before the first.',
    }),
  ),
})
export const TestSent = Type.Object({ eventIds: Type.Array(Type.String()) })

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const
export const DeliveriesQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(Type.Enum([...DELIVERY_STATES], { description: 'Only those.' })),
})

const lastTry = {
  at: Time,
  tookMs: Type.Integer(),
  status: Type.Optional(Type.Integer({ description: 'The receiver’s status, if it answered.' })),
  error: Type.Optional(
    Type.Enum(['dns', 'tls', 'timeout', 'refused', 'blocked', 'status', 'secret'], {
      description:
        'Absent after a success. `blocked`: the address leads to a private network. `status`: an answer other than 2xx. `secret`: the endpoint needs a new secret.',
    }),
  ),
}
const delivery = {
  eventId: Type.String(),
  type: Type.Enum([...EVENT_TYPES]),
  orderId: Type.Optional(Type.String()),
  status: Type.Enum([...DELIVERY_STATES], {
    description:
      '`failed`: ten tries have failed. A replay sends it again, and so does resuming the endpoint if the last try was part of its outage.',
  }),
  tries: Type.Integer(),
  nextTryAt: Type.Optional(Time),
  lastTry: Type.Optional(Type.Object(lastTry)),
  createdAt: Time,
}
export const WebhookDelivery = Type.Object(delivery)
export type WebhookDelivery = Type.Static<typeof WebhookDelivery>
export const WebhookDeliveries = Type.Object({ items: Type.Array(WebhookDelivery), nextCursor: NextCursor })
export const WebhookDeliveryDetail = Type.Object({
  ...delivery,
  event: Envelope,
  log: Type.Array(
    Type.Object({
      number: Type.Integer(),
      ...lastTry,
      answer: Type.String({ description: 'The first 2 kB of the answer, or what went wrong.' }),
    }),
    { description: 'The last 50 tries, newest first.' },
  ),
})
export type WebhookDeliveryDetail = Type.Static<typeof WebhookDeliveryDetail>

export const ReplayMany = Type.Object({
  since: Type.String({
    pattern: MOMENT,
    maxLength: 40,
    examples: ['2026-11-01T09:30:00Z'],
    description: 'A day or a moment of the last 30 days, such as 2026-11-01T09:30:00Z.',
  }),
  status: Type.Optional(
    Type.Enum(['failed', 'all'], {
      description:
        '`failed`: what was tried and has not arrived, also what waits for its next try; the default. `all`: every event since then, also those delivered and those from before the endpoint.',
    }),
  ),
})
export const Replayed = Type.Object({ count: Type.Integer() })

// no cursor: a program goes on from any event that it has, also after the last page or from one that a delivery brought
export const EventsQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: idPattern('evt'),
      description: 'The id of the last event that you have. Without it: the oldest.',
    }),
  ),
  limit: PageQuery.limit,
})
export const Events = Type.Object({
  items: Type.Array(Envelope),
  hasMore: Type.Boolean({ description: 'Ask again at once, with the id of the last item as `after`.' }),
})
