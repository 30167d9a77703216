import { type RawBuilder, sql } from 'kysely'
import { Refusal } from '../kit/errors.ts'
import type { Db } from '../kit/database.ts'

/** The operator's decision about a seller. A seller who is not active cannot sell, but can sign in, prepare products and refund buyers. */
export const STANDINGS = ['active', 'awaiting_approval', 'suspended'] as const
export type Standing = (typeof STANDINGS)[number]

/** The standing of the seller `alias`. A suspension outweighs everything else. */
export const standingOf = (alias: string): RawBuilder<Standing> => {
  const of = (name: string) => sql.ref(`${alias}.${name}`)
  return sql<Standing>`case
    when ${of('suspended_at')} is not null then 'suspended'
    when ${of('approval_asked_at')} is not null and ${of('trusted_at')} is null then 'awaiting_approval'
    else 'active' end`
}

/** Whether the operator has suspended the seller `s` or locked the seller out. No run proposes a payout to them. */
export const isSuspended = sql<boolean>`(s.suspended_at is not null or s.disabled_at is not null)`

/** Whether the seller `s` may sell. A seller who is locked out could not help the buyers. */
export const maySell = sql<boolean>`s.suspended_at is null and s.disabled_at is null and not s.awaits_account
  and (s.approval_asked_at is null or s.trusted_at is not null)`

/** Whether the seller of the product `p` may sell it. */
export const sellerMaySell = sql<boolean>`exists (select from sellers s where s.id = p.seller_id and ${maySell})`

const WHY_NOT: Record<Exclude<Standing, 'active'>, () => Refusal> = {
  awaiting_approval: () =>
    new Refusal(
      'approval_awaited',
      'The operator of this service has not approved your shop yet. You can prepare everything; mails to others wait for the approval.',
    ),
  suspended: () =>
    new Refusal(
      'seller_suspended',
      'The operator of this service has suspended your shop. It sends no mails to others.',
    ),
}

/** A seller causes no mail to others before the approval, and none while suspended. Refuses `approval_awaited`, `seller_suspended`. */
export async function refuseUnlessActive(db: Db, sellerId: string): Promise<void> {
  const { rows } = await sql<{ standing: Standing }>`
    select ${standingOf('s')} as standing from sellers s where s.id = ${sellerId}`.execute(db)
  const standing = rows[0]?.standing ?? 'active'
  if (standing !== 'active') throw WHY_NOT[standing]()
}
