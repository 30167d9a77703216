import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import { hashOf } from '../../kit/tokens.ts'
import type { SellerRow } from '../sellers.ts'
import { type Standing, standingOf } from '../standing.ts'

/** A key that a request brought, and whose it is. */
export interface FoundKey {
  id: string
  name: string
  /** Of the secret that the request brought. */
  secretHash: Buffer
  /** The end of that secret. */
  lastFour: string
  prefix: string
  scopes: readonly string[]
  /** Null: the key is bound to no products. */
  productIds: readonly string[] | null
  expiresAt: Date | null
  state: 'live' | 'replaced' | 'revoked' | 'expired'
  /** Its last use was noted in an earlier hour, or never. */
  isStale: boolean
  seller: SellerRow
}

/** Finds a key by its secret, in one read of the database. So a revoked key ends everywhere at once. */
export function keyFinder(db: Db): (secret: string) => Promise<FoundKey | undefined> {
  interface Row extends Omit<FoundKey, 'seller'> {
    sellerId: string
    sellerName: string
    email: string
    supportEmail: string | null
    hasPassword: boolean
    standing: Standing
    sellerSince: Date
  }
  return async (secret) => {
    const { rows } = await sql<Row>`
      select k.id, k.name, x.secret_hash as "secretHash", x.last_four as "lastFour", x.prefix, k.scopes, k.product_ids as "productIds", k.expires_at as "expiresAt",
        case when k.revoked_at is not null then 'revoked' when x.ends_at <= now() then 'replaced'
          when k.expires_at <= now() then 'expired' else 'live' end as state,
        coalesce(k.last_used_at < date_trunc('hour', now(), 'UTC'), true) as "isStale",
        e.id as "sellerId", e.name as "sellerName", e.email, e.support_email as "supportEmail",
        e.created_at as "sellerSince", ${standingOf('e')} as standing,
        exists (select 1 from passwords p where p.seller_id = e.id) as "hasPassword"
      from api_key_secrets x join api_keys k on k.id = x.key_id join sellers e on e.id = k.seller_id
      where x.secret_hash = ${hashOf(secret)} and e.disabled_at is null`.execute(db)
    if (!rows[0]) return undefined
    const { sellerId, sellerName, email, supportEmail, hasPassword, standing, sellerSince, ...key } = rows[0]
    const seller = {
      id: sellerId,
      name: sellerName,
      email,
      supportEmail,
      hasPassword,
      standing,
      createdAt: sellerSince,
    }
    return { ...key, seller }
  }
}
