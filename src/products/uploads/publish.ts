import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Storage, Stored } from '../../kit/storage/storage.ts'
import { inOrder } from '../find.ts'
import { contentTypeOf } from './content-type.ts'
import { FILE_COLUMNS, type FileRow, type Upload, giveUp } from './uploads.ts'

const recalled = () =>
  new Refusal('file_withdrawn', 'A file with exactly these bytes was recalled. This one is not offered to buyers.')

/**
 * Turns a stored upload into a file of the product. One transaction ends the upload, adds the file and removes the file that it replaces,
 * so a repeat adds nothing. Refuses `checksum_mismatch` and `file_withdrawn`; then it keeps nothing.
 */
export async function publish(db: Db, storage: Storage, upload: Upload, stored: Stored): Promise<FileRow> {
  const { id } = upload
  try {
    if (stored.size !== upload.sizeBytes || (upload.sha256 ?? stored.sha256) !== stored.sha256)
      throw new Refusal('checksum_mismatch', `The received bytes hash to ${stored.sha256}. Nothing was stored.`)
    if (await isRecalled(db, upload.sellerId, stored.sha256)) throw recalled()
    const contentType = await contentTypeOf(storage, id, stored.size)
    // it can deadlock with a recall of the same bytes, and is then repeated
    const file = await inTransaction(db, (tx) => publishIn(tx, upload, { ...stored, contentType }))
    return file ?? (await finishedFile(db, id))
  } catch (error) {
    if (error instanceof Refusal && REFUSED.has(error.code)) await giveUp(db, storage, id)
    throw error
  }
}
const REFUSED = new Set(['checksum_mismatch', 'file_withdrawn'])

/** If a recall comes between this check and the publishing, the database removes the file as it is added. */
async function isRecalled(db: Db, sellerId: string, sha256: string): Promise<boolean> {
  const { rows } = await sql`
    select from withdrawn_files where seller_id = ${sellerId} and sha256 = ${sha256}`.execute(db)
  return rows.length > 0
}

/** Returns undefined when another request has ended the upload. */
async function publishIn(
  tx: Tx,
  { id, productId, name, replaces }: Upload,
  { size, sha256, contentType }: Stored & { contentType: string },
): Promise<FileRow | undefined> {
  const { rows: ended } = await sql`
    update uploads set state = 'finished', expires_at = now() + interval '1 day', lock_holder = null, locked_until = null
    where id = ${id} and state = 'open' returning id`.execute(tx)
  if (ended.length === 0) return undefined
  // with the lock, a simultaneous move, removal or upload sees this one, or this one sees it
  await sql`select from products where id = ${productId} for update`.execute(tx)
  await sql`update products set updated_at = now() where id = ${productId}`.execute(tx)
  const replaced = replaces ? await findReplaced(tx, id, replaces) : undefined
  if (replaced?.isOnSale && replaced.position === null) await numberFiles(tx, productId)
  const { rows } = await sql<FileRow & { isRemoved: boolean }>`
    insert into files (id, product_id, name, size_bytes, sha256, content_type, position)
    values (${id}, ${productId}, ${name}, ${size}, ${sha256}, ${contentType},
      (select f.position from files f where f.id = ${replaced?.id ?? null}))
    returning ${FILE_COLUMNS}, removed_at is not null as "isRemoved"`.execute(tx)
  const { isRemoved, ...file } = rows[0]!
  // all of it is undone: the file that this one was to replace stays on sale
  if (isRemoved) throw recalled()
  const gone = replaced?.isNewer ? id : replaced?.id
  if (gone)
    await sql`update files set removed_at = clock_timestamp() where id = ${gone} and removed_at is null`.execute(tx)
  return file
}

interface Replaced {
  id: string
  position: number | null
  isOnSale: boolean
  /** Its upload began after the present one, so the seller chose it later. */
  isNewer: boolean
}

/**
 * The file whose place an upload takes: the file it was begun for, or what has replaced that one since. Two uploads can be begun for one
 * file, and must not both stay on sale.
 */
async function findReplaced(tx: Tx, id: string, replaces: string): Promise<Replaced | undefined> {
  const { rows } = await sql<Replaced>`
    with recursive line as (
      select ${replaces}::text collate "C" as id, null::timestamptz as begun_at
      union all
      select u.id, u.created_at from uploads u join line on u.replaces = line.id where u.state = 'finished' and u.id <> ${id}
    )
    select f.id, f.position, f.removed_at is null as "isOnSale",
      coalesce(f.removed_at is null and line.begun_at > mine.created_at, false) as "isNewer"
    from line join files f on f.id = line.id, uploads mine
    where mine.id = ${id} and (f.removed_at is null or f.id = ${replaces})
    order by f.removed_at is null desc, line.begun_at desc nulls last limit 1`.execute(tx)
  return rows[0]
}

/** Gives every file of the product the place where buyers see it. Without a place the files stand in the order of their upload. */
async function numberFiles(tx: Tx, productId: string): Promise<void> {
  await sql`
    update files set position = o.position
    from (select f.id, row_number() over (order by ${inOrder}) as position
      from files f where f.product_id = ${productId} and f.removed_at is null) o
    where files.id = o.id and files.position is distinct from o.position`.execute(tx)
}

/** The file of an upload that another request has finished. */
export async function finishedFile(db: Db, id: string): Promise<FileRow> {
  const { rows } = await sql<FileRow>`select ${FILE_COLUMNS} from files where id = ${id}`.execute(db)
  if (!rows[0]) throw new Refusal('upload_expired', 'This upload was given up: please begin it again.')
  return rows[0]
}
