import { sql } from 'kysely'
import { batched } from '../kit/batch.ts'
import { type Db, inTransaction, isDatabaseOutage, retryConflicts } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { digestOf, reusedKey } from '../kit/idempotency.ts'
import { isId, newId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { hashOf } from '../kit/tokens.ts'
import type { CheckBuyerTaxId } from '../taxes/buyer-tax-ids.ts'
import { refuseNotForSale } from '../products/off-sale.ts'
import type { FreeMailLimits } from './free-mails.ts'
import type { AccountRule } from './connected-account.ts'
import { DISCOUNT_NOT_VALID, hasLimitedCode, normalCode, renewHolds } from './discounts/uses.ts'
import { refuseForeignUrls } from './integration.ts'
import { type CreatedOrder, type FirstAttempts, type NewOrder, type OrderRow, taxOfOrder } from './new-order.ts'
import { insertOffers, type NoOrder } from './discounts/offers.ts'
import { plainOrderInsert } from './plain-orders.ts'

export interface OrderSettings extends AccountRule {
  ttlHours: number
  /** Whether each order has a payment at a processor. If no notification comes, the reconciler asks the processor about the order. */
  paymentsLive: boolean
  /** How many receipts of free orders are mailed. */
  freeMail: FreeMailLimits
  /** Absent: each payment is begun when it starts. */
  firstAttempts?: FirstAttempts | undefined
  checkTaxId: CheckBuyerTaxId
}

export type CreateOrder = (order: NewOrder) => Promise<CreatedOrder>

/** Orders that arrive together share one statement, up to this number: a statement costs nearly the same for one row as for many. */
const MOST_AT_ONCE = 64
/** When the reconciler first looks at an order of which no notification has come. */
const FIRST_LOOK_SECONDS = 60
/** This many rows end well within a statement's time limit. */
const FORGET_AT_ONCE = 2000

const WHY_NOT: Record<Exclude<NoOrder, 'again' | undefined>, string> = {
  discount_not_valid: DISCOUNT_NOT_VALID,
  currency_not_offered: 'This product has no price in this currency.',
  amount_too_small: 'This is less than the lowest price of this product.',
  consent_required:
    'This seller needs your consent to the texts in `consents` of the product, as `consents` of the order.',
  country_required: 'The tax on this product depends on your country. Please say which one it is.',
  country_unconfirmed: 'Your connection seems to come from another country. Please confirm your country.',
  tax_rate_missing: 'The tax for your country is not known yet, so this cannot be bought right now.',
  amount_not_payable: 'With tax, this is more than the largest amount of an order.',
}

/**
 * Makes orders. The insert reads the price from the product's row, so no request can set it, and pins the terms in the order. Where the
 * buyer chooses the price, the product's row holds the minimum. Further currencies have rows of their own. Repeated and simultaneous
 * requests with one idempotency key get the same order; a different request with that key is refused. Refuses `product_not_found`,
 * `shop_not_open`, `idempotency_key_reused`, `discount_not_valid`, `amount_too_small`, `consent_required`, `tax_id_invalid`,
 * `tax_id_not_registered`, `tax_id_check_unavailable`, `currency_not_offered`, `country_required`, `country_unconfirmed`,
 * `tax_rate_missing`, `amount_not_payable`, `success_url_not_allowed`, `cancel_url_not_allowed`.
 */
export function orderMaker(db: Db, jobs: Jobs, settings: OrderSettings): CreateOrder {
  const options = { most: MOST_AT_ONCE, atOnce: 2, isOutage: isDatabaseOutage }
  const times = {
    ...settings,
    firstLookSeconds: settings.paymentsLive ? FIRST_LOOK_SECONDS : settings.ttlHours * 3600,
  }
  // plain orders have their own statement: by the one for offers, a checkout takes a tenth more CPU time
  const insertPlain = plainOrderInsert(times)
  const insert = batched((rows: readonly OrderRow[]) => retryConflicts(() => insertPlain(db, rows)), options)
  const insertOffer = batched(
    (rows: readonly OrderRow[]) => inTransaction(db, (tx) => insertOffers(tx, jobs, times, rows)),
    options,
  )

  async function make(given: OrderRow): Promise<CreatedOrder> {
    // a repeat gets its order also after the seller has removed the site, and while VIES is away
    if (given.integration) await refuseForeignUrls(db, given.productId, given.integration).catch(unlessEarlier(given))
    const row = { ...given, buyerTaxId: await checkedTaxId(given).catch(unlessEarlier(given)) }
    const { chosenMinor, discountCode, consents, currency, place, taxId } = row
    const isPlain = [chosenMinor, discountCode, consents, currency, place?.declared, taxId].every(
      (one) => one === undefined,
    )
    const plain = isPlain ? ((await insert(row)) ?? (await findEarlier(db, row))) : undefined
    // a free product is not a plain order either, and only the product's row shows its price
    const made = plain ?? (await insertOffer(row))
    if (typeof made === 'object') return made
    const earlier = await findEarlier(db, row)
    // the buyer is back to pay
    if (earlier && row.discountCode !== undefined) await renewHolds(db, [earlier.id])
    if (earlier) return earlier
    if (made === 'again') return make(row)
    if (made) throw new Refusal(made, WHY_NOT[made])
    return refuseNotForSale(db, row.productId)
  }

  const checkedTaxId = async ({ productId, place, taxId }: OrderRow) =>
    taxId === undefined ? undefined : settings.checkTaxId({ productId, country: place?.declared ?? place?.seen, taxId })

  const unlessEarlier = (row: OrderRow) => async (refusal: unknown) => {
    if (!(await findEarlier(db, row))) throw refusal
    return undefined
  }

  return async ({ discountCode, ...order }) => {
    if (!isId('prod', order.productId)) throw new Refusal('product_not_found', 'This product is not for sale.')
    const { productId, email, currency, chosenMinor, idempotencyKey, integration, place, taxId } = order
    const code = normalCode(discountCode)
    const isKeyed = idempotencyKey !== undefined
    const requestParts = [
      productId,
      email,
      ...(chosenMinor !== undefined || code !== undefined || integration ? [chosenMinor ?? null, code ?? null] : []),
      ...(integration ? [integration] : []),
      ...(place?.declared === undefined ? [] : [{ country: place.declared }]),
      ...(currency === undefined ? [] : [{ currency }]),
      ...(taxId === undefined ? [] : [{ taxId }]),
    ]
    return make({
      ...order,
      discountCode: code,
      id: newId('ord'),
      // the key alone is not enough: somebody could guess an easy one and get another buyer's order
      keyHash: isKeyed ? digestOf([idempotencyKey, productId, email]) : null,
      plainKeyHash: isKeyed ? hashOf(idempotencyKey) : null,
      requestHash: isKeyed ? digestOf(requestParts) : null,
    })
  }
}

/** Finds the order of an earlier request with the row's key. Refuses `idempotency_key_reused`. */
async function findEarlier(
  db: Db,
  { keyHash, requestHash, plainKeyHash }: OrderRow,
): Promise<CreatedOrder | undefined> {
  if (!keyHash) return undefined
  const { rows } = await sql<CreatedOrder & { requestHash: Buffer }>`
    select id, amount_minor as "amountMinor", discount_minor as "discountMinor", currency,
      statement_descriptor as "statementDescriptor", state, request_hash as "requestHash", ${hasLimitedCode} as "hasLimitedCode",
      fee_minor as "feeMinor", connected_account as "connectedAccount", ${taxOfOrder(sql`o`)} as tax
    from orders o
    where idempotency_key = ${keyHash} or (idempotency_key = ${plainKeyHash} and request_hash = ${requestHash})`.execute(
    db,
  )
  if (rows[0] && !rows[0].requestHash.equals(requestHash!)) throw reusedKey()
  return rows[0]
}

/**
 * Removes idempotency keys after a day, so a client can use them again. A key stays while its order can still be paid, which can
 * take days: otherwise a buyer who comes back to the page would get a second order and could pay both.
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
