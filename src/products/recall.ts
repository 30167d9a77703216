import { sql } from 'kysely'
import { recordEvent } from '../events/record.ts'
import type { Tx } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { NOT_IN_A_LINE, lengthOf } from './fields.ts'
import { takeOffSale } from './off-sale.ts'

const LONGEST_REASON = 500
const COPIES_SHOWN = 100

export interface Recalled {
  name: string
  productName: string
  recalledAt: Date
  /** The reason in the mail to buyers. The reason of the first recall stays. */
  reason: string
  /** The file had been recalled before. */
  already: boolean
  /** Files of other sellers with the same bytes, which are not recalled. At most `COPIES_SHOWN` of them. */
  elsewhere: { fileId: string; productName: string; sellerName: string }[]
}

/**
 * Recalls a file, at once and for good, also for buyers who have paid: every copy that its seller has of these bytes. The seller cannot
 * upload these bytes again. Products without another file go off sale. A job of each minute enqueues the buyers' mails. A repeat changes
 * nothing. For operators only: a seller could use it to take back sold files. Refuses `validation_failed`, `file_not_found`.
 */
export async function recallFile(tx: Tx, { fileId, reason }: { fileId: string; reason: string }): Promise<Recalled> {
  const line = checkedReason(reason)
  await sql`
    select p.id from products p where p.id in (
      select c.product_id from files f join products o on o.id = f.product_id
        join products q on q.seller_id = o.seller_id join files c on c.product_id = q.id and c.sha256 = f.sha256
      where f.id = ${fileId})
    order by p.id for update`.execute(tx)
  const { rows: made } = await sql`
    with chosen as (
      select p.seller_id, f.sha256 from files f join products p on p.id = f.product_id where f.id = ${fileId}
    ), removed as (
      -- the time after the locks: an order that they waited for still has the file, and its buyer is told
      update files f set removed_at = clock_timestamp() from products p, chosen c
      where f.product_id = p.id and p.seller_id = c.seller_id and f.sha256 = c.sha256 and f.removed_at is null)
    insert into withdrawn_files (seller_id, sha256, reason)
    select seller_id, sha256, ${line} from chosen
    on conflict do nothing returning 1`.execute(tx)
  // only products that have no other file; one can have got its copy since the first statement
  await takeOffSale(tx, await productsWithCopies(tx, fileId))
  const already = made.length === 0
  if (!already) await recordRecall(tx, fileId, line)
  const { rows } = await sql<Omit<Recalled, 'already'>>`
    select f.name, p.name as "productName", w.withdrawn_at as "recalledAt", w.reason,
      (select coalesce(json_agg(json_build_object('fileId', c.id, 'productName', c.product, 'sellerName', c.seller)), '[]') from (
        select other.id, q.name as product, s.name as seller
        from files other join products q on q.id = other.product_id join sellers s on s.id = q.seller_id
        where other.sha256 = f.sha256 and q.seller_id <> p.seller_id
          and not exists (select from withdrawn_files v where v.seller_id = q.seller_id and v.sha256 = f.sha256)
        order by other.id limit ${COPIES_SHOWN}) c) as elsewhere
    from files f join products p on p.id = f.product_id
      join withdrawn_files w on w.seller_id = p.seller_id and w.sha256 = f.sha256
    where f.id = ${fileId}`.execute(tx)
  if (!rows[0]) throw new Refusal('file_not_found', 'There is no such file.')
  return { ...rows[0], already }
}

/** The ids of the seller's products that have a file with these bytes. */
async function productsWithCopies(tx: Tx, fileId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct q.id from files f join products p on p.id = f.product_id
      join products q on q.seller_id = p.seller_id join files c on c.product_id = q.id and c.sha256 = f.sha256
    where f.id = ${fileId}`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Tells the seller's program of each copy of a file that was recalled. */
async function recordRecall(tx: Tx, fileId: string, reason: string): Promise<void> {
  const { rows: copies } = await sql<{ id: string; sellerId: string }>`
    select c.id, p.seller_id as "sellerId" from files f join products p on p.id = f.product_id
      join products q on q.seller_id = p.seller_id join files c on c.product_id = q.id and c.sha256 = f.sha256
    where f.id = ${fileId} order by c.id`.execute(tx)
  // a seller has a few copies of a file at most
  for (const { id, sellerId } of copies)
    await recordEvent(
      tx,
      { sellerId, type: 'file.recalled' },
      sql`select f.id, f.name, ${reason}::text as reason, f.product_id as "productId", p.name as "productName"
        from files f join products p on p.id = f.product_id where f.id = ${id}`,
    )
}

function checkedReason(given: string): string {
  const reason = given.toWellFormed().trim()
  const problem =
    reason === '' || lengthOf(reason) > LONGEST_REASON
      ? `must have 1 to ${LONGEST_REASON} characters`
      : NOT_IN_A_LINE.test(reason) && 'must be one line without control characters'
  if (problem)
    throw new Refusal('validation_failed', `The reason ${problem}.`, { fields: [{ path: 'reason', message: problem }] })
  return reason
}
