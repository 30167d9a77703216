import { sql } from 'kysely'
import pg from 'pg'
import { type Db, UNIQUE_VIOLATION } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { wrongField } from '../../kit/moment.ts'
import { newId } from '../../kit/ids.ts'
import { ofProducts } from '../../sellers/keys/narrow.ts'
import { DISCOUNT_NOT_VALID, isOpenDiscount, normalCode } from './uses.ts'

export interface NewDiscount {
  sellerId: string
  code: string
  productId?: string | undefined
  percentOff?: number | undefined
  amountOffMinor?: number | undefined
  currency?: string | undefined
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
  mostUses: number | null
  uses: number
  startsAt: Date | null
  expiresAt: Date | null
  active: boolean
  createdAt: Date
}

const COLUMNS = sql`id, code, product_id as "productId", percent_off as "percentOff", amount_off_minor as "amountOffMinor", currency,
  most_uses as "mostUses", uses, starts_at as "startsAt", expires_at as "expiresAt", active, created_at as "createdAt"`
const CHECK_VIOLATION = '23514'
const ENDS_EARLY = 'expiresAt must be later than startsAt.'

/**
 * Makes a code for all of a seller's products, or for one. Refuses `product_not_found`, `discount_code_taken`, and
 * `validation_failed` where it could never be used.
 */
export async function createDiscount(db: Db, discount: NewDiscount): Promise<DiscountRow> {
  const { sellerId, productId, currency } = discount
  if (productId !== undefined) await refuseUnusable(db, { sellerId, productId, currency })
  const { rows } = await refusing(
    sql<DiscountRow>`
      insert into discounts (id, seller_id, product_id, code, percent_off, amount_off_minor, currency, most_uses, starts_at, expires_at)
      values (${newId('dsc')}, ${sellerId}, ${productId ?? null}, ${discount.code}, ${discount.percentOff ?? null},
        ${discount.amountOffMinor ?? null}, ${currency ?? null}, ${discount.mostUses ?? null}, ${discount.startsAt ?? null},
        ${discount.expiresAt ?? null})
      returning ${COLUMNS}`.execute(db),
  )
  return rows[0]!
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
  /** The code can be used so many times, and an order holds one of them. */
  isLimited: boolean
}

/** Returns a code's discount for a product now. Refuses `discount_not_valid`, with the same text for every reason. */
export async function findDiscount(db: Db, productId: string, code: string): Promise<AppliedDiscount> {
  const { rows } = await sql<AppliedDiscount>`
    select d.code, d.percent_off as "percentOff", d.amount_off_minor as "amountOffMinor",
      discount_of(p.price_minor, d.percent_off, d.amount_off_minor) as "discountMinor", d.most_uses is not null as "isLimited"
    from products p join discounts d on d.seller_id = p.seller_id and upper(d.code) = ${normalCode(code) ?? ''}
      and coalesce(d.product_id, p.id) = p.id and coalesce(d.currency, p.currency) = p.currency
    where p.id = ${productId} and p.status = 'active' and ${isOpenDiscount} and coalesce(d.uses < d.most_uses, true)`.execute(
    db,
  )
  if (!rows[0]) throw new Refusal('discount_not_valid', DISCOUNT_NOT_VALID)
  return rows[0]
}

const notFound = () => new Refusal('discount_not_found', 'There is no such discount of yours.')

async function refuseUnusable(
  db: Db,
  { sellerId, productId, currency }: Pick<NewDiscount, 'sellerId' | 'currency'> & { productId: string },
): Promise<void> {
  const { rows } = await sql<{ currency: string }>`
    select currency from products where id = ${productId} and seller_id = ${sellerId}`.execute(db)
  if (!rows[0]) throw new Refusal('product_not_found', 'There is no such product of yours.')
  if (currency !== undefined && currency !== rows[0].currency)
    throw wrongField('currency', `This product is sold in ${rows[0].currency}.`)
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
