import { sql } from 'kysely'
import { batched } from '../kit/batch.ts'
import { compiledOnce } from '../kit/compiled.ts'
import { type Db, type Tx, isDatabaseOutage } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { genericPlanArray } from '../kit/plans.ts'
import { newId } from '../kit/ids.ts'
import { sweepRows } from '../kit/sweep.ts'
import { hashOf, isToken, newToken } from '../kit/tokens.ts'
import type { Method } from './schema.ts'
import { type SellerRow, lockSellerById } from './sellers.ts'
import { type Standing, standingOf } from './standing.ts'

/** The database's clock decides about all of these times. */
const IDLE = sql`interval '30 days'`
const LIFE = sql`interval '90 days'`
/** The seller can change the account's security for this long after a sign-in. */
const RECENT = sql`interval '10 minutes'`
/** The provider may have sent back whoever found an open screen, so the sign-in there counts. */
const signedInSince = sql`coalesce(s.provider_signed_in_at, s.created_at)`
/** The precision of the time of a session's last use, so that it is written once an hour and not with each request. */
const SEEN = sql`interval '1 hour'`
export const MOST_SESSIONS = 50
const USER_AGENT_LONGEST = 300

export interface SignedIn {
  id: string
  method: Method
  createdAt: Date
  isRecent: boolean
  recentUntil: Date
  /** The mailbox is proven. */
  isProven: boolean
  seller: SellerRow
}

export type FindSession = (token: string) => Promise<SignedIn | undefined>

interface Row extends Omit<SignedIn, 'seller'> {
  tokenHash: Buffer
  isStale: boolean
  sellerId: string
  name: string
  email: string
  supportEmail: string | null
  hasPassword: boolean
  standing: Standing
  sellerSince: Date
}

const readSessions = compiledOnce<{ hashes: readonly Buffer[] }, Row>(
  (given) => sql`
    select s.token_hash as "tokenHash", s.id, s.method, s.created_at as "createdAt",
      ${signedInSince} > now() - ${RECENT} as "isRecent", ${signedInSince} + ${RECENT} as "recentUntil",
      s.seen_at < now() - ${SEEN} as "isStale",
      e.id as "sellerId", e.name, e.email, e.support_email as "supportEmail", e.created_at as "sellerSince", e.email_proven_at is not null as "isProven", ${standingOf('e')} as standing,
      exists (select 1 from passwords p where p.seller_id = e.id) as "hasPassword"
    from sessions s join sellers e on e.id = s.seller_id
    where s.token_hash = any(${genericPlanArray(given('hashes'), 'bytea')}::bytea[]) and s.seen_at > now() - ${IDLE}
      and s.created_at > now() - ${LIFE} and e.disabled_at is null`,
)

/** Finds who is signed in, in one read by the token's hash; simultaneous requests share one statement. */
export function sessionFinder(db: Db): FindSession {
  const read = batched(
    async (hashes: readonly Buffer[]) => {
      const rows = await readSessions(db, { hashes })
      const byHash = new Map(rows.map((row) => [row.tokenHash.toString('hex'), row]))
      return hashes.map((hash) => byHash.get(hash.toString('hex')))
    },
    { most: 64, atOnce: 2, isOutage: isDatabaseOutage },
  )
  return async (token) => {
    if (!isToken(token)) return undefined
    const row = await read(hashOf(token))
    if (!row) return undefined
    if (row.isStale) await sql`update sessions set seen_at = now() where id = ${row.id}`.execute(db)
    const { id, method, createdAt, isRecent, recentUntil, isProven, sellerId, sellerSince } = row
    const { name, email, supportEmail, hasPassword, standing } = row
    const seller = { id: sellerId, name, email, supportEmail, hasPassword, standing, createdAt: sellerSince }
    return { id, method, createdAt, isRecent, recentUntil, isProven, seller }
  }
}

/** The browser of a sign-in: its user agent, and the tokens of its old sessions, which end. */
export interface Browser {
  userAgent: string | undefined
  tokens: readonly string[]
}

