import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { DropJob, type Jobs } from '../kit/jobs.ts'
import { type Mail, MailRefused, type Mailer } from '../kit/mail.ts'
import { formatMoney } from '../kit/money.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'

export type MailKind = 'receipt' | 'duplicate_refunded' | 'refunded' | 'disputed'

interface MailOrder {
  id: string
  email: string
  productName: string
  seller: string
  amountMinor: number
  refundedMinor: number
  /** What was captured beside the sale and went back. */
  returnedMinor: number
  currency: string
  statementDescriptor: string
  paidAt: Date | null
}

/** About three days of trying: a mail server may be away over a weekend. */
const DELIVERY = { retries: 40, retryDelaySeconds: 5, retryDelayMaxSeconds: 7200, expireSeconds: 60, atOnce: 5 }

/** Sends what settle has promised, by the job's id once: a repeat after a lost answer is the same mail again. */
export async function sendMails(
  jobs: Jobs,
  { db, mailer, orderUrl }: { db: Db; mailer: Mailer; orderUrl: (orderId: string) => string },
): Promise<void> {
  await jobs.on<{ kind: MailKind; orderId: string }>('mail', DELIVERY, async ({ kind, orderId }, jobId) => {
    const { rows } = await sql<MailOrder>`
      select o.id, o.email, o.product_name as "productName", s.name as seller, o.amount_minor as "amountMinor",
        o.refunded_minor as "refundedMinor",
        (select coalesce(sum(r.amount_minor), 0)::bigint from refunds r
          join captures c on c.processor = r.processor and c.processor_capture_id = r.processor_capture_id
          where r.order_id = o.id and r.state = 'succeeded' and c.purpose = 'duplicate') as "returnedMinor", o.currency, o.statement_descriptor as "statementDescriptor", o.paid_at as "paidAt"
      from orders o join sellers s on s.id = o.seller_id where o.id = ${orderId}`.execute(db)
    if (!rows[0]) throw new DropJob('there is no such order')
    try {
      await mailer(jobId, mailFor(kind, rows[0], orderUrl(orderId)))
    } catch (error) {
      throw error instanceof MailRefused ? new DropJob(error.message) : error
    }
  })
}

/** The mail of a kind, as text and as HTML, to the address of the order. */
export function mailFor(kind: MailKind, order: MailOrder, orderUrl: string): Mail {
  const { button: label, ...rest } = LINES[kind](order)
  return { to: order.email, subject: rest.subject, ...renderMail({ ...rest, button: { label, url: orderUrl } }) }
}

const LINES: Record<MailKind, (order: MailOrder) => Omit<Lines, 'button'> & { button: string }> = {
  receipt: (order) => ({
    subject: `Your receipt for ${order.productName}`,
    title: 'Thank you. Your files are ready.',
    text: `You bought ${order.productName} from ${order.seller}. This address opens your files whenever you need them: you only have to say which address you bought with.`,
    button: 'Open my files',
    facts: [
      ['Product', order.productName],
      ['Amount', formatMoney(order.amountMinor, order.currency)],
      ['On your statement', order.statementDescriptor],
      ['Paid', order.paidAt ? `${order.paidAt.toISOString().slice(0, 16).replace('T', ' ')} UTC` : ''],
      ['Order', order.id],
    ],
  }),
  duplicate_refunded: (order) => ({
    subject: `A second payment for ${order.productName} was sent back`,
    title: 'You paid once. We sent the second payment back.',
    text: `Your bank charged you twice for ${order.productName}. The second payment was sent back at once; it can take your bank a few days to show it. Your purchase is not touched.`,
    button: 'See my order',
    facts: [
      ['Sent back', formatMoney(order.returnedMinor, order.currency)],
      ['On your statement', order.statementDescriptor],
      ['Order', order.id],
    ],
  }),
  refunded: (order) => ({
    subject: `Your refund for ${order.productName}`,
    title: 'Your refund is on its way.',
    text: `${order.seller} has refunded ${formatMoney(order.refundedMinor, order.currency)} of ${formatMoney(order.amountMinor, order.currency)}. It can take your bank a few days to show it.`,
    button: 'See my order',
    facts: [
      ['Refunded in all', formatMoney(order.refundedMinor, order.currency)],
      ['On your statement', order.statementDescriptor],
      ['Order', order.id],
    ],
  }),
  disputed: (order) => ({
    subject: `About your payment for ${order.productName}`,
    title: 'Your bank told us that you dispute a payment.',
    text: `While your bank looks at the payment for ${order.productName}, its files cannot be downloaded. If you did not mean to dispute it, tell your bank: the line on your statement reads ${order.statementDescriptor}.`,
    button: 'See my order',
    facts: [
      ['Amount', formatMoney(order.amountMinor, order.currency)],
      ['On your statement', order.statementDescriptor],
      ['Order', order.id],
    ],
  }),
}
