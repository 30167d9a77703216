import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { isId } from '../kit/ids.ts'
import type { Jobs } from '../kit/jobs.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { renderMail } from '../kit/mail-layout.ts'
import { sellerMaySell } from '../sellers/standing.ts'

// A buyer pays for files. So a product without files cannot be published, and it goes off sale when its last file goes.

const MAILS_AT_ONCE = 500

/** Whether a new buyer of the product `p` gets any file. Triggers in the database update it with each upload, removal and recall. */
export const hasFiles = sql<boolean>`p.has_files`

/** Whether the product `p` is ready for sale. It checks for files, because an older version can leave an active product without files. */
export const isPublished = sql<boolean>`p.status = 'active' and ${hasFiles}`
/** Whether the product `p` is for sale: it is published, and its seller may sell. */
export const isForSale = sql<boolean>`${isPublished} and ${sellerMaySell}`

/** Refuses a product that is not for sale: `shop_not_open` because of its seller, `product_not_found` for any other reason. */
export async function refuseNotForSale(db: Db, productId: string): Promise<never> {
  const gone = new Refusal('product_not_found', 'This product is not for sale.')
  if (!isId('prod', productId)) throw gone
  const { rows } = await sql`
    select from products p where p.id = ${productId} and ${isPublished} and not ${sellerMaySell}`.execute(db)
  if (rows.length > 0) throw new Refusal('shop_not_open', 'This shop is not open at the moment.')
  throw gone
}

/**
 * Turns products without files back into drafts. The caller must lock the products' rows (`for update`) before it removes the files: a
 * simultaneous order then waits for the lock, and finds that the product is not for sale.
 */
export async function takeOffSale(tx: Tx, productIds: readonly string[]): Promise<void> {
  await sql`
    update products p set status = 'draft', version = p.version + 1, updated_at = now(), off_sale_since = now(),
      off_sale_told_at = null
    where p.id = any(${productIds}::text[]) and p.status = 'active' and not ${hasFiles}`.execute(tx)
}

/** Enqueues a mail for each product that went off sale and is not back. It runs once a minute, so a quick swap of files causes no mail. */
export async function enqueueOffSaleMails(db: Db, jobs: Jobs): Promise<void> {
  for (let enqueued = MAILS_AT_ONCE; enqueued === MAILS_AT_ONCE;) {
    enqueued = await inTransaction(db, async (tx) => {
      const { rows } = await sql<{ productId: string }>`
        update products set off_sale_told_at = now() where id in (
          select id from products where off_sale_since is not null and off_sale_told_at is null
          order by off_sale_since limit ${MAILS_AT_ONCE} for update skip locked)
        returning id as "productId"`.execute(tx)
      if (rows.length > 0) await jobs.add(tx, 'product_mail', rows.map((data) => ({ data }))) // oxfmt-ignore
      return rows.length
    })
  }
}

/** Sends the mails about products to their sellers. */
export async function sendProductMails(
  jobs: Jobs,
  { db, mailer, appUrl }: { db: Db; mailer: Mailer; appUrl: string },
): Promise<void> {
  await jobs.on<{ productId: string }>(
    'product_mail',
    { ...MAIL_TRIES, atOnce: mailer.atOnce },
    async ({ productId }, jobId) => {
      const { rows } = await sql<{ name: string; email: string }>`
      select p.name, s.email from products p join sellers s on s.id = p.seller_id
      where p.id = ${productId} and p.status = 'draft' and p.off_sale_since is not null`.execute(db)
      // the seller has published or archived the product since
      if (!rows[0]) return
      const { name, email } = rows[0]
      const subject = 'One of your products is off sale: it has no files'
      const mail = renderMail({
        subject,
        title: 'A product of yours is off sale.',
        text: `${name} has no file left, so a buyer would pay and get nothing. It is a draft again, and its link says that it is not for sale. Its buyers keep the files they bought, unless a file was recalled. Add a file and publish the product to sell it again.`,
        button: { label: 'Open the product', url: `${appUrl}/shop/#/products/${productId}` },
        facts: [['Product', name]],
      })
      await mailer(jobId, { to: email, subject, ...mail })
    },
  )
}
