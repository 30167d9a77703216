import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import { newId } from '../kit/ids.ts'
import { type Standing, standingOf } from './standing.ts'

/** Buyers read this name until the seller sets one. A name made from the address would publish a part of it. */
const UNNAMED = 'New seller'

export interface SellerRow {
  id: string
  name: string
  email: string
  /** The address where buyers reach the seller. Null: `email`. */
  supportEmail: string | null
  hasPassword: boolean
  standing: Standing
  createdAt: Date
}

const SIGNUPS = ['open', 'approval', 'closed'] as const
/** `approval`: a new seller sells after the operator's approval. `closed`: there are no new sellers. */
export type Signup = (typeof SIGNUPS)[number]
/** How the owner of a mailbox may sign up: operators always may. */
export type SignupOf = (email: string) => Signup

/** Returns the seller with this canonical address, and makes one if there is none. `trusted` marks the seller as trusted. */
export async function ensureSeller(
  db: Db,
  { name, email, trusted = false }: { name: string; email: string; trusted?: boolean },
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into sellers (id, name, email, trusted_at)
    values (${newId('sel')}, ${name}, ${email}, case when ${trusted}::boolean then now() end)
    on conflict (email) do update set trusted_at = coalesce(sellers.trusted_at, excluded.trusted_at)
    returning id`.execute(db)
  return rows[0]!.id
}

/**
 * Returns the seller of a mailbox that has just been proven, and makes one unless sign-up is closed. The seller is locked until `tx` ends,
 * so simultaneous sign-ins run one after the other. Undefined: there is no such seller, or the operator has disabled the account.
 */
export async function sellerOfProvenMailbox(
  tx: Tx,
  email: string,
  signupOf: SignupOf,
): Promise<(SellerRow & { isNew: boolean }) | undefined> {
  let isNew = false
  const signup = signupOf(email)
  if (signup !== 'closed') {
    const { rows } = await sql`
      insert into sellers (id, name, email, email_proven_at, approval_asked_at)
      values (${newId('sel')}, ${UNNAMED}, ${email}, now(), case when ${signup === 'approval'} then now() end)
      on conflict (email) do nothing returning 1`.execute(tx)
    isNew = rows.length > 0
  }
  const seller = await lockSeller(tx, sql`email = ${email}`)
  if (!seller) return undefined
  if (!seller.isProven) await firstProof(tx, seller.id)
  return { ...seller, isNew, hasPassword: seller.isProven && seller.hasPassword }
}

/** Returns the seller with this id, locked until `tx` ends. Undefined: removed or disabled. */
export const lockSellerById = (tx: Tx, id: string): Promise<(SellerRow & { isProven: boolean }) | undefined> =>
  lockSeller(tx, sql`id = ${id}`)

async function lockSeller(
  tx: Tx,
  which: ReturnType<typeof sql>,
): Promise<(SellerRow & { isProven: boolean }) | undefined> {
  const { rows } = await sql<SellerRow & { isProven: boolean }>`
    select id, name, email, support_email as "supportEmail", created_at as "createdAt", ${standingOf('sellers')} as standing, email_proven_at is not null as "isProven",
      exists (select 1 from passwords p where p.seller_id = sellers.id) as "hasPassword"
    from sellers where ${which} and disabled_at is null for no key update`.execute(tx)
  return rows[0]
}

/** Removes everything that was set before the owner proved the mailbox, because another person may have made this row. */
async function firstProof(tx: Tx, sellerId: string): Promise<void> {
  await sql`delete from passwords where seller_id = ${sellerId}`.execute(tx)
  await sql`delete from identities where seller_id = ${sellerId}`.execute(tx)
  await sql`delete from sessions where seller_id = ${sellerId}`.execute(tx)
  await sql`delete from api_keys where seller_id = ${sellerId}`.execute(tx)
  await sql`delete from account_events where seller_id = ${sellerId}`.execute(tx)
  await sql`update sellers set email_proven_at = now() where id = ${sellerId}`.execute(tx)
}
