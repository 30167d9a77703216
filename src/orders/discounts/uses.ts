import { sql } from 'kysely'
import type { Db, Tx } from '../../kit/database.ts'

/**
 * How long an unpaid order holds one of a code's limited uses. Without money anybody can make such orders, so a long hold would
 * take the code from every other buyer. The order ends with its hold, and its payment is closed at the processor before that.
 */
export const HOLD_MINUTES = 15
/** Activity renews a hold, but no longer than this after the order's making. */
const LONGEST_HOLD = '1 day'

/** The same whatever the reason: who tries codes learns nothing from it. */
export const DISCOUNT_NOT_VALID = 'This code is not valid here, or not any more.'

/** A code as it is compared: empty where it cannot be one, which then is no seller's; undefined where nothing was typed. */
export function normalCode(typed: string | undefined): string | undefined {
  const code = typed?.trim().toUpperCase()
  return code && !/^[A-Z0-9-]{3,40}$/.test(code) ? '' : code || undefined
}

/** For a query over `discounts d`: whether the code is good now, but for how often it was used. */
export const isOpenDiscount = sql<boolean>`(d.active and d.removed_at is null
  and coalesce(d.starts_at <= now(), true) and coalesce(d.expires_at > now(), true))`

/**
 * For a query over `orders o`: its code may be used only so often. It is paid only by ways that cost the buyer something or are over
 * within minutes: vouchers that anybody gets for nothing could keep the uses from all others for days.
 */
export const hasLimitedCode = sql<boolean>`exists (
  select from discounts limited where limited.id = o.discount_id and limited.most_uses is not null)`

/**
 * An order that has expired gives the use of its code back, once; one that is paid all the same takes it again, also beyond the
 * limit, since the money is there. To be called in the transaction that has moved the orders. The codes are locked by their
 * ids, as when orders are made.
 */
export async function countHeldDiscounts(tx: Tx, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return
  await sql`
    with turned as (
      update orders set holds_discount = state <> 'expired'
      where id = any(${orderIds}) and discount_id is not null and holds_discount <> (state <> 'expired')
      returning discount_id, case when holds_discount then 1 else -1 end as change),
    changes as (select discount_id, sum(change)::integer as change from turned group by discount_id),
    locked as materialized (
      select id from discounts where id in (select discount_id from changes) order by id for no key update)
    update discounts d set uses = d.uses + c.change
    from changes c join locked l on l.id = c.discount_id where d.id = c.discount_id`.execute(tx)
}

/**
 * Something happens about the payments of these orders, so each that ends with its hold of a code gets the full time again. An
 * order that has ended keeps its end: the row is locked either by this or by the move that ends it.
 */
export async function renewHolds(db: Db | Tx, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return
  await sql`
    update orders set expires_at = least(created_at + ${LONGEST_HOLD}::interval, now() + make_interval(mins => ${HOLD_MINUTES}))
    where id = any(${orderIds}) and discount_id is not null and holds_discount and state in ('pending', 'processing')
      and expires_at < least(created_at + ${LONGEST_HOLD}::interval, now() + make_interval(mins => ${HOLD_MINUTES}))`.execute(
    db,
  )
}
