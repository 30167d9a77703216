import type { Server } from '../../kit/http.ts'
import { idPattern } from '../../kit/ids.ts'
import { afterOf, pageOf } from '../../kit/keyset.ts'
import { type Limit, countUses, refuseBeyond } from '../../kit/limits.ts'
import { momentOf } from '../../kit/moment.ts'
import { DONE, limitOf, refusing } from '../../kit/schema.ts'
import { type Browsers, needs, refuseUnlessRecent } from '../guard.ts'
import type { Caller } from './caller.ts'
import { type KeyParts, type KeyRow, listKeys, makeKey, revokeKey, rollKey } from './keys.ts'
import {
  Activity,
  ActivityQuery,
  type ApiKey,
  ApiKeyWithSecret,
  ApiKeys,
  KeyParams,
  KeyRoll,
  KeysQuery,
  NewApiKey,
} from './schema.ts'
import { listActivity } from './uses.ts'

const TAG = ['Keys']
/** A number that always fits a bigint. */
const ACTIVITY_ID = '^[1-9]\\d{0,17}$'

type KeyRouteParts = KeyParts & {
  browsers: Browsers
  /** How many secrets a seller may get. Undefined: no limit. */
  secretLimit: Limit | undefined
}

/** Sellers make keys for their programs, and see the keys' activity. */
export function keyRoutes(server: Server, parts: KeyRouteParts): void {
  makeKeyRoute(server, parts)
  listKeysRoute(server, parts)
  rollKeyRoute(server, parts)
  revokeKeyRoute(server, parts)
  listActivityRoute(server, parts)
}

/**
 * A secret opens the account: a browser gets one soon after a sign-in, and a key if it may. A thief must not fill a mailbox. Keys count
 * apart, so that a stolen one does not keep the owner from replacing it.
 */
async function refuseSecret({ db, secretLimit }: KeyRouteParts, { seller, session }: Caller): Promise<void> {
  if (session) refuseUnlessRecent(session)
  if (!secretLimit) return
  const counted = await countUses(db, [
    { key: `key secret ${seller.id}${session ? '' : ' by keys'}`, limit: secretLimit },
  ])
  refuseBeyond(counted, 'You have made or rolled many keys. Please wait a little.')
}

function makeKeyRoute(server: Server, parts: KeyRouteParts): void {
  server.post(
    '/api/keys',
    {
      schema: {
        operationId: 'createKey',
        summary: 'Make an API key',
        description:
          'Needs a sign-in of the last ten minutes, or a key with `keys:write`. A key makes only keys that may do no more than itself, and end no later. You get a mail.',
        tags: TAG,
        security: needs('keys:write'),
        body: NewApiKey,
        response: {
          201: ApiKeyWithSecret,
          ...refusing('recent_sign_in_required', 'key_too_weak', 'product_not_found', 'too_many_keys'),
        },
      },
    },
    async (request, reply) => {
      const caller = await parts.browsers.caller(request, reply, { narrows: true })
      await refuseSecret(parts, caller)
      const { name, scopes, productIds } = request.body
      const expiresAt = momentOf('expiresAt', request.body.expiresAt)
      const { key, secret } = await makeKey(parts, caller, { name: name.trim(), scopes, productIds, expiresAt })
      return reply.code(201).send({ key: keyView(key), secret })
    },
  )
}

function listKeysRoute(server: Server, { db, browsers }: KeyRouteParts): void {
  server.get(
    '/api/keys',
    {
      schema: {
        operationId: 'listKeys',
        summary: 'Your API keys',
        description: 'Newest first, without their secrets. An ended key stays in the list for 90 days.',
        tags: TAG,
        security: needs('keys:read'),
        querystring: KeysQuery,
        response: { 200: ApiKeys, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const after = afterOf(request.query.cursor, idPattern('key'))
      const limit = limitOf(request.query.limit)
      return pageOf(await listKeys(db, seller.id, { after, limit: limit + 1 }), limit, keyView)
    },
  )
}

function rollKeyRoute(server: Server, parts: KeyRouteParts): void {
  server.post(
    '/api/keys/:keyId/roll',
    {
      schema: {
        operationId: 'rollKey',
        summary: 'Give a key a new secret',
        description:
          'Needs a sign-in of the last ten minutes, or a key with `keys:write`. Old and new secret both work for `overlapHours`. With 0, asked for in a session, the keys that it made end too. The lifetime of the key begins again, unless a key asks. You get a mail.',
        tags: TAG,
        security: needs('keys:write'),
        params: KeyParams,
        body: KeyRoll,
        response: {
          200: ApiKeyWithSecret,
          ...refusing('recent_sign_in_required', 'key_not_found', 'key_ended', 'key_too_weak'),
        },
      },
    },
    async (request, reply) => {
      const caller = await parts.browsers.caller(request, reply, { narrows: true })
      await refuseSecret(parts, caller)
      const { overlapHours } = request.body
      const { key, secret } = await rollKey(parts, caller, { id: request.params.keyId, overlapHours })
      return { key: keyView(key), secret }
    },
  )
}

function revokeKeyRoute(server: Server, parts: KeyRouteParts): void {
  server.delete(
    '/api/keys/:keyId',
    {
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        description: 'The key ends at once, and with it the keys that it made. A repeat changes nothing.',
        tags: TAG,
        security: needs('keys:write'),
        params: KeyParams,
        response: { ...DONE, ...refusing('key_not_found', 'key_too_weak') },
      },
    },
    async (request, reply) => {
      const caller = await parts.browsers.caller(request, reply, { narrows: true })
      await revokeKey(parts, caller, request.params.keyId)
      return reply.code(204).send(null)
    },
  )
}

function listActivityRoute(server: Server, { db, browsers }: KeyRouteParts): void {
  server.get(
    '/api/activity',
    {
      schema: {
        operationId: 'listKeyActivity',
        summary: 'What your keys have changed',
        description:
          'Newest first. Each request of a key that can change something is here for a year: at most the last 100,000, and the last 10,000 that were refused.',
        tags: TAG,
        security: needs('keys:read'),
        querystring: ActivityQuery,
        response: { 200: Activity, ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { keyId, cursor } = request.query
      const after = afterOf(cursor, ACTIVITY_ID)
      const limit = limitOf(request.query.limit)
      const rows = await listActivity(db, seller.id, { keyId, after, limit: limit + 1 })
      return pageOf(rows, limit, ({ id: _, at, ...row }) => ({ at: at.toISOString(), ...row }))
    },
  )
}

function keyView({ secrets, isExpired, ...row }: KeyRow): ApiKey {
  const [newest, ...older] = secrets
  return {
    id: row.id,
    name: row.name,
    prefix: newest!.prefix,
    lastFour: newest!.lastFour,
    status: row.revokedAt ? 'revoked' : isExpired ? 'expired' : 'active',
    scopes: row.scopes,
    productIds: row.productIds,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    lastUsedRoute: row.lastUsedRoute,
    madeBy: row.madeBy,
    replaced: older.map(({ lastFour, endsAt }) => ({ lastFour, endsAt: new Date(endsAt!).toISOString() })),
  }
}
