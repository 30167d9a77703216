import { sql } from 'kysely'
import pg from 'pg'
import { type Db, UNIQUE_VIOLATION } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { wrongField } from '../../kit/moment.ts'
import { newId } from '../../kit/ids.ts'
import { ofProducts } from '../../sellers/keys/narrow.ts'
import { DISCOUNT_NOT_VALID, amountOffIn, appliesIn, discountMinorOf, isOpenDiscount, normalCode } from './uses.ts'

/** A code takes this off a price in one currency. */
export interface AmountOff {
  currency: string
  amountMinor: number
}

export interface NewDiscount {
  sellerId: string
  code: string
  productId?: string | undefined
  percentOff?: number | undefined
  /** The fixed discount, in each of its currencies. */
  amounts?: readonly AmountOff[] | undefined
  mostUses?: number | undefined
  startsAt?: string | undefined
  expiresAt?: string | undefined
}

export interface DiscountRow {
  id: string
  code: string
  productId: string | null
  percentOff: number | null
  amountOffMinor: number | null
  currency: string | null
  /** The fixed discount in further currencies. */
  further: AmountOff[]
  mostUses: number | null
  uses: number
  startsAt: Date | null
  expiresAt: Date | null
  active: boolean
  createdAt: Date
}

const COLUMNS = sql`id, code, product_id as "productId", percent_off as "percentOff", amount_off_minor as "amountOffMinor", currency,
  (select coalesce(json_agg(json_build_object('currency', a.currency, 'amountMinor', a.amount_off_minor) order by a.currency), '[]')
    from discount_amounts a where a.discount_id = discounts.id) as further,
  most_uses as "mostUses", uses, starts_at as "startsAt", expires_at as "expiresAt", active, created_at as "createdAt"`
const CHECK_VIOLATION = '23514'
const ENDS_EARLY = 'expiresAt must be later than startsAt.'

/** Removed codes count too, because their orders keep them. Codes that are made at once may be a few more. */
const MOST_DISCOUNTS = 100_000

/**
 * Makes a code for all of a seller's products, or for one. Refuses `product_not_found`, `discount_code_taken`, `too_many_discounts`, and
 * `validation_failed` where it could never be used.
 */
export async function createDiscount(db: Db, discount: NewDiscount): Promise<DiscountRow> {
  const { sellerId, productId, amounts = [] } = discount
  if (productId !== undefined) await refuseUnusable(db, { sellerId, productId, amounts })
  const { rows: beyond } = await sql`
    select from discounts where seller_id = ${sellerId} offset ${MOST_DISCOUNTS - 1} limit 1`.execute(db)
  if (beyond.length > 0)
    throw new Refusal('too_many_discounts', `You have made ${MOST_DISCOUNTS} codes, and no more are possible.`)
  const [first, ...further] = amounts
  const id = newId('dsc')
  const { rows } = await refusing(
    sql<DiscountRow>`
      with made as (
        insert into discounts (id, seller_id, product_id, code, percent_off, amount_off_minor, currency, most_uses, starts_at, expires_at)
        values (${id}, ${sellerId}, ${productId ?? null}, ${discount.code}, ${discount.percentOff ?? null},
          ${first?.amountMinor ?? null}, ${first?.currency ?? null}, ${discount.mostUses ?? null}, ${discount.startsAt ?? null},
          ${discount.expiresAt ?? null})
        returning *),
      more as (
        insert into discount_amounts (discount_id, currency, amount_off_minor)
        select ${id}, * from unnest(${further.map(({ currency }) => currency)}::text[],
          ${further.map(({ amountMinor }) => amountMinor)}::bigint[]))
      select ${COLUMNS} from made as discounts`.execute(db),
  )
  // the statement does not see the rows that it makes
  return { ...rows[0]!, further }
}

interface OwnDiscount {
  id: string
  sellerId: string
  /** The code is for one of these products. Undefined: for any, or for all. */
  productIds?: readonly string[] | undefined
}

interface ListedDiscounts extends Pick<OwnDiscount, 'productIds'> {
  productId?: string | undefined
  after: string | undefined
  limit: number
}

/** Lists a seller's codes, newest first: those that apply to `productId`, from `after` on. */
export async function listDiscounts(
  db: Db,
  sellerId: string,
  { productId, productIds, after, limit }: ListedDiscounts,
): Promise<DiscountRow[]> {
  const { rows } = await sql<DiscountRow>`
    select ${COLUMNS} from discounts
    where seller_id = ${sellerId} and removed_at is null and ${ofProducts(sql`product_id`, productIds)}
      and (${productId ?? null}::text is null or coalesce(product_id, ${productId ?? null}) = ${productId ?? null})
      and (${after ?? null}::text is null or id < ${after ?? null})
    order by id desc limit ${limit}`.execute(db)
  return rows
}

