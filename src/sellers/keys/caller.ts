import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import { type ProblemCode, Refusal } from '../../kit/errors.ts'
import { type Limit, newBudget, refusalBeyond } from '../../kit/limits.ts'
import type { SellerRow } from '../sellers.ts'
import type { SignedIn } from '../sessions.ts'
import { type FoundKey, keyFinder } from './find.ts'
import { type Security, isAllowed, securityOf, takesKeys } from './scopes.ts'
import { type KeyMode, bearerOf, modeOfSecret } from './secret.ts'
import { keyUses } from './uses.ts'

/** The sender of a request to a seller's route: a signed-in browser, or a program with a key. */
export interface Caller {
  seller: SellerRow
  /** Undefined: a program with a key. */
  session?: SignedIn
  /** Undefined: a signed-in browser. */
  key?: FoundKey
  /** The only products that the caller may see. Undefined: all products of the seller. */
  productIds?: readonly string[] | undefined
}

export interface CallerOptions {
  /** The route answers with the caller's `productIds` only. Others refuse a bound key, unless their address names a product or an order. */
  narrows?: boolean
  /** The request only carries others, which are noted themselves. */
  isEnvelope?: boolean
}

export interface Keys {
  /** Returns the caller that sends the key. Throws the same refusals as `Browsers.caller`, also without a key. */
  callerOf(
    secret: string | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
    options: CallerOptions,
  ): Promise<Caller>
}

export interface KeyOptions {
  mode: KeyMode
  /** How many requests a key may make. Undefined: no limit. */
  limit: Limit | undefined
}

const REALM = 'Bearer realm="till"'

/** Says in a 401 that the route takes keys (RFC 6750, section 3.1): without an error, because the request has brought no key. */
export const askForKey = (reply: FastifyReply): void => void reply.header('www-authenticate', REALM)

/** Whether the request brings a key to a route that takes keys. A browser sends none on its own, so no other site's page can cause it. */
export const bringsKey = (request: FastifyRequest): boolean =>
  bearerOf(request) !== undefined && takesKeys(securityOf(request))

/** Recognises programs by their keys. */
export function keysOf(db: Db, { mode, limit }: KeyOptions): Keys {
  const find = keyFinder(db)
  const budget = newBudget(limit)
  const uses = keyUses(db)
  return {
    async callerOf(secret, request, reply, options) {
      const key = await findLive(find, secret, mode, reply)
      const counted = budget(key.id)
      if (counted) {
        const { remaining, resetSeconds } = counted
        reply.headers({ 'ratelimit-limit': counted.limit.count, 'ratelimit-remaining': remaining, 'ratelimit-reset': resetSeconds }) // oxfmt-ignore
        if (!counted.within) throw refusalBeyond(counted, 'This key has made too many requests. Please wait a little.')
      }
      refuseUnlessAllowed(key, securityOf(request), reply)
      if (key.productIds) await refuseUnlessNarrow(db, key, request, options)
      if (!options.isEnvelope) await uses.note(key, request, reply)
      return { seller: key.seller, key, ...(key.productIds && { productIds: key.productIds }) }
    },
  }
}

async function findLive(
  find: (secret: string) => Promise<FoundKey | undefined>,
  secret: string | undefined,
  mode: KeyMode,
  reply: FastifyReply,
): Promise<FoundKey> {
  const refuse = (code: ProblemCode, detail: string): never => {
    reply.header('www-authenticate', `${REALM}, error="invalid_token"`)
    throw new Refusal(code, detail)
  }
  if (secret === undefined) {
    askForKey(reply)
    throw new Refusal('invalid_key', 'Send an API key: Authorization: Bearer till_…')
  }
  const modeOfThis = modeOfSecret(secret)
  if (!modeOfThis) return refuse('invalid_key', 'This is not an API key. Perhaps a part of it is missing or mistyped.')
  if (modeOfThis !== mode)
    return refuse('invalid_key', modeOfThis === 'test' ? 'This key is for tests, and here payments are real.' : 'This key is for real payments, and here payments are tests.') // oxfmt-ignore
  const key = await find(secret)
  if (!key) return refuse('invalid_key', 'There is no such API key.')
  if (key.state === 'revoked') return refuse('key_revoked', `The key ${nameOf(key)} was revoked.`)
  if (key.state === 'replaced') return refuse('key_revoked', `The key ${nameOf(key)} was replaced by a newer one.`)
  if (key.state === 'expired') return refuse('key_expired', `The key ${nameOf(key)} has expired.`)
  return key
}

function refuseUnlessAllowed(key: FoundKey, security: Security, reply: FastifyReply): void {
  if (isAllowed(security, key.scopes)) return
  const wanted = security.flatMap(({ apiKey }) => apiKey ?? [])
  reply.header('www-authenticate', `${REALM}, error="insufficient_scope", scope="${wanted.join(' ')}"`)
  throw new Refusal(
    'insufficient_scope',
    `This needs ${wanted.join(' or ')}, which the key ${nameOf(key)} does not have.`,
  )
}

/** A bound key sees its products and their orders, and nothing else. Other products and orders are not found. */
async function refuseUnlessNarrow(
  db: Db,
  key: FoundKey,
  request: FastifyRequest,
  { narrows }: CallerOptions,
): Promise<void> {
  const { productId, orderId } = (request.params ?? {}) as { productId?: string; orderId?: string }
  if (productId !== undefined) {
    if (key.productIds!.includes(productId)) return
    throw new Refusal('product_not_found', `There is no such product of the key ${nameOf(key)}.`)
  }
  if (orderId !== undefined) {
    const { rows } = await sql`
      select 1 from orders where id = ${orderId} and seller_id = ${key.seller.id} and product_id = any(${key.productIds!})`.execute(db) // oxfmt-ignore
    if (rows.length > 0) return
    throw new Refusal('order_not_found', `There is no such order of the products of the key ${nameOf(key)}.`)
  }
  if (narrows) return
  throw new Refusal(
    'key_bound_to_products',
    `The key ${nameOf(key)} is bound to some products, and this is about all of them. Use a key without products.`,
  )
}

/** The key as its owner knows it. */
const nameOf = ({ name, prefix, lastFour }: FoundKey): string => `“${name}” (${prefix}…${lastFour})`
