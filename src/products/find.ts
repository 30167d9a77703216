import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { imagesOf } from './images/urls.ts'
import { type PriceRow, furtherPrices, priceOf } from './prices.ts'
import { type PRODUCT_STATES, type Product, type WithdrawnFile, recalledFilesOf } from './schema.ts'

export interface ProductRow {
  id: string
  sellerId: string
  name: string
  description: string
  status: (typeof PRODUCT_STATES)[number]
  amount: number
  currency: string
  payWhatYouWant: boolean
  suggestedMinor: number | null
  /** Absent in events of an earlier version. */
  further?: PriceRow[]
  statementSuffix: string
  imageId: string | null
  imageUrl: string | null
  createdAt: Date
  updatedAt: Date
  version: number
  files: { id: string; name: string; size: number; sha256: string; contentType: string; createdAt: string }[]
  /** Events store the row under these names, and every release reads them. So this one keeps its older name. */
  withdrawn: WithdrawnFile[] | null
}

/** The order that the seller gave a product's files `f`. */
export const inOrder = sql`f.position nulls last, f.id`

/** All that a seller sees of a product `p`. */
export const PRODUCT_COLUMNS = sql`
  p.id, p.seller_id as "sellerId", p.name, p.description, p.status, p.price_minor as amount, p.currency,
  p.pay_what_you_want as "payWhatYouWant", p.suggested_minor as "suggestedMinor", ${furtherPrices} as further, p.statement_suffix as "statementSuffix",
  p.image_id as "imageId", p.image_url as "imageUrl", p.created_at as "createdAt", p.updated_at as "updatedAt", p.version,
  (select coalesce(json_agg(json_build_object('id', f.id, 'name', f.name, 'size', f.size_bytes, 'sha256', f.sha256,
      'contentType', f.content_type, 'createdAt', f.created_at) order by ${inOrder}), '[]')
    from files f where f.product_id = p.id and f.removed_at is null
      and not exists (select from withdrawn_files w where w.seller_id = p.seller_id and w.sha256 = f.sha256)) as files,
  (select json_agg(json_build_object('id', f.id, 'name', f.name, 'reason', w.reason, 'withdrawnAt', w.withdrawn_at) order by ${inOrder})
    from withdrawn_files w join files f on f.sha256 = w.sha256
    where w.seller_id = p.seller_id and f.product_id = p.id) as withdrawn`

/** Sorts after every id. */
const BEFORE_THE_FIRST = 'prod_~'

/** A seller's products, newest first, from `after` on. */
export async function listProducts(
  db: Db,
  {
    sellerId,
    productIds,
    after = BEFORE_THE_FIRST,
    limit,
    status,
    q,
  }: {
    sellerId: string
    /** Undefined: all products. */
    productIds: readonly string[] | undefined
    after: string | undefined
    limit: number
    status: string | undefined
    q: string | undefined
  },
): Promise<ProductRow[]> {
  const { rows } = await sql<ProductRow>`
    select ${PRODUCT_COLUMNS} from products p
    where p.seller_id = ${sellerId} and p.id < ${after}
      and (${productIds ?? null}::text[] is null or p.id = any(${productIds ?? null}))
      and (${status ?? null}::text is null or p.status = ${status ?? null})
      and (${q || null}::text is null or position(lower(${q || null}) in lower(p.name)) > 0)
    order by p.id desc limit ${limit}`.execute(db)
  return rows
}

/** Finds a seller's product. Refuses `product_not_found`, also for another seller's product. */
export async function findProduct(db: Db, sellerId: string, productId: string): Promise<ProductRow> {
  const { rows } = await sql<ProductRow>`
    select ${PRODUCT_COLUMNS} from products p where p.id = ${productId} and p.seller_id = ${sellerId}`.execute(db)
  return rows[0] ?? refuseUnknown()
}

export function refuseUnknown(): never {
  throw new Refusal('product_not_found', 'There is no such product of yours.')
}

/** The product as the API returns it. */
export function productOf(row: ProductRow, { baseUrl, appUrl }: { baseUrl: string; appUrl: string }): Product {
  const {
    imageId,
    imageUrl,
    suggestedMinor,
    further = [],
    version: _version,
    files,
    withdrawn: recalled,
    ...product
  } = row
  const { currency, amount: leastMinor } = product
  return {
    ...product,
    prices: [{ currency, leastMinor, suggestedMinor }, ...further].map(priceOf),
    ...(suggestedMinor !== null && { suggestedAmount: suggestedMinor }),
    ...imagesOf(baseUrl, { imageId, imageUrl }),
    files: files.map((file) => ({ ...file, createdAt: new Date(file.createdAt).toISOString() })),
    ...recalledFilesOf(recalled),
    payUrl: `${appUrl}/pay/?product=${row.id}`,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
