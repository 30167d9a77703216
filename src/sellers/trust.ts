import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'

export interface TrustedSeller {
  id: string
  name: string
  email: string
  /** It was so before. */
  already: boolean
}

/**
 * The operator trusts a seller, by address or id, or trusts them no longer. A trusted seller's words stand in the subjects of
 * mails, and what the seller gives away is mailed without the limits for strangers. Undefined: there is no such seller.
 */
export async function trustSeller(db: Db, seller: string, isTrusted: boolean): Promise<TrustedSeller | undefined> {
  const { rows } = await sql<TrustedSeller>`
    update sellers s set trusted_at = case when ${isTrusted}::boolean then coalesce(s.trusted_at, now()) end
    from (select id, trusted_at from sellers where email = lower(btrim(${seller})) or id = ${seller} for update) before
    where s.id = before.id
    returning s.id, s.name, s.email, (before.trusted_at is not null) = ${isTrusted}::boolean as already`.execute(db)
  return rows[0]
}
