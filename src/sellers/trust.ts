import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'

export interface TrustedSeller {
  email: string
  /** The seller already had this state. */
  already: boolean
}

/**
 * Marks a seller as trusted or not. Subjects of mails have a trusted seller's words, and receipts of free orders are mailed without the
 * limits for untrusted sellers. Undefined: there is no such seller.
 */
export async function trustSeller(db: Db, sellerId: string, isTrusted: boolean): Promise<TrustedSeller | undefined> {
  const { rows } = await sql<TrustedSeller>`
    update sellers s set trusted_at = case when ${isTrusted}::boolean then coalesce(s.trusted_at, now()) end
    from (select id, trusted_at from sellers where id = ${sellerId} for update) before
    where s.id = before.id
    returning s.email, (before.trusted_at is not null) = ${isTrusted}::boolean as already`.execute(db)
  return rows[0]
}
