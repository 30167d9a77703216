import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { DropJob, type Jobs } from '../kit/jobs.ts'
import { type Mail, MailRefused, type Mailer } from '../kit/mail.ts'
import { renderMail } from '../kit/mail-layout.ts'
import { isGoingBack } from './going-back.ts'
import { BUYER_MAILS } from './mails/buyer.ts'
import type { BuyerMail, MailNews, MailOrder } from './mails/news.ts'
import { noteBounced, noteReceived } from './receipts.ts'
import { SELLER_MAILS } from './mails/seller.ts'

/** About three days of trying: a mail server may be away over a weekend. */
const DELIVERY = { retries: 40, retryDelaySeconds: 5, retryDelayMaxSeconds: 7200, expireSeconds: 60, atOnce: 5 }

export interface MailUrls {
  orderUrl: (orderId: string) => string
  pictureUrl: (imageId: string) => string
}

/** Sends what settle has promised, by the job's id once: a repeat after a lost answer is the same mail again. */
export async function sendMails(
  jobs: Jobs,
  { db, mailer, ...urls }: { db: Db; mailer: Mailer } & MailUrls,
): Promise<void> {
  await jobs.on<MailNews & { orderId: string }>('mail', DELIVERY, async ({ orderId, ...news }, jobId) => {
    const { rows } = await sql<MailOrder>`
      select o.id, o.email, o.product_name as "productName", s.name as seller, s.email as "sellerEmail",
        o.amount_minor as "amountMinor", o.discount_minor as "discountMinor", o.refunded_minor as "refundedMinor", o.currency,
        o.statement_descriptor as "statementDescriptor", o.paid_at as "paidAt", p.image_id as "imageId",
        o.state in ('paid', 'partially_refunded') and not ${isGoingBack} as delivered,
        o.receipt_bounced_at is not null as bounced, f.name as "fileName", w.reason as "withdrawnReason"
      from orders o join sellers s on s.id = o.seller_id join products p on p.id = o.product_id
        left join files f on f.id = ${news.fileId ?? null} and f.product_id = p.id
        left join withdrawn_files w on w.seller_id = o.seller_id and w.sha256 = f.sha256
      where o.id = ${orderId}`.execute(db)
    const order = rows[0]
    if (!order) throw new DropJob('there is no such order')
    const mail = mailFor(news, order, urls)
    const isReceipt = news.kind === 'receipt'
    try {
      await mailer(jobId, mail)
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error
      if (isReceipt) await noteBounced(db, orderId, mail.to)
      throw new DropJob(error.message)
    }
    if (isReceipt && order.bounced) await noteReceived(db, orderId, mail.to)
  })
}

/** The mail that tells this news to whom it concerns, as text and as HTML. */
function mailFor(news: MailNews, order: MailOrder, { orderUrl, pictureUrl }: MailUrls): Mail {
  const { kind } = news
  if (!isForBuyer(kind)) {
    const lines = SELLER_MAILS[kind](order, news)
    return { to: order.sellerEmail, subject: lines.subject, ...renderMail(lines) }
  }
  const { button: label, ...lines } = BUYER_MAILS[kind](order, news)
  const picture =
    kind === 'receipt' && order.imageId !== null
      ? { picture: { url: pictureUrl(order.imageId), alt: order.productName } }
      : {}
  const mail = renderMail({ ...lines, ...picture, button: { label, url: orderUrl(order.id) } })
  return { to: news.to ?? order.email, subject: lines.subject, ...mail }
}

const isForBuyer = (kind: MailNews['kind']): kind is BuyerMail => kind in BUYER_MAILS
