import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../kit/database.ts'
import { stepIn } from '../../kit/money-step.ts'

/**
 * How long an unpaid order holds one of a code's limited uses. Without money anybody can make such orders, so a long hold would
 * take the code from every other buyer. The order ends with its hold, and its payment is closed at the processor before that.
 */
export const HOLD_MINUTES = 15
/** Activity renews a hold until this long after the order was made. */
const LONGEST_HOLD = '1 day'

/** One text for every reason, so that a person who guesses codes learns nothing from it. */
export const DISCOUNT_NOT_VALID = 'This code is not valid here, or not any more.'

/** Returns a code in the form in which codes are compared. Empty: no seller can have such a code. Undefined: nothing was typed. */
export function normalCode(typed: string | undefined): string | undefined {
  const code = typed?.trim().toUpperCase()
  return code && !/^[A-Z0-9-]{3,40}$/.test(code) ? '' : code || undefined
}

/** For a query over `discounts d`: whether the code is valid now, apart from its number of uses. */
export const isOpenDiscount = sql<boolean>`(d.active and d.removed_at is null
  and coalesce(d.starts_at <= now(), true) and coalesce(d.expires_at > now(), true))`

/** For a query over `discounts d`: the fixed discount in a currency. Null: the code gives a percentage, or nothing in this currency. */
export const amountOffIn = (currency: RawBuilder<string>) => sql<number | null>`(
  case when d.currency = ${currency} then d.amount_off_minor else (
    select a.amount_off_minor from discount_amounts a where a.discount_id = d.id and a.currency = ${currency}) end)`

/**
 * The discount of a code on a price, in minor units. It is rounded down to a whole step of the currency. 100 %, and a fixed amount that is
 * not less than the price, are the whole price.
 */
export function discountMinorOf(
  list: RawBuilder<unknown>,
  off: { percent: RawBuilder<unknown>; amountMinor: RawBuilder<unknown> },
  currency: RawBuilder<unknown>,
): RawBuilder<number> {
  const exact = sql`discount_of(${list}, ${off.percent}, ${off.amountMinor})`
  return sql`(case when ${exact} < ${list} then ${exact} / ${stepIn(currency)} * ${stepIn(currency)} else ${list} end)`
}

/** For a query over `discounts d`: whether the code takes anything off a price in a currency. */
export const appliesIn = (currency: RawBuilder<string>) =>
  sql<boolean>`(d.percent_off is not null or ${amountOffIn(currency)} is not null)`

/**
 * For a query over `orders o`: whether its code has a limit of uses. Such an order cannot be paid by a voucher that costs nothing to
 * start and stays open for days: anybody could take the uses from all other buyers that way.
 */
export const hasLimitedCode = sql<boolean>`exists (
  select from discounts limited where limited.id = o.discount_id and limited.most_uses is not null)`

/**
 * Updates the uses of codes after orders have moved. An expired order gives its use back once. If it is paid after all, it takes the
 * use again, also beyond the limit, because the money is there. Call it in the transaction that moves the orders.
 */
export const countHeldDiscounts = (tx: Tx, orderIds: readonly string[]): Promise<void> =>
  holdDiscounts(tx, orderIds, sql`(state <> 'expired')`)

/**
 * Of these locked orders, those for which `isOver` holds give their use back: nothing of their money is left. If money comes again and is
 * accepted, an order takes its use again.
 */
export const giveUsesBack = (tx: Tx, orderIds: readonly string[], isOver: RawBuilder<boolean>): Promise<void> =>
  holdDiscounts(tx, orderIds, sql`(holds_discount and not ${isOver})`)

/** `holds`: whether an order holds its use. It locks the codes by their ids, as the creation of orders does. */
async function holdDiscounts(tx: Tx, orderIds: readonly string[], holds: RawBuilder<boolean>): Promise<void> {
  if (orderIds.length === 0) return
  await sql`
    with turned as (
      update orders set holds_discount = ${holds}
      where id = any(${orderIds}) and discount_id is not null and holds_discount <> ${holds}
      returning discount_id, case when holds_discount then 1 else -1 end as change),
    changes as (select discount_id, sum(change)::integer as change from turned group by discount_id),
    locked as materialized (
      select id from discounts where id in (select discount_id from changes) order by id for no key update)
    update discounts d set uses = d.uses + c.change
    from changes c join locked l on l.id = c.discount_id where d.id = c.discount_id`.execute(tx)
}

/**
 * Gives orders that hold a limited code the full time again, because their payments show activity. An order that has ended stays
 * ended, and so does one that a recall has ended (`endUndeliverable`): this statement and the move that ends an order lock the same row.
 */
export async function renewHolds(db: Db | Tx, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return
  await sql`
    update orders set expires_at = least(created_at + ${LONGEST_HOLD}::interval, now() + make_interval(mins => ${HOLD_MINUTES}))
    where id = any(${orderIds}) and discount_id is not null and holds_discount and state in ('pending', 'processing') and expires_at > created_at
      and expires_at < least(created_at + ${LONGEST_HOLD}::interval, now() + make_interval(mins => ${HOLD_MINUTES}))`.execute(
    db,
  )
}
