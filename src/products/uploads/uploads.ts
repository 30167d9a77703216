import { sql } from 'kysely'
import { type QuotaOwner, type UploadLimits, quotaOf } from './limits.ts'
import { type Db, type Tx, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import type { Storage } from '../../kit/storage/storage.ts'
import { ofProducts } from '../../sellers/keys/narrow.ts'
import { NOT_IN_A_LINE } from '../fields.ts'

/** No seller needs this many unfinished uploads. */
const MOST_OPEN = 1000
/** Every response about the product or its orders lists the files. Removed files count too, because their buyers keep them. */
const MOST_OF_PRODUCT = 500
const SWEPT_AT_ONCE = 200
/** An upload in one request ends a day after this was last done. */
const KEEP_OPEN_MS = 3600_000

export interface NewUpload {
  sellerId: string
  productId: string
  name: string
  sizeBytes: number
  /** Hex, from the client. */
  sha256?: string | undefined
  /** The file that this one replaces. */
  replaces?: string | undefined
}

export interface Upload extends NewUpload {
  id: string
  state: 'open' | 'finished' | 'given_up'
  expiresAt: Date
}

export interface FileRow {
  id: string
  name: string
  sizeBytes: number
  sha256: string
  contentType: string
  createdAt: Date
}

/** The file as the API returns it. */
export const viewOf = (file: FileRow) => ({
  id: file.id,
  name: file.name,
  size: file.sizeBytes,
  sha256: file.sha256,
  contentType: file.contentType,
  createdAt: file.createdAt.toISOString(),
})

const COLUMNS = sql`id, seller_id as "sellerId", product_id as "productId", name, size_bytes as "sizeBytes", sha256, replaces,
  case when state = 'open' and expires_at < now() then 'given_up' else state end as state, expires_at as "expiresAt"`
export const FILE_COLUMNS = sql`id, name, size_bytes as "sizeBytes", sha256, content_type as "contentType", created_at as "createdAt"`

export const NOT_A_NAME = 'is one line of text without control characters, such as book.pdf'

/** Buyers read the name before they open the file, so no hidden character, or one that changes the text's direction, may be in it. */
export const isFileName = (name: string): boolean =>
  name.trim() !== '' && [...name].length <= 255 && name.isWellFormed() && !NOT_IN_A_LINE.test(name)

export interface Uploads {
  db: Db
  storage: Storage
  limits: UploadLimits
}

/**
 * Reserves room for a file. Refuses `product_not_found`, `file_not_found`, `file_too_large`, `quota_exceeded`, `storage_full`.
 */
export async function beginUpload({ db, storage, limits }: Uploads, upload: NewUpload): Promise<Upload> {
  const { maxBytes } = limits
  if (upload.sizeBytes > maxBytes)
    throw new Refusal('file_too_large', `A file may have at most ${maxBytes} bytes; this one has ${upload.sizeBytes}.`)
  await storage.mustHaveRoom(upload.sizeBytes)
  return inTransaction(db, async (tx) => {
    const { used, open, ...owner } = await roomOf(tx, upload.sellerId)
    await checkProduct(tx, upload)
    const quotaBytes = quotaOf(limits, owner)
    if (quotaBytes > 0 && used + upload.sizeBytes > quotaBytes)
      throw new Refusal('quota_exceeded', noRoom(upload.sizeBytes, Math.max(0, quotaBytes - used), quotaBytes))
    if (open >= MOST_OPEN) throw new Refusal('quota_exceeded', 'Too many uploads are unfinished: finish or end some.')
    const { sellerId, productId, name, sizeBytes, sha256 = null, replaces = null } = upload
    const { rows } = await sql<Upload>`
      insert into uploads (id, seller_id, product_id, name, size_bytes, sha256, replaces)
      values (${newId('file')}, ${sellerId}, ${productId}, ${name}, ${sizeBytes}, ${sha256}, ${replaces})
      returning ${COLUMNS}`.execute(tx)
    return rows[0]!
  })
}

/** The page shows it to the seller. */
function noRoom(sizeBytes: number, leftBytes: number, quotaBytes: number): string {
  const megabytes = (bytes: number, round = Math.floor) => `${(round(bytes / 1e5) / 10).toLocaleString('en')} MB`
  return `This file has ${megabytes(sizeBytes, Math.ceil)}, and ${megabytes(leftBytes)} of your ${megabytes(quotaBytes)} are left. Unfinished uploads and removed files count too.`
}

export interface UploadOwner {
  sellerId: string
  /** The upload is for one of these products. Undefined: for any. */
  productIds: readonly string[] | undefined
}

/** Returns the bytes that a seller stores, with unfinished uploads. It locks the seller, so simultaneous uploads never share one room. */
async function roomOf(tx: Tx, sellerId: string): Promise<{ used: number; open: number } & QuotaOwner> {
  const { rows: sellers } = await sql<QuotaOwner>`
    select trusted_at is not null as "isTrusted", quota_bytes as "ownQuotaBytes" from sellers where id = ${sellerId} for no key update`.execute(
    tx,
  )
  const { rows } = await sql<{ used: number; open: number }>`
    select open.count as open, (open.bytes + (
      select coalesce(sum(f.size_bytes), 0) from files f join products p on p.id = f.product_id
      where p.seller_id = ${sellerId}))::bigint as used
    from (select count(*)::int as count, coalesce(sum(size_bytes), 0) as bytes
      from uploads where seller_id = ${sellerId} and state = 'open') open`.execute(tx)
  return { ...rows[0]!, ...(sellers[0] ?? { isTrusted: false, ownQuotaBytes: null }) }
}

async function checkProduct(tx: Tx, { productId, sellerId, ...upload }: NewUpload): Promise<void> {
  const replaces = upload.replaces ?? null
  const { rows } = await sql<{ hasFile: boolean; files: number }>`
    select ${replaces}::text is null or exists (
      select from files where id = ${replaces} and product_id = ${productId} and removed_at is null) as "hasFile",
      (select count(*) from files where product_id = ${productId}) + (
        select count(*) from uploads where product_id = ${productId} and seller_id = ${sellerId} and state = 'open') as files
    from products where id = ${productId} and seller_id = ${sellerId}`.execute(tx)
  if (!rows[0]) throw new Refusal('product_not_found', 'There is no such product of yours.')
  if (!rows[0].hasFile) throw new Refusal('file_not_found', 'The product has no such file to replace.')
  if (rows[0].files >= MOST_OF_PRODUCT)
    throw new Refusal('quota_exceeded', `A product may have at most ${MOST_OF_PRODUCT} files. Removed files count too.`)
}

export async function findUpload(db: Db, id: string, { sellerId, productIds }: UploadOwner): Promise<Upload> {
  const { rows } = await sql<Upload>`
    select ${COLUMNS} from uploads
    where id = ${id} and seller_id = ${sellerId} and ${ofProducts(sql`product_id`, productIds)}`.execute(db)
  if (!rows[0]) throw new Refusal('upload_not_found', 'There is no such upload of yours.')
  return rows[0]
}

/** Keeps an upload open while `work` runs, however long a large file takes on a slow line. */
export async function keptOpen<T>(db: Db, id: string, work: Promise<T>, everyMs = KEEP_OPEN_MS): Promise<T> {
  const keep = () =>
    sql`update uploads set expires_at = now() + interval '1 day' where id = ${id} and state = 'open'`
      .execute(db)
      .catch(() => {})
  const timer = setInterval(() => void keep(), everyMs).unref()
  return work.finally(() => clearInterval(timer))
}

/** Ends an upload, and then removes its bytes. A finished upload stays. */
export async function giveUp(db: Db, storage: Storage, id: string): Promise<void> {
  const { rows } = await sql`
    update uploads set state = 'given_up' where id = ${id} and state = 'open' returning id`.execute(db)
  if (rows.length > 0) await discard(db, storage, id)
}

/**
 * Ends uploads without a request for a day, and removes the rows of finished ones. If the storage fails to remove bytes, the next sweep
 * tries again.
 */
export async function sweepUploads(db: Db, storage: Storage): Promise<void> {
  await sql`
    update uploads set state = 'given_up', lock_holder = null, locked_until = null
    where state = 'open' and expires_at < now() and coalesce(locked_until < now(), true)`.execute(db)
  const { rows } = await sql<{ id: string; state: string }>`
    select id, state from uploads u where state = 'given_up' or (state = 'finished' and expires_at < now()
      -- the later end of such an upload follows these rows to the file that it must not stand beside
      and not exists (select from uploads o where o.product_id = u.product_id and o.state = 'open' and o.replaces is not null))
    order by expires_at limit ${SWEPT_AT_ONCE}`.execute(db)
  let failure: { error: unknown } | undefined
  for (const { id, state } of rows) {
    const work = state === 'given_up' ? discard(db, storage, id) : forget(db, storage, id)
    // an upload that cannot be removed must not stop the others
    await work.catch((error: unknown) => (failure ??= { error }))
  }
  if (failure) throw failure.error
}

async function forget(db: Db, storage: Storage, id: string): Promise<void> {
  await storage.tidy(id)
  await sql`delete from uploads where id = ${id} and state = 'finished'`.execute(db)
}

async function discard(db: Db, storage: Storage, id: string): Promise<void> {
  await storage.remove(id)
  await sql`delete from uploads where id = ${id} and state = 'given_up'`.execute(db)
}
