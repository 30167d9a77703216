import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { wrongField } from '../../kit/moment.ts'
import { sweepRows } from '../../kit/sweep.ts'
import { hashOf } from '../../kit/tokens.ts'
import { type AccountEvent, addEvent, notifyOwner } from '../history.ts'
import { lockSellerById } from '../sellers.ts'
import { holdSession } from '../sessions.ts'
import type { Caller } from './caller.ts'
import { type KeyMode, newSecret, prefixOf } from './secret.ts'
import type { Scope } from './scopes.ts'

const USUAL_DAYS = 90
/** A seller needs one for each program and each machine. */
const MOST_KEYS = 100
/** The list shows an ended key for this long. */
const ENDED_DAYS = 90

export interface KeyParts {
  db: Db
  jobs: Jobs
  mode: KeyMode
}

export interface KeyRow {
  id: string
  name: string
  scopes: Scope[]
  productIds: string[] | null
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  madeBy: string | null
  lastUsedAt: Date | null
  lastUsedRoute: string | null
  isExpired: boolean
  /** The newest secret, also of an ended key, and the older ones that work. `endsAt` is null for the newest. */
  secrets: { prefix: string; lastFour: string; endsAt: string | null }[]
}

const KEY_COLUMNS = sql`
  k.id, k.name, k.scopes, k.product_ids as "productIds", k.created_at as "createdAt", k.expires_at as "expiresAt",
  k.revoked_at as "revokedAt", k.made_by as "madeBy", k.last_used_at as "lastUsedAt", k.last_used_route as "lastUsedRoute",
  coalesce(k.expires_at <= now(), false) as "isExpired",
  (select json_agg(json_build_object('prefix', x.prefix, 'lastFour', x.last_four, 'endsAt', x.ends_at)
      order by x.ends_at desc nulls first, x.created_at desc)
    from api_key_secrets x where x.key_id = k.id and (x.ends_at is null or (x.ends_at > now() and k.revoked_at is null))) as secrets`

export interface NewKey {
  name: string
  scopes: readonly Scope[]
  /** Undefined: bound to no products. */
  productIds?: readonly string[] | undefined
  /** Null: never. Undefined: after 90 days, or with the key that makes this one. */
  expiresAt?: string | null | undefined
}

/**
 * Makes a key, and returns it with its secret, which is not stored. A key makes only keys that may do no more than it does, and do not
 * outlive it. The owner gets a mail. Refuses `key_too_weak`, `product_not_found`, `too_many_keys`.
 */
export const makeKey = (parts: KeyParts, caller: Caller, asked: NewKey): Promise<{ key: KeyRow; secret: string }> =>
  inTransaction(parts.db, async (tx) => {
    await holdCaller(tx, caller)
    const sellerId = caller.seller.id
    const { name, scopes, expiresAt } = asked
    const productIds = asked.productIds ?? caller.key?.productIds ?? null
    await refuseUnknownProducts(tx, sellerId, productIds)
    const { rows } = await sql<{ expiresAt: Date | null; isOver: boolean; live: number }>`
      select e.at as "expiresAt", coalesce(e.at <= now(), false) as "isOver",
        (select count(*)::int from api_keys where seller_id = ${sellerId} and revoked_at is null and coalesce(expires_at > now(), true)) as live
      from (select case when ${expiresAt === undefined} then least(now() + make_interval(days => ${USUAL_DAYS}), ${caller.key?.expiresAt ?? null}::timestamptz)
        else ${expiresAt ?? null}::timestamptz end as at) e`.execute(tx)
    const { expiresAt: end, isOver, live } = rows[0]!
    if (isOver) throw wrongField('expiresAt', 'This moment is over.')
    refuseUnlessCovered(caller, { scopes, productIds, expiresAt: end })
    if (live >= MOST_KEYS)
      throw new Refusal('too_many_keys', `You have ${MOST_KEYS} keys. Revoke one that you do not use.`)
    const id = newId('key')
    await sql`
      insert into api_keys (id, seller_id, name, scopes, product_ids, expires_at, made_by)
      values (${id}, ${sellerId}, ${name}, ${[...new Set(scopes)]}, ${productIds}, ${end}, ${caller.key?.id ?? null})`.execute(
      tx,
    )
    const secret = await addSecret(tx, id, parts.mode)
    await notifyOwner(tx, parts.jobs, eventOf(caller, 'key_created', name), caller.seller.email)
    return { key: await readKey(tx, sellerId, id), secret }
  })