/** A new session. We store the hash of its token; only the browser has the token. */
export function newSession({ userAgent, tokens }: Browser) {
  const token = newToken()
  const made = { id: newId('ses'), tokenHash: hashOf(token), userAgent: printable(userAgent ?? '') }
  return { token, ...made, replaced: tokens.map(hashOf) }
}

/**
 * Starts a session, and ends those it replaces. With too many sessions the oldest end. `tx` must hold the seller's lock. `signedInAt`: when
 * the person signed in at the provider, which may be long ago.
 */
export async function startSession(
  tx: Tx,
  {
    sellerId,
    method,
    browser,
    signedInAt,
  }: { sellerId: string; method: Method; browser: Browser; signedInAt?: Date | undefined },
): Promise<string> {
  const { token, id, tokenHash, userAgent, replaced } = newSession(browser)
  await sql`
    with replaced as (delete from sessions where token_hash = any(${replaced})),
    oldest as (
      delete from sessions where id in (
        select id from sessions where seller_id = ${sellerId} and token_hash <> all(${replaced})
        order by created_at desc, id desc offset ${MOST_SESSIONS - 1}))
    insert into sessions (id, token_hash, seller_id, method, user_agent, provider_signed_in_at)
    values (${id}, ${tokenHash}, ${sellerId}, ${method}, ${userAgent}, ${signedInAt ?? null})`.execute(tx)
  return token
}

export interface ListedSession {
  id: string
  method: Method
  userAgent: string
  createdAt: Date
  seenAt: Date
}

/** The sessions of a seller, newest first. */
export async function listSessions(db: Db, sellerId: string): Promise<ListedSession[]> {
  const { rows } = await sql<ListedSession>`
    select id, method, user_agent as "userAgent", created_at as "createdAt", seen_at as "seenAt"
    from sessions
    where seller_id = ${sellerId} and seen_at > now() - ${IDLE} and created_at > now() - ${LIFE}
    order by created_at desc, id desc`.execute(db)
  return rows
}

/** Ends the sessions that have these tokens. */
export async function endSessions(db: Db, tokens: readonly string[]): Promise<void> {
  if (tokens.length > 0) await sql`delete from sessions where token_hash = any(${tokens.map(hashOf)})`.execute(db)
}

/** Ends a session of the seller. False: the seller has no such session. */
export async function endSessionById(db: Db, sellerId: string, id: string): Promise<boolean> {
  const { rows } = await sql`delete from sessions where id = ${id} and seller_id = ${sellerId} returning 1`.execute(db)
  return rows.length > 0
}

export async function endOtherSessions(db: Db, sellerId: string, currentId: string): Promise<void> {
  await sql`delete from sessions where seller_id = ${sellerId} and id <> ${currentId}`.execute(db)
}

/** Whether a session still exists. It is locked until `tx` ends, so a simultaneous sign-out comes either before or after. */
export async function holdSession(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await sql`select 1 from sessions where id = ${id} for key share`.execute(tx)
  return rows.length > 0
}

/**
 * Locks the signed-in seller until `tx` ends, and holds the session. Throws `not_signed_in` when the session has ended or the seller is
 * removed or disabled.
 */
export async function lockSignedIn(tx: Tx, { id: sessionId, seller: { id } }: SignedIn) {
  const seller = await lockSellerById(tx, id)
  if (!seller || !(await holdSession(tx, sessionId))) throw new Refusal('not_signed_in', 'The session has ended.')
  return seller
}

/** Removes expired sessions. */
export async function sweepSessions(db: Db): Promise<void> {
  const isOver = sql`seen_at < now() - ${IDLE} or created_at < now() - ${LIFE}`
  await sweepRows(db, 'sessions', isOver)
}

/** The user agent without characters that a text column cannot store. */
const printable = (userAgent: string): string => userAgent.replaceAll(/[^\x20-\x7e]/g, '').slice(0, USER_AGENT_LONGEST)