/** The parts of a code that may change. Its discount stays, because buyers have read it. Null removes the limit or the end. */
export interface DiscountChange {
  active?: boolean | undefined
  mostUses?: number | null | undefined
  expiresAt?: string | null | undefined
}

/** Refuses `discount_not_found`, also for a code of another seller. */
export async function changeDiscount(
  db: Db,
  { id, sellerId, productIds }: OwnDiscount,
  { active, mostUses, expiresAt }: DiscountChange,
): Promise<DiscountRow> {
  const { rows } = await refusing(
    sql<DiscountRow>`
      update discounts set active = coalesce(${active ?? null}, active),
        most_uses = case when ${mostUses !== undefined} then ${mostUses ?? null}::integer else most_uses end,
        expires_at = case when ${expiresAt !== undefined} then ${expiresAt ?? null}::timestamptz else expires_at end
      where id = ${id} and seller_id = ${sellerId} and ${ofProducts(sql`product_id`, productIds)} and removed_at is null
      returning ${COLUMNS}`.execute(db),
  )
  if (!rows[0]) throw notFound()
  return rows[0]
}

/** Ends a code. Orders that have it keep it. A repeat changes nothing. Refuses `discount_not_found`. */
export async function removeDiscount(db: Db, { id, sellerId, productIds }: OwnDiscount): Promise<void> {
  const { rows } = await sql`
    update discounts set removed_at = coalesce(removed_at, now())
    where id = ${id} and seller_id = ${sellerId} and ${ofProducts(sql`product_id`, productIds)} returning id`.execute(
    db,
  )
  if (!rows[0]) throw notFound()
}

export interface AppliedDiscount {
  code: string
  percentOff: number | null
  amountOffMinor: number | null
  /** The amount that the code takes off the product's price. */
  discountMinor: number
  /** The code has a limited number of uses, and an order holds one of them. */
  isLimited: boolean
}

/** Returns a code's discount for a price of a product now. Refuses `discount_not_valid`, with the same text for every reason. */
export async function findDiscount(
  db: Db,
  { productId, currency, amountMinor }: { productId: string; currency: string; amountMinor: number },
  code: string,
): Promise<AppliedDiscount> {
  const amountOff = amountOffIn(sql`${currency}::text`)
  const { rows } = await sql<AppliedDiscount>`
    select d.code, d.percent_off as "percentOff", ${amountOff} as "amountOffMinor",
      ${discountMinorOf(sql`${amountMinor}::bigint`, { percent: sql`d.percent_off`, amountMinor: amountOff }, sql`${currency}::text`)} as "discountMinor", d.most_uses is not null as "isLimited"
    from products p join discounts d on d.seller_id = p.seller_id and upper(d.code) = ${normalCode(code) ?? ''}
      and coalesce(d.product_id, p.id) = p.id and ${appliesIn(sql`${currency}::text`)}
    where p.id = ${productId} and p.status = 'active' and ${isOpenDiscount} and coalesce(d.uses < d.most_uses, true)`.execute(
    db,
  )
  if (!rows[0]) throw new Refusal('discount_not_valid', DISCOUNT_NOT_VALID)
  return rows[0]
}

const notFound = () => new Refusal('discount_not_found', 'There is no such discount of yours.')

async function refuseUnusable(
  db: Db,
  { sellerId, productId, amounts }: { sellerId: string; productId: string; amounts: readonly AmountOff[] },
): Promise<void> {
  const { rows } = await sql<{ currencies: string[] }>`
    select array(select p.currency union all select pp.currency from product_prices pp
      where pp.product_id = p.id and pp.currency <> p.currency) as currencies
    from products p where p.id = ${productId} and p.seller_id = ${sellerId}`.execute(db)
  if (!rows[0]) throw new Refusal('product_not_found', 'There is no such product of yours.')
  const { currencies } = rows[0]
  if (amounts.some(({ currency }) => !currencies.includes(currency)))
    throw wrongField('currency', `This product is sold in ${currencies.join(', ')}.`)
}

async function refusing<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? error.code : undefined
    if (code === UNIQUE_VIOLATION) throw new Refusal('discount_code_taken', 'You have this code already.')
    if (code === CHECK_VIOLATION) throw wrongField('expiresAt', ENDS_EARLY)
    throw error
  }
}
