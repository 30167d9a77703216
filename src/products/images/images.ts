import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import type { Storage } from '../../kit/storage/storage.ts'
import { refuseUnknown } from '../find.ts'
import { type QuotaOwner, type UploadLimits, quotaOf } from '../uploads/limits.ts'
import { putImage, removeImage } from './store.ts'
import type { Size } from './urls.ts'

/** Mails and shared links show a replaced picture for this long. */
const KEPT = '30 days'
const SWEPT_AT_ONCE = 200
/** All sizes of a picture together take at most this much. */
const PICTURE_BYTES = 2_500_000
const NO_ROOM = 'Your pictures, with those that you replaced in the last 30 days, take all your room.'

/**
 * Gives the product another picture. The row comes before the bytes, so the sweep finds them also after a crash; they count as unused
 * until the product shows them. Pictures have a quota of their own, as large as that of files. Refuses `product_not_found`,
 * `quota_exceeded`, `storage_full`.
 */
export async function setImage(
  db: Db,
  storage: Storage,
  { sellerId, productId, limits }: { sellerId: string; productId: string; limits: UploadLimits },
  sizes: ReadonlyMap<Size, Buffer>,
): Promise<void> {
  const { rows: sellers } = await sql<QuotaOwner>`
    select trusted_at is not null as "isTrusted", quota_bytes as "ownQuotaBytes" from sellers where id = ${sellerId}`.execute(
    db,
  )
  const quotaBytes = quotaOf(limits, sellers[0] ?? { isTrusted: false, ownQuotaBytes: null })
  const id = newId('img')
  const { rows } = await sql`
    insert into images (id, product_id)
    select ${id}, ${productId} where ${quotaBytes === 0} or ${quotaBytes}::bigint >= ${PICTURE_BYTES}::bigint * (
      select count(*) + 1 from images i join products p on p.id = i.product_id where p.seller_id = ${sellerId})
    returning id`.execute(db)
  if (rows.length === 0) throw new Refusal('quota_exceeded', NO_ROOM)
  await putImage(storage, id, sizes)
  await showImage(db, { sellerId, productId, imageId: id })
}

/** Sets the picture that the product shows, or none. The old picture stays for a while. Refuses `product_not_found`. */
export async function showImage(
  db: Db,
  { sellerId, productId, imageId }: { sellerId: string; productId: string; imageId: string | null },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ imageId: string | null }>`
      select image_id as "imageId" from products where id = ${productId} and seller_id = ${sellerId} for update`.execute(
      tx,
    )
    if (!rows[0]) refuseUnknown()
    await sql`
      update products set image_id = ${imageId}, image_url = null, updated_at = now() where id = ${productId}`.execute(
      tx,
    )
    await sql`
      update images set unused_since = case when id = ${imageId} then null else now() end
      where id in (${imageId}, ${rows[0].imageId})`.execute(tx)
  })
}

/** Removes pictures that no product has shown for a month. The bytes go first, so that no bytes are left without a row. */
export async function sweepImages(db: Db, storage: Storage): Promise<void> {
  for (let swept = SWEPT_AT_ONCE; swept === SWEPT_AT_ONCE;) {
    const { rows } = await sql<{ id: string }>`
      select id from images where unused_since < now() - ${KEPT}::interval order by unused_since limit ${SWEPT_AT_ONCE}`.execute(
      db,
    )
    for (const { id } of rows) await removeImage(storage, id)
    await sql`delete from images where id = any(${rows.map(({ id }) => id)}::text[])`.execute(db)
    swept = rows.length
  }
}