/**
 * Gives a key another secret. The old ones work for `overlapHours` more. The key's lifetime begins again, unless a key asks: it cannot
 * lengthen its own. Without overlap in a session, the keys that this one made end too: the owner may know of a thief. A key that asks
 * ends no others, so that a program can change its own secret. The owner gets a mail. Refuses `key_not_found`, `key_ended`, `key_too_weak`.
 */
export const rollKey = (
  parts: KeyParts,
  caller: Caller,
  { id, overlapHours }: { id: string; overlapHours: number },
): Promise<{ key: KeyRow; secret: string }> =>
  inTransaction(parts.db, async (tx) => {
    await holdCaller(tx, caller)
    const key = await readKey(tx, caller.seller.id, id)
    if (key.revokedAt || key.isExpired) throw new Refusal('key_ended', 'This key has ended. Make a new one.')
    refuseUnlessCovered(caller, key)
    await sql`
      update api_key_secrets x set ends_at = least(x.ends_at, k.expires_at, now() + make_interval(hours => ${overlapHours}))
      from api_keys k where k.id = x.key_id and k.id = ${id}`.execute(tx)
    if (!caller.key)
      await sql`
        update api_keys set rolled_at = now(), expires_at = now() + (expires_at - rolled_at) where id = ${id}`.execute(
        tx,
      )
    const secret = await addSecret(tx, id, parts.mode)
    await notifyOwner(tx, parts.jobs, eventOf(caller, 'key_rolled', key.name), caller.seller.email)
    if (caller.session && overlapHours === 0) await endKeys(tx, caller, { madeBy: id, keeps: id })
    return { key: await readKey(tx, caller.seller.id, id), secret }
  })

/** Ends a key and all keys that it made, at once. A repeat changes nothing. Refuses `key_not_found`, `key_too_weak`. */
export const revokeKey = (parts: KeyParts, caller: Caller, id: string): Promise<void> =>
  inTransaction(parts.db, async (tx) => {
    await holdCaller(tx, caller)
    refuseUnlessCovered(caller, await readKey(tx, caller.seller.id, id))
    await endKeys(tx, caller, { madeBy: id })
  })

