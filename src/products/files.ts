import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal, notValid } from '../kit/errors.ts'
import { inOrder, refuseUnknown } from './find.ts'
import { takeOffSale } from './off-sale.ts'
import { FILE_COLUMNS, type FileRow, NOT_A_NAME, isFileName } from './uploads/uploads.ts'

/** A file of a seller's product. */
interface OwnFile {
  sellerId: string
  productId: string
  fileId: string
}

/**
 * Changes a file's name, or its place among the product's files; a place beyond the end is the last one. The bytes stay the same.
 * Buyers who already have the file see the new name too. Refuses `product_not_found`, `file_not_found`, `validation_failed`.
 */
export async function changeFile(
  db: Db,
  { sellerId, productId, fileId }: OwnFile,
  { name, position }: { name?: string | undefined; position?: number | undefined },
): Promise<FileRow> {
  if (name !== undefined && !isFileName(name)) throw notValid('name', NOT_A_NAME)
  return inTransaction(db, async (tx) => {
    // the lock makes a simultaneous second move see the result of the first
    const { rows: products } = await sql`
      update products set updated_at = now() where id = ${productId} and seller_id = ${sellerId} returning id`.execute(
      tx,
    )
    if (products.length === 0) refuseUnknown()
    const { rows } = await sql<FileRow>`
      update files set name = coalesce(${name ?? null}::text, name)
      where id = ${fileId} and product_id = ${productId} and removed_at is null returning ${FILE_COLUMNS}`.execute(tx)
    if (!rows[0]) refuseUnknownFile()
    if (position !== undefined) await moveFile(tx, productId, fileId, position)
    return rows[0]
  })
}

async function moveFile(tx: Tx, productId: string, fileId: string, position: number): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select f.id from files f where f.product_id = ${productId} and f.removed_at is null order by ${inOrder}`.execute(tx)
  const others = rows.map(({ id }) => id).filter((id) => id !== fileId)
  const ids = [...others.slice(0, position - 1), fileId, ...others.slice(position - 1)]
  await sql`
    update files f set position = o.position from unnest(${ids}::text[]) with ordinality as o(id, position)
    where f.id = o.id and f.position is distinct from o.position`.execute(tx)
}

/**
 * Removes a file from a product. Its buyers keep it. Without files the product goes off sale. A repeat changes nothing. Refuses
 * `product_not_found`, `file_not_found`.
 */
export async function removeFile(db: Db, { sellerId, productId, fileId }: OwnFile): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql`
      select from products where id = ${productId} and seller_id = ${sellerId} for update`.execute(tx)
    if (rows.length === 0) refuseUnknown()
    // the time is taken after the lock, so that an order made before it keeps the file
    const { rows: files } = await sql`
      update files set removed_at = coalesce(removed_at, clock_timestamp())
      where id = ${fileId} and product_id = ${productId} returning id`.execute(tx)
    if (files.length === 0) refuseUnknownFile()
    await takeOffSale(tx, [productId])
  })
}

function refuseUnknownFile(): never {
  throw new Refusal('file_not_found', 'The product has no such file.')
}
