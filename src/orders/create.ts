import { sql } from 'kysely'
import { createHash } from 'node:crypto'
import { batched } from '../kit/batch.ts'
import { type Db, inTransaction, isDatabaseOutage, retryConflicts } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { isId, newId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { isForSale } from '../products/off-sale.ts'
import type { FreeMailLimits } from './free-mails.ts'
import { DISCOUNT_NOT_VALID, hasLimitedCode, normalCode, renewHolds } from './discounts/uses.ts'
import type { CreatedOrder, NewOrder, OrderRow } from './new-order.ts'
import { insertOffers, type NoOrder } from './discounts/offers.ts'

export interface OrderSettings {
  /** The beginning of every statement descriptor. */
  statementPrefix: string
  ttlHours: number
  /** Whether each order has a payment at a processor. The reconciler asks the processor about orders that it hears nothing more of. */
  paymentsLive: boolean
  /** How many receipts of free orders are mailed. */
  freeMail: FreeMailLimits
}

export type CreateOrder = (order: NewOrder) => Promise<CreatedOrder>

/** One statement is cheap for many rows and dear for one: as many as arrive together, up to this. */
const MOST_AT_ONCE = 64
/** When the reconciler first looks at an order of which no notification has come. */
const FIRST_LOOK_SECONDS = 60
/** Few enough that one statement ends well within its time. */
const FORGET_AT_ONCE = 2000

const WHY_NOT: Record<Exclude<NoOrder, 'again' | undefined>, string> = {
  discount_not_valid: DISCOUNT_NOT_VALID,
  amount_too_small: 'This is less than the least that this product may be had for.',
}

/**
 * Makes orders. The price is read from the product row inside the insert, so no request can name it, and what was agreed is
 * pinned in the order; where the buyer may say how much, the product's row says from how much on. With an Idempotency-Key the same
 * request answers with the same order, however often and however many at once; another request with that key is refused.
 * Refuses `product_not_found`, `idempotency_key_reused`, `discount_not_valid`, `amount_too_small`.
 */
export function orderMaker(db: Db, jobs: Jobs, settings: OrderSettings): CreateOrder {
  const options = { most: MOST_AT_ONCE, atOnce: 2, isOutage: isDatabaseOutage }
  const times = {
    ...settings,
    firstLookSeconds: settings.paymentsLive ? FIRST_LOOK_SECONDS : settings.ttlHours * 3600,
  }
  const insert = batched((rows: readonly OrderRow[]) => retryConflicts(() => insertOrders(db, times, rows)), options)
  const insertOffer = batched(
    (rows: readonly OrderRow[]) => inTransaction(db, (tx) => insertOffers(tx, jobs, times, rows)),
    options,
  )

  async function make(row: OrderRow): Promise<CreatedOrder> {
    const isPlain = row.chosenMinor === undefined && row.discountCode === undefined
    const plain = isPlain ? ((await insert(row)) ?? (await findEarlier(db, row))) : undefined
    // what costs nothing is no plain order either, and only its product says so
    const made = plain ?? (await insertOffer(row))
    if (typeof made === 'object') return made
    const earlier = await findEarlier(db, row)
    // the buyer is back to pay
    if (earlier && row.discountCode !== undefined) await renewHolds(db, [earlier.id])
    if (earlier) return earlier
    if (made === 'again') return make(row)
    if (made) throw new Refusal(made, WHY_NOT[made])
    throw new Refusal('product_not_found', 'This product is not for sale.')
  }

  return async ({ discountCode, ...order }) => {
    if (!isId('prod', order.productId)) throw new Refusal('product_not_found', 'This product is not for sale.')
    const { productId, email, chosenMinor, idempotencyKey } = order
    const code = normalCode(discountCode)
    const isKeyed = idempotencyKey !== undefined
    const asked = [
      productId,
      email,
      ...(chosenMinor !== undefined || code !== undefined ? [chosenMinor ?? null, code ?? null] : []),
    ]
    return make({
      ...order,
      discountCode: code,
      id: newId('ord'),
      // otherwise a person could guess an easy key and get another buyer's order
      keyHash: isKeyed ? digest(JSON.stringify([idempotencyKey, productId, email])) : null,
      plainKeyHash: isKeyed ? digest(idempotencyKey) : null,
      requestHash: isKeyed ? digest(JSON.stringify(asked)) : null,
    })
  }
}

/**
 * The orders that were made, in the order of `rows`: undefined where the product is not for sale, costs nothing, or the key was
 * used before. The lock waits for a removal of the product's last file, which takes it off sale.
 */
async function insertOrders(
  db: Db,
  settings: OrderSettings & { firstLookSeconds: number },
  rows: readonly OrderRow[],
): Promise<(CreatedOrder | undefined)[]> {
  const column = <K extends keyof OrderRow>(name: K) => rows.map((row) => row[name])
  const made = await sql<CreatedOrder>`
    insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
      expires_at, due_at, idempotency_key, request_hash)
    select i.id, p.id, p.seller_id, i.email, p.name, p.price_minor, p.currency, fee_of(p.price_minor),
      statement_line(${settings.statementPrefix}, p.statement_suffix),
      now() + make_interval(hours => ${settings.ttlHours}), now() + make_interval(secs => ${settings.firstLookSeconds}), i.key, i.hash
    from unnest(
      ${column('id')}::text[], ${column('productId')}::text[], ${column('email')}::text[], ${column('keyHash')}::bytea[],
      ${column('requestHash')}::bytea[], ${column('plainKeyHash')}::bytea[]) as i(id, product_id, email, key, hash, plain_key)
    join products p on p.id = i.product_id and ${isForSale} and p.price_minor > 0
    where not exists (select from orders o where o.idempotency_key = i.plain_key and o.request_hash = i.hash)
    for key share of p
    on conflict (idempotency_key) where idempotency_key is not null do nothing
    returning id, amount_minor as "amountMinor", discount_minor as "discountMinor", currency,
      statement_descriptor as "statementDescriptor", state, false as "hasLimitedCode"`.execute(db)
  const byId = new Map(made.rows.map((order) => [order.id, order]))
  return rows.map((row) => byId.get(row.id))
}

/** The order that was made with the row's key before. Refuses `idempotency_key_reused`. */
async function findEarlier(
  db: Db,
  { keyHash, requestHash, plainKeyHash }: OrderRow,
): Promise<CreatedOrder | undefined> {
  if (!keyHash) return undefined
  const { rows } = await sql<CreatedOrder & { requestHash: Buffer }>`
    select id, amount_minor as "amountMinor", discount_minor as "discountMinor", currency,
      statement_descriptor as "statementDescriptor", state, request_hash as "requestHash", ${hasLimitedCode} as "hasLimitedCode"
    from orders o
    where idempotency_key = ${keyHash} or (idempotency_key = ${plainKeyHash} and request_hash = ${requestHash})`.execute(
    db,
  )
  if (rows[0] && !rows[0].requestHash.equals(requestHash!))
    throw new Refusal('idempotency_key_reused', 'This Idempotency-Key belongs to another request.')
  return rows[0]
}

/**
 * A key is good for a day: then its order forgets it, and the key may be used anew; but not while the order can be paid, for
 * days maybe, since the buyer who comes back to the page would get a second one and pay both.
 */
export async function forgetIdempotencyKeys(db: Db): Promise<void> {
  for (let forgotten = FORGET_AT_ONCE; forgotten === FORGET_AT_ONCE;) {
    const { rows } = await sql`
      update orders set idempotency_key = null, request_hash = null
      where id in (
        select id from orders where idempotency_key is not null and created_at < now() - interval '24 hours'
          and state not in ('pending', 'processing')
        limit ${FORGET_AT_ONCE} for update skip locked)
      returning id`.execute(db)
    forgotten = rows.length
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
