import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { CURRENCIES } from '../kit/currencies.ts'
import { decimalsOf } from '../kit/money.ts'
import { paidBy } from '../orders/paid-by.ts'
import { isPaymentReturned } from '../orders/returned-money.ts'
import type { State } from '../orders/states.ts'
import type { PaidBy } from '../processors/statement-line.ts'
import { type Decimal, type StatementLine, minorUnits } from './statement-line.ts'

export interface FoundOrder {
  id: string
  state: State
  /** The payment did not match the price, and all of it is back or on its way back. */
  paymentReturned: boolean
  productName: string
  sellerName: string
  amountMinor: number
  currency: string
  refundedMinor: number
  statementDescriptor: string
  paidBy: PaidBy | null
  createdAt: Date
  paidAt: Date | null
}

export interface FoundOrders {
  /** True: the orders match the line. False: they are recent orders of the mailbox. */
  matched: boolean
  orders: FoundOrder[]
  more: boolean
}

const MOST_SHOWN = 20
/** A bank that cuts our text and adds its own keeps at least this many characters of ours. */
const CUT_AT_LEAST = 12

/**
 * Finds the orders of a mailbox that match a line of a bank statement. Orders that match by text and by amount and date come before
 * those that match by one of them, and orders with moved money before those without. If none matches, it returns recent orders of the
 * mailbox. Free orders are left out, because they are on no statement. The caller must have checked that the client owns the mailbox.
 */
export async function findCharges(db: Db, email: string, line: StatementLine): Promise<FoundOrders> {
  const matching = await readOrders(db, email, line)
  if (matching.length > 0) return found(true, matching)
  return found(false, await readOrders(db, email))
}

const found = (matched: boolean, orders: FoundOrder[]): FoundOrders => ({
  matched,
  orders: orders.slice(0, MOST_SHOWN),
  more: orders.length > MOST_SHOWN,
})

async function readOrders(db: Db, email: string, line?: StatementLine): Promise<FoundOrder[]> {
  const text = line?.descriptor ?? null
  const sale = line?.sale
  const prices = sale ? pricesOf(sale.amounts) : []
  const { rows } = await sql<FoundOrder>`
    select o.id, o.state, ${isPaymentReturned} as "paymentReturned", o.product_name as "productName", s.name as "sellerName", o.amount_minor as "amountMinor",
      o.currency, o.refunded_minor as "refundedMinor", o.statement_descriptor as "statementDescriptor", ${paidBy} as "paidBy",
      o.created_at as "createdAt", o.paid_at as "paidAt"
    from orders o
    join sellers s on s.id = o.seller_id
    cross join lateral (
      select regexp_replace(o.statement_descriptor, '[^A-Z0-9]', '', 'g') as ours, ${text}::text collate "C" as theirs) d
    cross join lateral (
      -- the bank shows our text, a piece of it, or its beginning with the bank's own text around it
      select coalesce(position(d.theirs in d.ours) > 0 or position(left(d.ours, ${CUT_AT_LEAST}) in d.theirs) > 0, false) as text,
        ${sale !== undefined}::boolean
          and (o.currency, o.amount_minor) in (
            select * from unnest(${prices.map(({ currency }) => currency)}::text[],
              ${prices.map(({ amountMinor }) => amountMinor)}::bigint[]))
          and ((o.created_at >= ${sale?.from ?? null} and o.created_at < ${sale?.until ?? null})
            or coalesce(o.paid_at >= ${sale?.from ?? null} and o.paid_at < ${sale?.until ?? null}, false)) as sale
    ) fits
    where o.email = ${email} and o.amount_minor > 0 and (${line === undefined}::boolean or fits.text or fits.sale)
    order by fits.text::int + fits.sale::int desc,
      o.paid_at is not null or o.state in ('processing', 'needs_review') desc,
      coalesce(o.paid_at, o.created_at) desc, o.id desc
    limit ${MOST_SHOWN + 1}`.execute(db)
  return rows
}

/** The amount in every currency, because the buyer does not name one. */
const pricesOf = (amounts: readonly Decimal[]): { currency: string; amountMinor: number }[] =>
  [...CURRENCIES].flatMap((currency) =>
    amounts.flatMap((amount) => {
      const amountMinor = minorUnits(amount, decimalsOf(currency))
      return amountMinor === undefined ? [] : [{ currency, amountMinor }]
    }),
  )
