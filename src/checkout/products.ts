import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { isId } from '../kit/ids.ts'
import type { Processor } from '../payments/processor.ts'
import { processorFor } from '../payments/routing.ts'
import type { ProductView } from './schema.ts'

/** What anybody may know of a product that is for sale: what the hosted page shows. Refuses `product_not_found`. */
export async function productView(
  db: Db,
  processors: ReadonlyMap<string, Processor>,
  productId: string,
): Promise<ProductView> {
  const view = isId('prod', productId) ? (await productViews(db, processors, [productId]))[0] : undefined
  if (!view) throw new Refusal('product_not_found', 'This product is not for sale.')
  return view
}

/** The same for several; those that are not for sale are left out. */
export async function productViews(
  db: Db,
  processors: ReadonlyMap<string, Processor>,
  productIds: readonly string[],
): Promise<ProductView[]> {
  const { rows } = await sql<
    Omit<ProductView, 'seller' | 'rails' | 'payments' | 'imageUrl'> & { seller: string; imageUrl: string | null }
  >`
    select p.id, p.name, p.description, p.price_minor as amount, p.currency, p.image_url as "imageUrl", s.name as seller
    from products p join sellers s on s.id = p.seller_id
    where p.id = any(${productIds}) and p.status = 'active'
    order by p.id`.execute(db)
  return rows.map(({ seller, imageUrl, ...product }) => {
    const processor = processorFor(processors, product.currency)
    return {
      ...product,
      ...(imageUrl !== null && { imageUrl }),
      seller: { name: seller },
      rails: processor?.rails(product.currency) ?? [],
      payments: { live: processor !== undefined, ...(processor && { processor: processor.name }) },
    }
  })
}