/** Ends a key of the seller's, unless it `keeps` it, with the keys that it made, those that they made, and so on. */
async function endKeys(tx: Tx, caller: Caller, { madeBy, keeps }: { madeBy: string; keeps?: string }): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    with recursive ended as (
      select id from api_keys where id = ${madeBy} and seller_id = ${caller.seller.id}
      union select k.id from api_keys k join ended e on k.made_by = e.id)
    update api_keys k set revoked_at = now() from ended e
    where k.id = e.id and k.id is distinct from ${keeps ?? null}::text and k.revoked_at is null
    returning k.name`.execute(tx)
  for (const { name } of rows) await addEvent(tx, eventOf(caller, 'key_revoked', name))
}

/** Ends all keys of a seller, whom the caller has locked. Returns how many there were. */
export async function revokeAllKeys(tx: Tx, sellerId: string): Promise<number> {
  const { rows } = await sql<{ name: string }>`
    update api_keys set revoked_at = now()
    where seller_id = ${sellerId} and revoked_at is null and coalesce(expires_at > now(), true) returning name`.execute(
    tx,
  )
  for (const { name } of rows) await addEvent(tx, { sellerId, what: 'key_revoked', keyName: name })
  return rows.length
}

/** A seller's keys, the newest first, and those that have ended in the last months. */
export async function listKeys(
  db: Db,
  sellerId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<KeyRow[]> {
  const { rows } = await sql<KeyRow>`
    select ${KEY_COLUMNS} from api_keys k
    where k.seller_id = ${sellerId} and (${after ?? null}::text is null or k.id < ${after ?? null})
    order by k.id desc limit ${limit}`.execute(db)
  return rows
}

/** Removes keys and secrets that ended long ago. */
export async function sweepKeys(db: Db): Promise<void> {
  const longAgo = sql`now() - make_interval(days => ${ENDED_DAYS})`
  await sweepRows(db, 'api_keys', sql`revoked_at < ${longAgo} or expires_at < ${longAgo}`)
  await sweepRows(db, 'api_key_secrets', sql`ends_at < ${longAgo}`)
}

/** Locks the seller, so that changes to the keys come one after the other. Then it checks that the caller has not ended meanwhile. */
async function holdCaller(tx: Tx, { seller, session, key }: Caller): Promise<void> {
  const isThere = await lockSellerById(tx, seller.id)
  if (session && !(isThere && (await holdSession(tx, session.id))))
    throw new Refusal('not_signed_in', 'The session has ended.')
  if (!key) return
  const { rows } = await sql`
    select 1 from api_keys k join api_key_secrets x on x.key_id = k.id and x.secret_hash = ${key.secretHash}
    where k.id = ${key.id} and k.revoked_at is null and coalesce(least(k.expires_at, x.ends_at) > clock_timestamp(), true)`.execute(
    tx,
  )
  if (!isThere || rows.length === 0) throw new Refusal('key_revoked', 'The key has ended.')
}

async function readKey(tx: Tx, sellerId: string, id: string): Promise<KeyRow> {
  const { rows } = await sql<KeyRow>`
    select ${KEY_COLUMNS} from api_keys k where k.id = ${id} and k.seller_id = ${sellerId}`.execute(tx)
  if (!rows[0]) throw new Refusal('key_not_found', 'There is no such key of yours.')
  return rows[0]
}

async function addSecret(tx: Tx, keyId: string, mode: KeyMode): Promise<string> {
  const secret = newSecret(mode)
  await sql`
    insert into api_key_secrets (secret_hash, key_id, prefix, last_four)
    values (${hashOf(secret)}, ${keyId}, ${prefixOf(mode)}, ${secret.slice(-4)})`.execute(tx)
  return secret
}

async function refuseUnknownProducts(tx: Tx, sellerId: string, productIds: readonly string[] | null): Promise<void> {
  if (!productIds) return
  const { rows } = await sql<{ id: string }>`
    select id from products where id = any(${productIds}) and seller_id = ${sellerId}`.execute(tx)
  const missing = productIds.find((wanted) => !rows.some(({ id }) => id === wanted))
  if (missing !== undefined) throw new Refusal('product_not_found', `There is no such product of yours: ${missing}`)
}

/** A key must not get by another key a right that it does not have: neither by making one, nor by a new secret of one. */
function refuseUnlessCovered(
  { key: own }: Caller,
  {
    scopes,
    productIds,
    expiresAt,
  }: Pick<KeyRow, 'expiresAt'> & { scopes: readonly string[]; productIds: readonly string[] | null },
): void {
  if (!own) return
  const missing = scopes.filter((scope) => !own.scopes.includes(scope))
  const refuse = (detail: string) => {
    throw new Refusal('key_too_weak', detail)
  }
  if (missing.length > 0) refuse(`The key of this request does not have ${missing.join(', ')} itself.`)
  if (own.productIds && !productIds?.every((id) => own.productIds!.includes(id)))
    refuse('The key of this request is bound to other products.')
  if (own.expiresAt && (expiresAt === null || expiresAt > own.expiresAt))
    refuse('The key of this request ends before the other.')
}

const eventOf = (
  { seller }: Caller,
  what: 'key_created' | 'key_rolled' | 'key_revoked',
  keyName: string,
): AccountEvent => ({
  sellerId: seller.id,
  what,
  keyName,
})
