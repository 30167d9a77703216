import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import type { Locale } from '../kit/locales.ts'
import type { Jobs, QueueOptions } from '../kit/jobs.ts'
import { type Lines, renderMail, unlinked } from '../kit/mail-layout.ts'
import { MailRefused, type Mailer } from '../kit/mail.ts'
import { recordBounce } from '../orders/receipts.ts'
import { type Reading, layoutIn, readingOf } from '../words/mail-language.ts'
import { say, sentences, timeText } from '../words/say.ts'
import { CONSENT, codeOf, codeQueue } from './email-changes.ts'
import { startCoolingOff, moveTime, moveSigner, moveToken } from './order-moves.ts'

export interface EmailChangeMails {
  db: Db
  mailer: Mailer
  secrets: readonly string[]
  orderUrl: (orderId: string, locale?: Locale) => string
}

/** The tries last as long as a change waits for its confirmation. */
const DELIVERY: Omit<QueueOptions, 'atOnce'> = {
  retries: 30,
  retryDelaySeconds: 5,
  retryDelayMaxSeconds: 3600,
  expireSeconds: 60,
}
/** The tries last about four days: the order waits until its old mailbox has the question, so a long outage must not end them. */
const QUESTION: typeof DELIVERY = { ...DELIVERY, retries: 60, retryDelayMaxSeconds: 7200 }

interface Change {
  orderId: string
  email: string
  productName: string
  seller: string
  isTrusted: boolean
  /** Money was paid for the order. */
  isPaidFor: boolean
  supportEmail: string
  locale: string | null
}

/**
 * Sends to an order's new address the code that confirms it, and to the old address the question whether it keeps the order. If the
 * mail server refuses the new address, the change ends.
 */
export async function sendEmailChangeMails(jobs: Jobs, parts: EmailChangeMails): Promise<void> {
  const { db, mailer, secrets, orderUrl } = parts
  const signer = moveSigner(secrets)
  const send = async (secret: string, id: string, jobId: string) => {
    const { rows } = await sql<Change>`
      select c.order_id as "orderId", c.email, o.product_name as "productName", s.name as seller,
        s.trusted_at is not null as "isTrusted", o.amount_minor > 0 as "isPaidFor", coalesce(s.support_email, s.email) as "supportEmail", o.locale
      from email_changes c join orders o on o.id = c.order_id join sellers s on s.id = o.seller_id
      where c.id = ${id} and c.confirmed_at is null and c.expires_at > now()`.execute(db)
    const change = rows[0]
    // the change is confirmed or has ended, or a newer one has replaced it
    if (!change) return
    const guarded = withGuardedNames(change)
    const reading = await readingOf(change.locale)
    const lines = linesOf(guarded, codeOf(secret, id), `${orderUrl(change.orderId, reading.locale)}#email`, reading)
    try {
      await mailer(jobId, {
        to: change.email,
        subject: lines.subject,
        ...renderMail({ ...lines, language: layoutIn(reading) }),
        ...((change.isTrusted || change.isPaidFor) && {
          replyTo: { name: guarded.seller, address: guarded.supportEmail },
        }),
      })
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error
      await sql`delete from email_changes where id = ${id} and confirmed_at is null`.execute(db)
      throw error
    }
  }
  const sendQuestion = async (secret: string, id: string, jobId: string) => {
    const { rows } = await sql<Move>`
      select c.order_id as "orderId", c.old_email as email, ${moveTime} as "movesAt", o.product_name as "productName",
        s.trusted_at is not null as "isTrusted", o.locale
      from email_changes c join orders o on o.id = c.order_id join sellers s on s.id = o.seller_id
      where c.id = ${id} and c.confirmed_at is not null and c.expires_at > now()`.execute(db)
    const move = rows[0]
    // the order has moved or stays, or a newer change has replaced this one
    if (!move) return
    const reading = await readingOf(move.locale)
    const url = `${orderUrl(move.orderId, reading.locale)}#keep=${moveToken(signer, move.orderId, move.email)}`
    const productName = move.isTrusted ? move.productName : unlinked(move.productName)
    const lines = movingLines({ ...move, productName }, CONSENT.codeOf(secret, id), url, reading)
    try {
      await mailer(jobId, {
        to: move.email,
        subject: lines.subject,
        ...renderMail({ ...lines, language: layoutIn(reading) }),
      })
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error
      // If the old mailbox does not exist, the order moves with the next round. If it exists but refuses this mail, its owner could not
      // keep the order, so the order moves only with that mailbox's consent.
      if (error.isMailbox) await recordBounce(db, move.orderId, move.email, true)
      throw error
    }
    if (move.movesAt) await startCoolingOff(db, id, move.movesAt)
  }
  const delivery = { ...DELIVERY, atOnce: mailer.atOnce }
  const question = { ...QUESTION, atOnce: mailer.atOnce }
  for (const secret of secrets) {
    await jobs.on<{ id: string }>(codeQueue(secret), delivery, ({ id }, jobId) => send(secret, id, jobId))
    await jobs.on<{ id: string }>(CONSENT.codeQueue(secret), question, ({ id }, jobId) =>
      sendQuestion(secret, id, jobId),
    )
  }
}

/**
 * The seller names the address, so an untrusted seller's words must not become a message to it. A buyer who has paid needs an address
 * for questions that can be copied and answered.
 */
const withGuardedNames = (change: Change): Change =>
  change.isTrusted
    ? change
    : {
        ...change,
        productName: unlinked(change.productName),
        seller: unlinked(change.seller),
        supportEmail: change.isPaidFor ? change.supportEmail : unlinked(change.supportEmail),
      }

interface Move {
  orderId: string
  email: string
  movesAt: Date | null
  productName: string
  isTrusted: boolean
  locale: string | null
}

// This mail does not name the new address, because a stranger may read it. It does not name the seller either: a thief with the seller's
// session could choose a name for which a mail server refuses the mail. The product's name is the one pinned in the order.
function movingLines(
  { orderId, productName, movesAt }: Move,
  code: string,
  url: string,
  { locale, words: { mail, ui } }: Reading,
): Lines {
  const when = movesAt ? say(mail.staysUntil, { time: timeText(movesAt, locale) }) : mail.staysConsent
  return {
    subject: mail.stays,
    title: mail.staysTitle,
    text: sentences([mail.staysTold, when, mail.staysText]),
    code,
    button: { label: mail.staysButton, url },
    facts: [
      [mail.product, productName],
      [ui.orderNumber, orderId],
    ],
    note: mail.staysNote,
  }
}

const linesOf = (
  { orderId, email, productName, seller, supportEmail }: Change,
  code: string,
  url: string,
  { words: { mail, ui } }: Reading,
): Lines => ({
  subject: say(mail.confirmCode, { code }),
  title: mail.confirmTitle,
  text: say(mail.confirmText, { seller, email }),
  code,
  button: { label: mail.confirmButton, url },
  facts: [
    [mail.product, productName],
    [ui.orderNumber, orderId],
    [mail.seller, seller],
    [mail.questionsTo, supportEmail],
  ],
  note: mail.confirmNote,
})
