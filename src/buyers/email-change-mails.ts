import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { DropJob, type Jobs, type QueueOptions } from '../kit/jobs.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MailRefused, type Mailer } from '../kit/mail.ts'
import { codeOf, codeQueue } from './email-changes.ts'

export interface EmailChangeMails {
  db: Db
  mailer: Mailer
  secrets: readonly string[]
  orderUrl: (orderId: string) => string
}

/** As long as a change waits to be confirmed. */
const DELIVERY: QueueOptions = {
  retries: 30,
  retryDelaySeconds: 5,
  retryDelayMaxSeconds: 3600,
  expireSeconds: 60,
  atOnce: 5,
}

interface Change {
  orderId: string
  email: string
  productName: string
  seller: string
}

/** Sends the codes that move an order to another address, to that address. One that the mail server refuses is not waited for. */
export async function sendEmailChangeMails(jobs: Jobs, parts: EmailChangeMails): Promise<void> {
  const { db, mailer, secrets, orderUrl } = parts
  const send = async (secret: string, id: string, jobId: string) => {
    const { rows } = await sql<Change>`
      select c.order_id as "orderId", c.email, o.product_name as "productName", s.name as seller
      from email_changes c join orders o on o.id = c.order_id join sellers s on s.id = o.seller_id
      where c.id = ${id} and c.expires_at > now()`.execute(db)
    const change = rows[0]
    // confirmed, or another one has taken its place
    if (!change) return
    const lines = linesOf(change, codeOf(secret, id), `${orderUrl(change.orderId)}#email`)
    try {
      await mailer(jobId, { to: change.email, subject: lines.subject, ...renderMail(lines) })
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error
      await sql`delete from email_changes where id = ${id}`.execute(db)
      throw new DropJob(error.message)
    }
  }
  for (const secret of secrets)
    await jobs.on<{ id: string }>(codeQueue(secret), DELIVERY, ({ id }, jobId) => send(secret, id, jobId))
}

const linesOf = ({ orderId, email, productName, seller }: Change, digits: string, url: string): Lines => ({
  subject: `${digits} is your code to confirm your address`,
  title: `Is this the right address for ${productName}?`,
  text: `${seller} was told that the address of this order was mistyped, and that it should be ${email}. If you bought it, open the page of your order and type this code: the order, its receipt and its files then come to this address. It is good for 24 hours.`,
  code: digits,
  button: { label: 'Confirm my address', url },
  facts: [
    ['Product', productName],
    ['Order', orderId],
  ],
  note: 'You bought nothing like this? Then somebody has named your address by mistake: do nothing, and do not pass the code on.',
})
