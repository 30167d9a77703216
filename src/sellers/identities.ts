import { sql } from 'kysely'
import type { Db, Tx } from '../kit/database.ts'
import { newId } from '../kit/ids.ts'

/** The identity of a person, as a provider states it. */
export interface Identity {
  issuer: string
  subject: string
  email: string | undefined
}

export interface LinkedIdentity {
  id: string
  issuer: string
  email: string | null
  linkedAt: Date
}

/** Links a provider's account to a seller. Returns the seller it belongs to: another one, if it was linked before. */
export async function linkIdentity(
  tx: Tx,
  sellerId: string,
  { issuer, subject, email }: Identity,
): Promise<{ sellerId: string; isNew: boolean }> {
  const { rows: made } = await sql`
    insert into identities (id, seller_id, issuer, subject, email)
    values (${newId('idn')}, ${sellerId}, ${issuer}, ${subject}, ${email ?? null})
    on conflict (issuer, subject) do nothing returning 1`.execute(tx)
  if (made.length > 0) return { sellerId, isNew: true }
  return { sellerId: (await ownerOf(tx, { issuer, subject })) ?? sellerId, isNew: false }
}

/**
 * Whether the seller has ever had an account of this provider linked. A provider can give an address to another person, so for a
 * further account its verification of the address proves nothing.
 */
export async function hasHadIdentityOf(tx: Tx, sellerId: string, issuer: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 where exists (select from identities where seller_id = ${sellerId} and issuer = ${issuer})
      or exists (select from account_events where seller_id = ${sellerId} and issuer = ${issuer})`.execute(tx)
  return rows.length > 0
}

/** The seller to whom a provider's account is linked. */
export async function ownerOf(db: Db, { issuer, subject }: Omit<Identity, 'email'>): Promise<string | undefined> {
  const { rows } = await sql<{ sellerId: string }>`
    select seller_id as "sellerId" from identities where issuer = ${issuer} and subject = ${subject}`.execute(db)
  return rows[0]?.sellerId
}

export async function listIdentities(db: Db, sellerId: string): Promise<LinkedIdentity[]> {
  const { rows } = await sql<LinkedIdentity>`
    select id, issuer, email, linked_at as "linkedAt" from identities where seller_id = ${sellerId}
    order by linked_at desc, id desc`.execute(db)
  return rows
}

/** Unlinks a provider's account. Undefined: the seller has no such account. The seller can still sign in by a code. */
export async function unlinkIdentity(
  tx: Tx,
  sellerId: string,
  id: string,
): Promise<Pick<LinkedIdentity, 'issuer' | 'email'> | undefined> {
  const { rows } = await sql<Pick<LinkedIdentity, 'issuer' | 'email'>>`
    delete from identities where id = ${id} and seller_id = ${sellerId} returning issuer, email`.execute(tx)
  return rows[0]
}
