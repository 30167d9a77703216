import { sql } from 'kysely'
import type pg from 'pg'
import { type Db, type Tx, inTransaction, patiently } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { isBoughtFile, isFileOfOrder } from './bought-files.ts'

/** More could take longer than a statement's time limit. */
const MAILS_AT_ONCE = 2000

/**
 * Enqueues mails to the buyers of recalled files, one for each buyer who has paid. Buyers who got their money back since get it too,
 * because they can still have a copy. The transaction that enqueues the mails also marks the file. Receipts are sent before them.
 */
export async function enqueueRecallMails(db: Db, jobs: Jobs): Promise<void> {
  while (await enqueueForOneFile(db, jobs));
}

/** The same for the job of each minute. A file with a million buyers takes longer than a statement of the service may. */
export async function tellRecalled(db: Db, database: pg.PoolConfig, jobs: Jobs): Promise<void> {
  const { rows } = await sql`select from withdrawn_files where buyers_told_at is null limit 1`.execute(db)
  if (rows.length > 0) await patiently(database, (own) => enqueueRecallMails(own, jobs))
}

/**
 * Ends the unpaid orders that would deliver nothing after the recall of this file. The reconciler closes their payments at the processors
 * within a minute. Their time ended when they were made, which tells them from those that a returning buyer keeps alive, and nothing gives them more time. A payment that a bank is already working on still becomes a sale,
 * which the seller can refund. After the bank has said no, the order ends too.
 */
export async function endUndeliverable(tx: Tx, fileId: string): Promise<void> {
  await sql`
    update orders w set expires_at = w.created_at, due_at = now()
    where w.id in (
      select o.id from orders o
      where o.state in ('pending', 'processing') and o.due_at is not null
        and o.product_id in (
          select c.product_id from files r join products p on p.id = r.product_id
            join products q on q.seller_id = p.seller_id join files c on c.product_id = q.id and c.sha256 = r.sha256
          where r.id = ${fileId})
        and not exists (select from files f where ${isBoughtFile})
      order by o.id for no key update of o)`.execute(tx)
}

async function enqueueForOneFile(db: Db, jobs: Jobs): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows: files } = await sql<{ sellerId: string; sha256: string }>`
      update withdrawn_files set buyers_told_at = now() where (seller_id, sha256) = (
        select seller_id, sha256 from withdrawn_files where buyers_told_at is null
        order by withdrawn_at limit 1 for update skip locked)
      returning seller_id as "sellerId", sha256`.execute(tx)
    if (!files[0]) return false
    const { sellerId, sha256 } = files[0]
    const { rows } = await sql<{ orderId: string; fileId: string }>`
      select distinct on (o.email) o.id as "orderId", f.id as "fileId"
      from products p join files f on f.product_id = p.id join orders o on o.seller_id = p.seller_id and ${isFileOfOrder}
      where p.seller_id = ${sellerId} and f.sha256 = ${sha256} and o.paid_at is not null
      order by o.email, o.created_at desc, f.id`.execute(tx)
    const mails = rows.map((bought) => ({ data: { kind: 'file_withdrawn', ...bought }, deferrable: true }))
    for (let at = 0; at < mails.length; at += MAILS_AT_ONCE)
      await jobs.add(tx, 'mail', mails.slice(at, at + MAILS_AT_ONCE))
    return true
  })
}
