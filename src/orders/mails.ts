import { sql } from 'kysely'
import { batched } from '../kit/batch.ts'
import { compiledOnce } from '../kit/compiled.ts'
import { type Db, isDatabaseOutage } from '../kit/database.ts'
import { genericPlanArray } from '../kit/plans.ts'
import { DropJob, type Jobs } from '../kit/jobs.ts'
import { MAIL_TRIES, type Mail, MailRefused, type Mailer } from '../kit/mail.ts'
import { renderMail } from '../kit/mail-layout.ts'
import { consentsOfOrder } from './consents/consents.ts'
import { isBoughtFile } from './bought-files.ts'
import { type InvoiceUrl, invoicesOfOrder } from './invoice-links.ts'
import { documentsOf } from './mails/documents.ts'
import { givesFiles } from './returned-money.ts'
import { BUYER_MAILS, buyerMail } from './mails/buyer.ts'
import { type BuyerMail, type MailData, type MailOrder, withGuardedNames } from './mails/mail-data.ts'
import { taxOfOrder } from './new-order.ts'
import { paidBy } from './paid-by.ts'
import { recordBounce, clearBounce } from './receipts.ts'
import { SELLER_MAILS } from './mails/seller.ts'
import { type PaidBy, printsOurLine } from '../processors/statement-line.ts'
import { inOrder } from '../products/find.ts'
import { mailColours } from '../sellers/accent.ts'
import { inLocale } from './urls.ts'
import type { Locale } from '../kit/locales.ts'
import { layoutIn, readingOf } from '../words/mail-language.ts'

export interface MailUrls {
  appUrl: string
  /** The page of an order, for the buyer with this address. */
  receiptUrl: (orderId: string, email: string, locale?: Locale) => string
  /** The hosted page with this order, for whoever reads the mail. It opens no files. */
  payAgainUrl: (productId: string, orderId: string, locale?: Locale) => string
  invoiceUrl: InvoiceUrl
  pictureUrl: (imageId: string) => string
  logoUrl: (logoId: string) => string
}

const FILES_NAMED = 10
/** A mailer with this many slots has room for mails that wait for each other. */
const MANY_SLOTS = 64
/** Mails gather this long, so that their orders are read and their texts and outcomes are stored by few statements. */
const GATHER_MS = 100

/**
 * Sends the mails about orders, which the queue `mail` holds. The job's id identifies the mail, so a repeat after a lost answer is the same
 * mail again.
 */
export async function sendMails(
  jobs: Jobs,
  { db, mailer, ...urls }: { db: Db; mailer: Mailer } & MailUrls,
): Promise<void> {
  const read = mailOrderReader(db, { gathers: mailer.atOnce >= MANY_SLOTS })
  const delivery = { ...MAIL_TRIES, atOnce: mailer.atOnce, isBrief: true }
  await jobs.on<MailData & { orderId: string }>('mail', delivery, async ({ orderId, ...data }, jobId) => {
    const order = await read({ orderId, fileId: data.fileId })
    if (!order) throw new DropJob('there is no such order')
    const mail = await mailFor(data, order, urls)
    const isReceipt = data.kind === 'receipt'
    try {
      await mailer(jobId, mail)
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error
      if (isReceipt) await recordBounce(db, orderId, mail.to, error.isMailbox)
      throw error
    }
    if (isReceipt && order.notReceived) await clearBounce(db, orderId, mail.to)
  })
}

interface Wanted {
  orderId: string
  fileId: string | undefined
}

const readMailOrders = compiledOnce<
  { orderIds: readonly string[]; fileIds: readonly (string | null)[] },
  Omit<MailOrder, 'delivered' | 'statementDescriptor'> & { at: number; descriptor: string; paidBy: PaidBy | null }
