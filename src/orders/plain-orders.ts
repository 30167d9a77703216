import { type RawBuilder, sql } from 'kysely'
import { type GivenValue, compiledOnce } from '../kit/compiled.ts'
import type { Db } from '../kit/database.ts'
import { genericPlanArray } from '../kit/plans.ts'
import { isPublished } from '../products/off-sale.ts'
import { asksConsent } from '../sellers/brand.ts'
import { maySell } from '../sellers/standing.ts'
import { type AccountRule, pinnedAccount } from './connected-account.ts'
import { type AttemptColumn, type CreatedOrder, type FirstAttempts, type OrderRow, moreColumn } from './new-order.ts'

interface PlainOrderSettings extends AccountRule {
  ttlHours: number
  firstLookSeconds: number
  firstAttempts?: FirstAttempts | undefined
}

/** How many orders a statement makes. A single one is given without arrays, which take the database a tenth of the statement's time. */
type Size = 'one' | 'many'
/** The values that a new order needs. */
type Column = 'id' | 'productId' | 'email' | 'key' | 'hash' | 'plainKey' | 'more'
type Values = Record<Column, unknown> & Partial<Record<AttemptColumn, readonly string[]>>

/**
 * Makes orders at the price of their products. Returns them in the order of `rows`. An entry is undefined where the product is not for
 * sale or free, its seller asks for consent or charges tax, or the key was used before.
 */
export function plainOrderInsert(
  settings: PlainOrderSettings,
): (db: Db, rows: readonly OrderRow[]) => Promise<(CreatedOrder | undefined)[]> {
  const { firstAttempts } = settings
  const statements = (['one', 'many'] as const).flatMap((size) =>
    [false, true].map((isKeyed) => ({
      size,
      isKeyed,
      run: compiledOnce<Values, CreatedOrder>((given) => insertWithAttempts(settings, { size, isKeyed, given })),
    })),
  )
  return async (db, rows) => {
    const size = rows.length === 1 ? 'one' : 'many'
    const isKeyed = rows.some(({ keyHash }) => keyHash !== null)
    const { run } = statements.find((one) => one.size === size && one.isKeyed === isKeyed)!
    const columns = columnsOf(rows)
    const attempts = firstAttempts?.columnsFor(columns.id)
    const orders = await run(db, { ...(size === 'one' ? firstOf(columns) : columns), ...attempts })
    for (const { currency } of orders) firstAttempts?.noteCurrency(currency)
    const byId = new Map(orders.map((order) => [order.id, order]))
    return rows.map((row) => byId.get(row.id))
  }
}

const columnsOf = (rows: readonly OrderRow[]) => ({
  id: rows.map(({ id }) => id),
  productId: rows.map(({ productId }) => productId),
  email: rows.map(({ email }) => email),
  key: rows.map(({ keyHash }) => keyHash),
  hash: rows.map(({ requestHash }) => requestHash),
  plainKey: rows.map(({ plainKeyHash }) => plainKeyHash),
  more: moreColumn(rows),
})

const firstOf = (columns: Record<Column, readonly unknown[]>) =>
  Object.fromEntries(Object.entries(columns).map(([name, [first]]) => [name, first])) as Record<Column, unknown>

interface Shape {
  size: Size
  isKeyed: boolean
  given: GivenValue<Column | AttemptColumn>
}

function insertWithAttempts(settings: PlainOrderSettings, shape: Shape): RawBuilder<CreatedOrder> {
  const orders = insertOrders(settings, shape)
  if (!settings.firstAttempts) return orders
  return sql<CreatedOrder>`
    with made as (${orders}), begun as (${settings.firstAttempts.insert(sql`made`, shape.given)})
    select made.*, case when begun.id is not null then json_build_object('id', begun.id, 'processor', begun.processor) end as attempt
    from made left join begun on begun.order_id = made.id`
}

// a round in which no order has an idempotency key needs neither clause
const WITHOUT_EARLIER = sql`where
  (select true from orders o where o.idempotency_key = i.plain_key and o.request_hash = i.hash limit 1) is null`
const UNLESS_SIMULTANEOUS = sql`on conflict (idempotency_key) where idempotency_key is not null do nothing`
const NO_CLAUSE = sql``

/** The lock waits for a simultaneous removal of the product's last file, which takes the product off sale. */
function insertOrders(settings: PlainOrderSettings, { isKeyed, ...shape }: Shape): RawBuilder<CreatedOrder> {
  const { account, line } = pinnedAccount(settings, { seller: sql`p.seller_id`, suffix: sql`p.statement_suffix` })
  return sql<CreatedOrder>`
    insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
      expires_at, due_at, idempotency_key, request_hash, client_reference_id, metadata, success_url, cancel_url,
      connected_account, locale)
    select i.id, p.id, p.seller_id, i.email, p.name, p.price_minor, p.currency, fee_of(p.price_minor), ${line},
      now() + make_interval(hours => ${settings.ttlHours}), now() + make_interval(secs => ${settings.firstLookSeconds}), i.key, i.hash,
      i.more->>'clientReferenceId', i.more->'metadata', i.more->>'successUrl', i.more->>'cancelUrl', ${account}, i.more->>'locale'
    from ${givenOrders(shape)} as i
    join products p on p.id = i.product_id and ${isPublished} and p.price_minor > 0
    join sellers s on s.id = p.seller_id and ${maySell} and not s.charges_tax and not ${asksConsent}
    ${isKeyed ? WITHOUT_EARLIER : NO_CLAUSE}
    for key share of p
    ${isKeyed ? UNLESS_SIMULTANEOUS : NO_CLAUSE}
    returning id, amount_minor as "amountMinor", discount_minor as "discountMinor", currency,
      statement_descriptor as "statementDescriptor", state, false as "hasLimitedCode", fee_minor as "feeMinor",
      connected_account as "connectedAccount"`
}

function givenOrders({ size, given }: Omit<Shape, 'isKeyed'>): RawBuilder<unknown> {
  if (size === 'one')
    return sql`(select ${given('id')}::text as id, ${given('productId')}::text as product_id, ${given('email')}::text as email,
      ${given('key')}::bytea as key, ${given('hash')}::bytea as hash, ${given('plainKey')}::bytea as plain_key,
      ${given('more')}::jsonb as more)`
  return sql`(select * from unnest(
    ${given('id')}::text[], ${genericPlanArray(given('productId'), 'text')}, ${given('email')}::text[], ${given('key')}::bytea[],
    ${given('hash')}::bytea[], ${given('plainKey')}::bytea[], ${given('more')}::jsonb[])
    as t(id, product_id, email, key, hash, plain_key, more))`
}
