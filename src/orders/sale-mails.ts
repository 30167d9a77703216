import { sql } from 'kysely'
import { type Change, type Db, inTransaction } from '../kit/database.ts'
import { DropJob, EVERY_MINUTE, type Jobs } from '../kit/jobs.ts'
import { countUses, lookAtUse } from '../kit/limits.ts'
import { renderMail } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { type Sold, type SoldOrder, saleLines } from './mails/sales.ts'

/** The most mails about sales that a seller gets in an hour. Further sales go into one mail when the hour is over. */
const MAILS_AN_HOUR = { count: 6, seconds: 3600 }
/** The daily mail lists the sales until this hour (UTC): morning in Europe, night in America. */
const DAILY_HOUR_UTC = 6
/** A mail lists up to this many sales and counts the rest. */
const MOST_LISTED = 20
/** More could take longer than a statement's time limit. The next round takes the rest. */
const MOST_SALES_AT_ONCE = 20_000

/** Notes sales for which the seller is to get a mail, in the transaction that makes the orders paid. */
export function recordSales(sales: readonly { orderId: string; sellerId: string; isFree: boolean }[]): Change {
  if (sales.length === 0) return undefined
  return sql`
    insert into untold_sales (order_id, seller_id, is_free)
    select * from unnest(
      ${sales.map(({ orderId }) => orderId)}::text[], ${sales.map(({ sellerId }) => sellerId)}::text[],
      ${sales.map(({ isFree }) => isFree)}::boolean[])`
}

/** Whether the mail about a sale is due. For a seller who wants no mails every sale is due, and is removed without a mail. */
const IS_DUE = sql`(s.sale_mails = 'off' or (s.sale_mails = 'each' and not u.is_free)
  or u.sold_at < date_trunc('day', now() - ${`${DAILY_HOUR_UTC} hours`}::interval, 'UTC') + ${`${DAILY_HOUR_UTC} hours`}::interval)`

/**
 * Enqueues the mails about sales that are due, one for each seller. The transaction that enqueues a mail also removes its sales from
 * the list, so simultaneous rounds or a crash neither lose a sale nor mail it twice.
 */
export async function enqueueSaleMails(db: Db, jobs: Jobs): Promise<void> {
  for (let sellerId: string | undefined = ''; sellerId !== undefined;)
    sellerId = await enqueueNextMail(db, jobs, sellerId)
}

async function enqueueNextMail(db: Db, jobs: Jobs, after: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string; mails: 'each' | 'daily' | 'off' }>`
    select s.id, s.sale_mails as mails from sellers s
    where s.id = (
      select u.seller_id from untold_sales u join sellers s on s.id = u.seller_id
      where u.seller_id > ${after} and ${IS_DUE} order by u.seller_id limit 1)`.execute(db)
  const seller = rows[0]
  if (!seller) return undefined
  const use = { key: `sale_mail:${seller.id}`, limit: MAILS_AN_HOUR }
  if (seller.mails !== 'off' && !(await lookAtUse(db, use)).within) return seller.id
  await inTransaction(db, async (tx) => {
    const { rows: sold } = await sql<Sold>`
      with due as (
        select u.order_id from untold_sales u join sellers s on s.id = u.seller_id
        where u.seller_id = ${seller.id} and ${IS_DUE}
        order by u.sold_at limit ${MOST_SALES_AT_ONCE} for update of u skip locked),
      taken as (delete from untold_sales u using due where u.order_id = due.order_id returning u.order_id)
      select o.currency, count(*)::int as orders, sum(o.amount_minor)::bigint as "amountMinor",
        count(*) filter (where o.amount_minor = 0)::int as free,
        (array_agg(o.id order by o.paid_at desc, o.id desc))[:${MOST_LISTED}] as "orderIds"
      from taken join orders o on o.id = taken.order_id
      group by o.currency order by 2 desc, 1`.execute(tx)
    if (sold.length === 0 || seller.mails === 'off') return
    await countUses(tx, [use])
    await jobs.add(tx, 'sale_mail', [{ data: { sellerId: seller.id, sold } }])
  })
  return seller.id
}

/**
 * Enqueues mails about sales once a minute, and sends them. The job's id identifies the mail, so a repeat after a lost answer is the
 * same mail again.
 */
export async function runSaleMails(
  jobs: Jobs,
  { db, mailer, appUrl }: { db: Db; mailer: Mailer; appUrl: string },
): Promise<void> {
  await jobs.on<{ sellerId: string; sold: Sold[] }>(
    'sale_mail',
    { ...MAIL_TRIES, atOnce: mailer.atOnce },
    async ({ sellerId, sold }, jobId) => {
      const ids = sold.flatMap(({ orderIds }) => orderIds)
      const { rows: sellers } = await sql<{ email: string }>`
      select email from sellers where id = ${sellerId} and disabled_at is null`.execute(db)
      const { rows: orders } = await sql<SoldOrder>`
      select o.id, o.product_name as "productName", o.amount_minor as "amountMinor", o.currency, o.fee_minor as "feeMinor",
        o.email, o.paid_at as "paidAt"
      from orders o where o.id = any(${ids}) and o.seller_id = ${sellerId}
      order by o.paid_at desc, o.id desc limit ${MOST_LISTED}`.execute(db)
      const [seller] = sellers
      if (!seller || orders.length === 0) throw new DropJob('the seller no longer exists')
      const lines = saleLines(sold, orders, appUrl)
      await mailer(jobId, { to: seller.email, subject: lines.subject, ...renderMail(lines) })
    },
  )
  await jobs.every(EVERY_MINUTE, 'tell_sales', () => enqueueSaleMails(db, jobs))
}
