import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { genericPlan } from '../kit/plans.ts'
import { Refusal } from '../kit/errors.ts'
import { isId } from '../kit/ids.ts'
import { endOfNumber } from '../kit/order-number.ts'
import type { Period } from '../kit/period.ts'
import { type StoredConsent, consentsOfOrder } from '../orders/consents/consents.ts'
import { isBoughtFile, recalledFiles } from '../orders/bought-files.ts'
import { inOrder } from '../products/find.ts'
import type { WithdrawnFile } from '../products/schema.ts'
import { type OrderTax, taxOfOrder } from '../orders/new-order.ts'
import { paidBy } from '../orders/paid-by.ts'
import { givesFiles } from '../orders/returned-money.ts'
import { ORDER_COLUMNS, type OrderRow } from '../orders/seller-view.ts'
import type { State } from '../orders/states.ts'
import type { PaidBy } from '../processors/statement-line.ts'
import type { Rail } from '../processors/rails.ts'

export interface OrderFilter extends Period {
  status?: State | undefined
  rail?: Rail | undefined
  productId?: string | undefined
  /** Only orders of these products. Undefined: of all. */
  productIds?: readonly string[] | undefined
  /** A whole address, in the form in which orders store it. */
  email?: string | undefined
  clientReferenceId?: string | undefined
  /** A search text: the beginning of an address or an id, the short number of an order, or a part of a product's name. */
  q?: string | undefined
}

/** A seller's orders, the newest first, from `after` on. */
export async function listOrders(
  db: Db,
  sellerId: string,
  filter: OrderFilter,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<OrderRow[]> {
  const conditions = await conditionsOf(db, sellerId, filter)
  if (!conditions) return []
  if (after)
    conditions.push(sql`(o.created_at, o.id) < ((select created_at from orders where id = ${after}), ${after})`)
  // The inner query reads only the index, and the outer one looks up the rows of one page by their ids, one by one: the planner cannot
  // know that they are few.
  const { rows } = await sql<OrderRow>`
    select p.*
    from (
      select o.id from orders o where o.seller_id = ${genericPlan(sellerId, 'text')} and ${sql.join(conditions, sql` and `)}
      order by o.created_at desc, o.id desc limit ${genericPlan(limit, 'int')}) m
    cross join lateral (select ${ORDER_COLUMNS} from orders o where o.id = m.id offset 0) p
    order by p."createdAt" desc, p.id desc`.execute(db)
  return rows
}

/** Conditions on columns of the index orders_seller only, or of orders_client_reference. Undefined: nothing can match. */
async function conditionsOf(
  db: Db,
  sellerId: string,
  { from, to, status, rail, productId, productIds, email, clientReferenceId, q }: OrderFilter,
): Promise<RawBuilder<unknown>[] | undefined> {
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (from) conditions.push(sql`o.created_at >= ${from}`)
  if (to) conditions.push(sql`o.created_at < ${to}`)
  if (status) conditions.push(sql`o.state = ${status}`)
  if (rail) conditions.push(sql`o.rail = ${rail}`)
  if (productId !== undefined) conditions.push(sql`o.product_id = ${productId}`)
  if (productIds !== undefined) conditions.push(sql`o.product_id = any(${productIds})`)
  if (email !== undefined) conditions.push(sql`o.email = ${email}`)
  if (clientReferenceId !== undefined) conditions.push(sql`o.client_reference_id = ${clientReferenceId}`)
  const typed = q?.trim().toLowerCase() ?? ''
  if (isId('ord', typed)) conditions.push(sql`o.id = ${typed}`)
  else if (typed.startsWith('ord_')) conditions.push(sql`starts_with(o.id, ${typed})`)
  else if (typed !== '') {
    const named = await productsNamed(db, sellerId, typed)
    const isAddress = /^[\x21-\x7e]+$/.test(typed)
    const end = endOfNumber(typed)
    if (!isAddress && named.length === 0 && !end) return undefined
    const ways = [
      ...(end ? [sql`right(o.id, 8) = ${end}`] : []),
      ...(isAddress ? [sql`starts_with(o.email, ${typed})`] : []),
      ...(named.length > 0 ? [sql`o.product_id = any(${named})`] : []),
    ]
    conditions.push(sql`(${sql.join(ways, sql` or `)})`)
  }
  return conditions
}

async function productsNamed(db: Db, sellerId: string, part: string): Promise<string[]> {
  // some databases convert the case of ASCII letters only, so the usual spellings of a word are searched too
  const ways = [part, part.toUpperCase(), part.slice(0, 1).toUpperCase() + part.slice(1)]
  const patterns = ways.map((way) => `%${way.replaceAll(/[\\%_]/g, '\\$&')}%`)
  const { rows } = await sql<{ id: string }>`
    select id from products where seller_id = ${sellerId} and name ilike any(${patterns}::text[])`.execute(db)
  return rows.map(({ id }) => id)
}

export interface OrderDetails extends OrderRow {
  statementDescriptor: string
  paidBy: PaidBy | null
  emailChangedAt: Date | null
  pendingEmail: string | null
  successUrl: string | null
  cancelUrl: string | null
  /** Present when the reader of the pending address has confirmed it. `movesAt`: when the order moves. */
  move: { movesAt: string | null; needsConsent: boolean } | null
  events: { at: string; what: string }[]
  files: { id: string; name: string; size: number }[]
  recalled: WithdrawnFile[] | null
  consents: StoredConsent[] | null
  tax: OrderTax | null
}

/** One of a seller's orders, with its history. Refuses `order_not_found`. */
export async function findOwnOrder(db: Db, sellerId: string, orderId: string): Promise<OrderDetails> {
  const { rows } = await sql<OrderDetails>`
    select ${ORDER_COLUMNS}, o.statement_descriptor as "statementDescriptor", ${paidBy} as "paidBy", o.email_changed_at as "emailChangedAt",
      o.success_url as "successUrl", o.cancel_url as "cancelUrl",
      (select c.email from email_changes c where c.order_id = o.id and c.expires_at > now()) as "pendingEmail",
      (select json_build_object('movesAt', c.moves_at, 'needsConsent', o.address_kept_at is not null) from email_changes c
        where c.order_id = o.id and c.confirmed_at is not null and c.expires_at > now()) as move,
      (select coalesce(json_agg(json_build_object('at', e.at, 'what', e.what) order by e.id), '[]')
        from order_events e where e.order_id = o.id) as events,
      case when ${givesFiles} then
        (select coalesce(json_agg(json_build_object('id', f.id, 'name', f.name, 'size', f.size_bytes) order by ${inOrder}), '[]')
          from files f where ${isBoughtFile})
        else '[]' end as files, ${recalledFiles} as recalled,
      ${consentsOfOrder} as consents, ${taxOfOrder(sql`o`)} as tax
    from orders o where o.id = ${orderId} and o.seller_id = ${sellerId}`.execute(db)
  if (!rows[0]) throw new Refusal('order_not_found', 'There is no such order of yours.')
  return rows[0]
}
