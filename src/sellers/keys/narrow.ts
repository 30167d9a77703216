import { type RawBuilder, sql } from 'kysely'
import { Refusal } from '../../kit/errors.ts'

/** The condition that a column names one of the products that the caller may see. Undefined: all products. */
export const ofProducts = (
  column: RawBuilder<unknown>,
  productIds: readonly string[] | undefined,
): RawBuilder<unknown> => (productIds === undefined ? sql`true` : sql`${column} = any(${productIds}::text[])`)

/** Refuses `product_not_found` for a product that the caller may not see. A caller with some products only must name one of them. */
export function refuseOtherProduct(productIds: readonly string[] | undefined, productId: string | undefined): void {
  if (productIds === undefined || (productId !== undefined && productIds.includes(productId))) return
  throw new Refusal('product_not_found', 'The key of this request is bound to other products. Name one of its own.')
}