>(
  (given) => sql`
    select n.at, o.id, o.email, o.product_id as "productId", o.product_name as "productName", s.name as seller, s.email as "sellerEmail",
      coalesce(s.support_email, s.email) as "supportEmail", s.trusted_at is not null as "isTrusted", o.amount_minor as "amountMinor", o.discount_minor as "discountMinor", o.refunded_minor as "refundedMinor", o.currency,
      o.statement_descriptor as descriptor, ${paidBy} as "paidBy", o.paid_at as "paidAt", p.image_id as "imageId",
      o.rail, o.locale, s.brand, ${consentsOfOrder} as consents, ${taxOfOrder(sql`o`)} as tax, ${invoicesOfOrder} as invoices, ${givesFiles} as "isOpen",
      bought.names as "fileNames", bought.count as "fileCount",
      o.receipt_bounced_at is not null or o.receipt_held_at is not null as "notReceived",
      f.name as "fileName", w.reason as "recallReason"
    from unnest(
      ${genericPlanArray(given('orderIds'), 'text')},
      ${given('fileIds')}::text[]) with ordinality as n(order_id, file_id, at)
      join orders o on o.id = n.order_id join sellers s on s.id = o.seller_id join products p on p.id = o.product_id
      cross join lateral (
        select coalesce((array_agg(f.name order by ${inOrder}))[:${FILES_NAMED}], '{}') as names, count(*)::int as count
        from files f where ${isBoughtFile}) as bought
      left join files f on f.id = n.file_id and f.product_id = p.id
      left join withdrawn_files w on w.seller_id = o.seller_id and w.sha256 = f.sha256`,
)

/** Reads the orders of mails. Mails that are written at the same moment share one statement. */
function mailOrderReader(
  db: Db,
  { gathers }: { gathers: boolean },
): (wanted: Wanted) => Promise<MailOrder | undefined> {
  const read = batched(
    async (wanted: readonly Wanted[]) => {
      const rows = await readMailOrders(db, {
        orderIds: wanted.map(({ orderId }) => orderId),
        fileIds: wanted.map(({ fileId }) => fileId ?? null),
      })
      const found = new Map(
        rows.map(({ at, descriptor, paidBy: by, ...order }) => {
          const isOurLine = order.amountMinor > 0 && printsOurLine(by)
          const delivered = order.isOpen && order.fileCount > 0
          return [at, { ...order, delivered, statementDescriptor: isOurLine ? descriptor : null }]
        }),
      )
      return wanted.map((_, at) => found.get(at + 1))
    },
    { most: 64, atOnce: 2, gatherMs: GATHER_MS, isOutage: isDatabaseOutage },
  )
  return (wanted) => read(wanted, { deferrable: gathers })
}

/** The mail to the buyer or the seller, as text and as HTML. */
async function mailFor(
  data: MailData,
  order: MailOrder,
  { appUrl, receiptUrl, payAgainUrl, invoiceUrl, pictureUrl, logoUrl }: MailUrls,
): Promise<Mail> {
  const { kind } = data
  if (!isForBuyer(kind)) {
    const lines = SELLER_MAILS[kind](order, data)
    return { to: order.sellerEmail, subject: lines.subject, ...renderMail(lines) }
  }
  const shown = withGuardedNames(order)
  const reading = await readingOf(order.locale)
  const { mail, ui } = reading.words
  const { locale } = reading
  const { button: label, facts, ...lines } = buyerMail(kind, shown, data, reading)
  const picture =
    kind === 'receipt' && shown.imageId !== null
      ? { picture: { url: pictureUrl(shown.imageId), alt: shown.productName } }
      : {}
  const { logoId, accent } = shown.brand
  const brand = {
    ...(logoId && { logo: { url: logoUrl(logoId), alt: shown.seller } }),
    ...(accent && { colours: mailColours(accent) }),
  }
  // the seller can change the shop's name, and a mail server must not refuse this mail because of it
  const namesSeller = kind !== 'email_changed'
  // A buyer who has paid needs an address to copy and to answer. Other buyers of an untrusted seller get none.
  const answers = order.isTrusted || (order.amountMinor > 0 && kind !== 'payment_failed')
  const support = answers ? order.supportEmail : shown.supportEmail
  const to = data.to ?? order.email
  // the same order in every browser: another one would have the product's own price, and nothing of what a seller's program gave it
  const url =
    kind === 'payment_failed' ? payAgainUrl(order.productId, order.id, locale) : receiptUrl(order.id, to, locale)
  const rendered = renderMail({
    ...lines,
    ...(namesSeller && brand),
    ...picture,
    facts: namesSeller ? [...facts, [mail.seller, shown.seller], [mail.questionsTo, support]] : facts,
    button: { label, url },
    documents: documentsOf(data, order, reading, invoiceUrl),
    language: layoutIn(reading),
    // a buyer who has paid for something has a contract
    ...(order.paidAt &&
      order.amountMinor > 0 && {
        link: { label: ui.withdraw, url: `${appUrl}/withdraw/?order=${order.id}${inLocale(locale)}` },
      }),
  })
  return {
    to,
    subject: lines.subject,
    ...rendered,
    ...(answers && namesSeller && { replyTo: { name: shown.seller, address: support } }),
  }
}

const isForBuyer = (kind: MailData['kind']): kind is BuyerMail => kind in BUYER_MAILS
