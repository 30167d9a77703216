import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { newId } from '../kit/ids.ts'
import { sweepOld } from '../kit/sweep.ts'
import type { FoundKey } from '../sellers/keys/find.ts'
import type { Shown } from './proposals.ts'

/** Long enough to notice a message of one's assistant, and too short to be found open on the next day. */
const OPEN_MINUTES = 60
/** A program that proposes without end must not hide the one proposal that the seller wants. */
const MOST_OPEN = 20
const KEPT_DAYS = 90

export interface NewConfirmation {
  tool: string
  title: string
  method: string
  path: string
  body: unknown
  ifMatch: string | undefined
  shown: readonly Shown[]
}

export interface Confirmation {
  id: string
  tool: string
  keyName: string
  lastFour: string
  method: string
  path: string
  body: unknown
  ifMatch: string | null
  shown: { title: string; lines: Shown[] }
  createdAt: Date
  expiresAt: Date
  /** Void: the key that proposed it has ended. */
  state: 'open' | 'expired' | 'void' | 'confirmed' | 'declined'
  /** The status of the request's answer, after it was confirmed. Null: it is under way, or its process ended before the answer. */
  status: number | null
}

/** The key that proposed it has not ended: otherwise the proposal is void. */
const IS_LIVE = sql`exists (
  select 1 from api_keys k where k.id = c.key_id and k.revoked_at is null and coalesce(k.expires_at > now(), true))`

/** Stores a proposal that the seller is to decide. Refuses `too_many_confirmations`. */
export const addConfirmation = (
  db: Db,
  key: FoundKey,
  { tool, title, method, path, body, ifMatch, shown }: NewConfirmation,
): Promise<{ id: string; expiresAt: Date }> =>
  inTransaction(db, async (tx) => {
    // one at a time for a seller, so that the count holds
    await sql`select 1 from sellers where id = ${key.seller.id} for no key update`.execute(tx)
    const { rows } = await sql<{ id: string; expiresAt: Date }>`
      insert into confirmations (id, seller_id, key_id, key_name, last_four, tool, method, path, body, if_match, shown, expires_at)
      select ${newId('cnf')}, ${key.seller.id}, ${key.id}, ${key.name}, ${key.lastFour}, ${tool}, ${method}, ${path},
        ${JSON.stringify(body ?? {})}::jsonb, ${ifMatch ?? null}, ${JSON.stringify({ title, lines: shown })}::jsonb,
        now() + make_interval(mins => ${OPEN_MINUTES})
      where (select count(*) from confirmations c
        where c.seller_id = ${key.seller.id} and c.decision is null and c.expires_at > now() and ${IS_LIVE}) < ${MOST_OPEN}
      returning id, expires_at as "expiresAt"`.execute(tx)
    if (rows[0]) return rows[0]
    throw new Refusal(
      'too_many_confirmations',
      `${MOST_OPEN} proposals wait for the seller. Each ends after ${OPEN_MINUTES} minutes.`,
    )
  })

const COLUMNS = sql`
  c.id, c.tool, c.key_name as "keyName", c.last_four as "lastFour", c.method, c.path, c.body, c.if_match as "ifMatch", c.shown,
  c.created_at as "createdAt", c.expires_at as "expiresAt", c.status,
  case when c.decision is not null then c.decision when c.expires_at <= now() then 'expired'
    when not ${IS_LIVE} then 'void' else 'open' end as state`

/** A seller's own confirmation; for a key only one that the key has proposed itself. Refuses `confirmation_not_found`. */
export async function findConfirmation(db: Db, sellerId: string, id: string, keyId?: string): Promise<Confirmation> {
  const { rows } = await sql<Confirmation>`
    select ${COLUMNS} from confirmations c where c.id = ${id} and c.seller_id = ${sellerId}
      and (${keyId ?? null}::text is null or c.key_id = ${keyId ?? null})`.execute(db)
  if (!rows[0]) throw new Refusal('confirmation_not_found', 'There is no such proposal in this shop.')
  return rows[0]
}

/**
 * Decides, once: of two decisions at the same moment one finds it open. Refuses `confirmation_not_found`, and `confirmation_over` when
 * it was decided, has expired, or its key has ended.
 */
export async function decide(
  db: Db,
  sellerId: string,
  id: string,
  decision: 'confirmed' | 'declined',
): Promise<Confirmation> {
  const { rows } = await sql<Confirmation>`
    update confirmations c set decision = ${decision}, decided_at = now()
    where c.id = ${id} and c.seller_id = ${sellerId} and c.decision is null and c.expires_at > now() and ${IS_LIVE}
    returning ${COLUMNS}`.execute(db)
  if (rows[0]) return rows[0]
  const { state } = await findConfirmation(db, sellerId, id)
  throw new Refusal('confirmation_over', OVER[state])
}

const OVER: Record<Confirmation['state'], string> = {
  open: 'This was decided in another window. Look again.',
  expired: 'This proposal has expired. Ask your assistant for a new one.',
  void: 'The key that proposed this has ended.',
  confirmed: 'You have confirmed this already. It is not done twice.',
  declined: 'You have declined this.',
}

/** Opens a confirmed proposal again of which no request was made. */
export async function reopen(db: Db, id: string): Promise<void> {
  await sql`
    update confirmations set decision = null, decided_at = null
    where id = ${id} and decision = 'confirmed' and status is null`.execute(db)
}

/** Notes how the confirmed request was answered. */
export async function noteOutcome(db: Db, id: string, status: number): Promise<void> {
  await sql`update confirmations set status = ${status} where id = ${id} and decision = 'confirmed'`.execute(db)
}

/** Removes confirmations from long ago. */
export const sweepConfirmations = (db: Db): Promise<number> =>
  sweepOld(db, { table: 'confirmations', time: 'created_at', days: KEPT_DAYS })
