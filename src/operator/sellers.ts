import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import { isId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { revokeAllKeys } from '../sellers/keys/keys.ts'
import { addNotice } from '../sellers/mails.ts'
import { type Standing, standingOf } from '../sellers/standing.ts'
import { trustSeller } from '../sellers/trust.ts'
import { note } from './log.ts'

export interface SellerSearch {
  /** An id, a whole address, or the beginning of an address or of a name. */
  q?: string | undefined
  standing?: Standing | undefined
}

export interface FoundSeller {
  id: string
  name: string
  email: string
  standing: Standing
  isTrusted: boolean
  createdAt: Date
  approvalAskedAt: Date | null
  suspendedAt: Date | null
  lockedOutAt: Date | null
  /** The seller sells nothing until an account at the processor takes payments. */
  awaitsAccount: boolean
  /** The seller's own quota. Null: the service's. */
  quotaBytes: number | null
  usedBytes: number
  products: number
  sessions: number
}

/** Sellers, the newest first. */
export async function searchSellers(
  db: Db,
  { q, standing }: SellerSearch,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<FoundSeller[]> {
  const typed = q?.trim() ?? ''
  const beginning = `${typed.replaceAll(/[\\%_]/g, '\\$&')}%`
  const conditions = [sql`true`]
  if (isId('sel', typed)) conditions.push(sql`s.id = ${typed}`)
  else if (typed !== '') conditions.push(sql`(s.email ilike ${beginning} or s.name ilike ${beginning})`)
  if (standing) conditions.push(sql`${standingOf('s')} = ${standing}`)
  if (after !== undefined)
    conditions.push(sql`(s.created_at, s.id) < ((select created_at from sellers where id = ${after}), ${after})`)
  const { rows } = await sql<FoundSeller>`
    select s.id, s.name, s.email, ${standingOf('s')} as standing, s.trusted_at is not null as "isTrusted",
      s.created_at as "createdAt", s.approval_asked_at as "approvalAskedAt", s.suspended_at as "suspendedAt",
      s.disabled_at as "lockedOutAt", s.awaits_account as "awaitsAccount", s.quota_bytes as "quotaBytes",
      (select coalesce(sum(f.size_bytes), 0)::bigint from files f join products p on p.id = f.product_id
        where p.seller_id = s.id) as "usedBytes",
      (select count(*)::int from products p where p.seller_id = s.id and p.status <> 'archived') as products,
      (select count(*)::int from sessions e where e.seller_id = s.id) as sessions
    from (
      select * from sellers s where ${sql.join(conditions, sql` and `)}
      order by s.created_at desc, s.id desc limit ${limit}) s
    order by s.created_at desc, s.id desc`.execute(db)
  return rows
}

/** The seller with this id. Refuses `seller_not_found`. */
export async function findSeller(db: Db, sellerId: string): Promise<FoundSeller> {
  const [found] = isId('sel', sellerId) ? await searchSellers(db, { q: sellerId }, { after: undefined, limit: 1 }) : []
  return found ?? unknownSeller()
}

/** The id of the seller with this id or address. Refuses `seller_not_found`. */
export async function sellerIdOf(db: Db, idOrEmail: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from sellers where id = ${idOrEmail} or email = ${canonicalEmail(idOrEmail)}`.execute(db)
  return rows[0]?.id ?? unknownSeller()
}

/** An operator's action on a seller. False: it was so before, and nothing is written. Each refuses `seller_not_found`. */
export type SellerAction = (db: Db, jobs: Jobs, actor: string, sellerId: string) => Promise<boolean>

/** Approves a seller, who is trusted, and sells from then on if nothing else is missing. A seller who has waited gets a mail. */
export const approveSeller: SellerAction = (db, jobs, actor, sellerId) =>
  inTransaction(db, async (tx) => {
    const { waited } = await lockSeller(tx, sellerId)
    const { already, email } = (await trustSeller(tx, sellerId, true)) ?? unknownSeller()
    if (already) return false
    await note(tx, actor, 'seller_approved', sellerId, { email })
    if (waited) await tellOpen(tx, jobs, 'shop_approved', sellerId)
    return true
  })

/** Takes approval and trust back. A seller who signed up with an approval waits again. */
export const endApproval: SellerAction = (db, _jobs, actor, sellerId) =>
  inTransaction(db, async (tx) => {
    await lockSeller(tx, sellerId)
    const { already, email } = (await trustSeller(tx, sellerId, false)) ?? unknownSeller()
    if (!already) await note(tx, actor, 'seller_approval_ended', sellerId, { email })
    return !already
  })

/** Stops the sales of a seller at once. Buyers keep their files, and payments that have begun still end as sales. */
export const suspendSeller: SellerAction = (db, jobs, actor, sellerId) =>
  inTransaction(db, async (tx) => {
    await lockSeller(tx, sellerId)
    const { rows } = await sql<{ email: string }>`
      update sellers set suspended_at = now() where id = ${sellerId} and suspended_at is null returning email`.execute(
      tx,
    )
    if (!rows[0]) return false
    await note(tx, actor, 'seller_suspended', sellerId, rows[0])
    await addNotice(tx, jobs, { kind: 'shop_suspended', to: rows[0].email })
    return true
  })

/** Ends a suspension. */
export const resumeSeller: SellerAction = (db, jobs, actor, sellerId) =>
  inTransaction(db, async (tx) => {
    await lockSeller(tx, sellerId)
    const { rows } = await sql<{ email: string }>`
      update sellers set suspended_at = null where id = ${sellerId} and suspended_at is not null returning email`.execute(
      tx,
    )
    if (!rows[0]) return false
    await note(tx, actor, 'seller_resumed', sellerId, rows[0])
    await tellOpen(tx, jobs, 'shop_resumed', sellerId)
    return true
  })

/** Sets the storage quota of a seller. 0 is no limit, and null the service's quota. */
export const setQuota = (db: Db, actor: string, sellerId: string, quotaBytes: number | null): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const before = await lockSeller(tx, sellerId)
    if (before.quotaBytes === quotaBytes) return false
    await sql`update sellers set quota_bytes = ${quotaBytes} where id = ${sellerId}`.execute(tx)
    await note(tx, actor, 'seller_quota_set', sellerId, { quotaBytes, beforeBytes: before.quotaBytes })
    return true
  })

/** Signs a seller out everywhere. */
export const endSellerSessions: SellerAction = (db, _jobs, actor, sellerId) =>
  inTransaction(db, async (tx) => {
    await lockSeller(tx, sellerId)
    const { rows } = await sql`delete from sessions where seller_id = ${sellerId} returning 1`.execute(tx)
    if (rows.length > 0) await note(tx, actor, 'seller_sessions_ended', sellerId, { sessions: rows.length })
    return rows.length > 0
  })

/** Ends all API keys of a seller, so that a thief of one cannot go on where a sign-out ends sessions only. */
export const revokeSellerKeys: SellerAction = (db, _jobs, actor, sellerId) =>
  inTransaction(db, async (tx) => {
    await lockSeller(tx, sellerId)
    const keys = await revokeAllKeys(tx, sellerId)
    if (keys > 0) await note(tx, actor, 'seller_keys_revoked', sellerId, { keys })
    return keys > 0
  })

/**
 * Mails the seller that the shop is open, or what is still missing for that. Nothing is mailed to a seller who is suspended or locked
 * out: the shop stays closed, and only the operator can change that.
 */
async function tellOpen(tx: Tx, jobs: Jobs, kind: 'shop_approved' | 'shop_resumed', sellerId: string): Promise<void> {
  const { rows } = await sql<{ to: string; stillNeeds: 'approval' | 'account' | null }>`
    select s.email as to, case when ${standingOf('s')} = 'awaiting_approval' then 'approval' when s.awaits_account then 'account' end as "stillNeeds"
    from sellers s where s.id = ${sellerId} and s.suspended_at is null and s.disabled_at is null`.execute(tx)
  const [seller] = rows
  if (seller)
    await addNotice(tx, jobs, { kind, to: seller.to, ...(seller.stillNeeds && { stillNeeds: seller.stillNeeds }) })
}

/** Locks the seller until `tx` ends, so that simultaneous actions about one seller run one after the other. */
async function lockSeller(tx: Tx, sellerId: string): Promise<{ waited: boolean; quotaBytes: number | null }> {
  const { rows } = await sql<{ waited: boolean; quotaBytes: number | null }>`
    select approval_asked_at is not null as waited, quota_bytes as "quotaBytes"
    from sellers where id = ${sellerId} for no key update`.execute(tx)
  return rows[0] ?? unknownSeller()
}

function unknownSeller(): never {
  throw new Refusal('seller_not_found', 'There is no such seller.')
}
