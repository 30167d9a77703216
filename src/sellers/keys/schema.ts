import { Type } from 'typebox'
import { idPattern } from '../../kit/ids.ts'
import { MomentAsked } from '../../kit/moment.ts'
import { NextCursor, PageQuery, Time } from '../../kit/schema.ts'
import { PLAIN_TEXT } from '../schema.ts'
import { OPENS_NOTHING, SCOPES } from './scopes.ts'

/** A week: long enough to change a key in every program, also over a holiday. */
const LONGEST_OVERLAP_HOURS = 168
const MOST_PRODUCTS = 100

const ScopeName = Type.Enum([...SCOPES])
const OrNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const NewApiKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: PLAIN_TEXT, description: 'Where the key is used.' }),
    scopes: Type.Array(ScopeName, {
      minItems: 1,
      maxItems: SCOPES.length,
      description: `What the key may do. \`write\` does not include \`read\`. ${OPENS_NOTHING.map((one) => `\`${one}\``).join(', ')} open nothing yet.`,
    }),
    expiresAt: Type.Optional(OrNull(MomentAsked, 'When the key ends. Without it: after 90 days. Null: never.')),
    productIds: Type.Optional(
      Type.Array(Type.String({ pattern: idPattern('prod') }), {
        minItems: 1,
        maxItems: MOST_PRODUCTS,
        description:
          'Binds the key to these products, their files, codes and orders. Without it the key is for all of your products.',
      }),
    ),
  },
  { examples: [{ name: 'Order sync on my server', scopes: ['orders:read', 'products:read'] }] },
)

export const KeyRoll = Type.Object(
  {
    overlapHours: Type.Integer({
      minimum: 0,
      maximum: LONGEST_OVERLAP_HOURS,
      description: 'How long the old secret works beside the new one. 0 ends it at once.',
    }),
  },
  { examples: [{ overlapHours: 24 }] },
)

const fields = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: '`till_live_`, or `till_test_` where the service takes no real payments.' }),
  lastFour: Type.String({ description: 'The last four characters of the newest secret.' }),
  status: Type.Enum(['active', 'expired', 'revoked']),
  scopes: Type.Array(ScopeName),
  productIds: OrNull(Type.Array(Type.String()), 'The products that the key is bound to. Null: all of yours.'),
  createdAt: Time,
  expiresAt: OrNull(Type.String(), 'Null: never.'),
  revokedAt: OrNull(Type.String(), 'Null: the key was not revoked.'),
  lastUsedAt: OrNull(Type.String(), 'To the hour. Null: never used.'),
  lastUsedRoute: OrNull(Type.String(), 'The first request of that hour, such as `GET /api/orders`.'),
  madeBy: OrNull(Type.String(), 'The key that made this one. Null: you made it yourself.'),
  replaced: Type.Array(Type.Object({ lastFour: Type.String(), endsAt: Time }), {
    description: 'Older secrets that still work.',
  }),
}

export const ApiKey = Type.Object(fields, {
  examples: [
    {
      id: 'key_01m7ykh6z4jeg0288a8xtt7qep',
      name: 'Order sync on my server',
      prefix: 'till_live_',
      lastFour: 'x7Qe',
      status: 'active',
      scopes: ['orders:read', 'products:read'],
      productIds: null,
      createdAt: '2026-11-21T08:28:29.147Z',
      expiresAt: '2027-02-19T08:28:29.147Z',
      revokedAt: null,
      lastUsedAt: '2026-11-21T09:00:00.000Z',
      lastUsedRoute: 'GET /api/orders',
      madeBy: null,
      replaced: [],
    },
  ],
})
export type ApiKey = Type.Static<typeof ApiKey>

export const ApiKeyWithSecret = Type.Object({
  key: ApiKey,
  secret: Type.String({
    description: 'The key itself. Only this answer has it: we store a hash of it.',
    examples: ['till_live_4fT0uQ9rZkLm2XwYb7NcVd1GhJs8PaEe0k3x7Q'],
  }),
})
export const ApiKeys = Type.Object({ items: Type.Array(ApiKey), nextCursor: NextCursor })
export const KeysQuery = Type.Object(PageQuery)
export const KeyParams = Type.Object({ keyId: Type.String({ pattern: idPattern('key') }) })

export const ActivityQuery = Type.Object({
  keyId: Type.Optional(Type.String({ pattern: idPattern('key'), description: 'Only what this key has changed.' })),
  ...PageQuery,
})
export const Activity = Type.Object({
  items: Type.Array(
    Type.Object({
      at: Time,
      keyId: Type.String(),
      keyName: Type.String(),
      lastFour: Type.String(),
      method: Type.String(),
      path: Type.String(),
      status: OrNull(
        Type.Integer(),
        'The status of the answer. Null: it is not known, because the service ended before it.',
      ),
    }),
    {
      examples: [
        [
          {
            at: '2026-11-21T09:12:44.201Z',
            keyId: 'key_01m7ykh6z4jeg0288a8xtt7qep',
            keyName: 'Order sync on my server',
            lastFour: 'x7Qe',
            method: 'POST',
            path: '/api/orders/ord_01m7ykh6z4jeg0288a8xtt7qep/refunds',
            status: 201,
          },
        ],
      ],
    },
  ),
  nextCursor: NextCursor,
})
