import { sql } from 'kysely'
import type { Readable } from 'node:stream'
import type { Db, Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { reusedKey } from '../kit/idempotency.ts'
import { newId } from '../kit/ids.ts'
import type { Storage } from '../kit/storage/storage.ts'

export interface NewProduct {
  sellerId: string
  name: string
  description: string
  priceMinor: number
  currency: string
  status: 'draft' | 'active'
  payWhatYouWant?: boolean | undefined
  suggestedMinor?: number | undefined
  /** By default made from the name. */
  statementSuffix?: string | undefined
  imageUrl?: string | undefined
  idempotency?: Idempotency | undefined
}

/** Hashes of a client's key and of what it sent with it. */
export interface Idempotency {
  key: Buffer
  request: Buffer
}

/** Anybody can become a seller, so what one may fill has an end. Products that are made at once may be a few more. */
const MOST_PRODUCTS = 10_000

/** Once the product is in the table. Refuses `too_many_products`. */
export async function refuseTooManyProducts(tx: Tx, sellerId: string): Promise<void> {
  const { rows } = await sql`
    select from products where seller_id = ${sellerId} offset ${MOST_PRODUCTS} limit 1`.execute(tx)
  if (rows.length > 0)
    throw new Refusal(
      'too_many_products',
      `You have ${MOST_PRODUCTS} products. Change one that you do not sell any more.`,
    )
}

/**
 * Makes a product. `isRepeat`: an earlier request with this idempotency key has made it. Refuses `idempotency_key_reused`.
 */
export async function createProduct(db: Db, product: NewProduct): Promise<{ id: string; isRepeat: boolean }> {
  const { rows } = await sql<{ id: string }>`
    insert into products (id, seller_id, name, description, status, price_minor, currency, pay_what_you_want,
      suggested_minor, statement_suffix, image_url, idempotency_key, request_hash)
    values (${newId('prod')}, ${product.sellerId}, ${product.name}, ${product.description}, ${product.status}, ${product.priceMinor},
      ${product.currency}, ${product.payWhatYouWant ?? false}, ${product.suggestedMinor ?? null},
      ${product.statementSuffix ?? statementSuffix(product.name)}, ${product.imageUrl ?? null},
      ${product.idempotency?.key ?? null}, ${product.idempotency?.request ?? null})
    on conflict (idempotency_key) do nothing
    returning id`.execute(db)
  return rows[0] ? { ...rows[0], isRepeat: false } : { id: await findByKey(db, product.idempotency!), isRepeat: true }
}

async function findByKey(db: Db, { key, request }: Idempotency): Promise<string> {
  const { rows } = await sql<{ id: string; isSame: boolean }>`
    select id, request_hash = ${request} as "isSame" from products where idempotency_key = ${key}`.execute(db)
  if (!rows[0]?.isSame) throw reusedKey()
  return rows[0].id
}

/** Adds a file. The bytes are stored before the row that names them. */
export async function addFile(
  db: Db,
  storage: Storage,
  productId: string,
  file: { name: string; contentType: string; bytes: Readable },
): Promise<string> {
  const id = newId('file')
  const { size, sha256 } = await storage.put(id, file.bytes)
  await sql`
    insert into files (id, product_id, name, size_bytes, sha256, content_type)
    values (${id}, ${productId}, ${file.name}, ${size}, ${sha256}, ${file.contentType})`.execute(db)
  return id
}

/** Reduces a name to the characters that every card network prints on a statement: without accents and other characters. */
function statementSuffix(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toUpperCase()
    .replace(/[^A-Z0-9 .-]+/g, '')
    .replace(/\s+/g, ' ')
  return (
    plain
      .replace(/^[^A-Z0-9]+/, '')
      .slice(0, 21)
      .trim() || 'ORDER'
  )
}
