import { sql } from 'kysely'
import { CODE_QUEUE } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import { DropJob, type Jobs } from '../kit/jobs.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MailRefused, type Mailer } from '../kit/mail.ts'
import { type Purpose, codeOf, codeQueue } from './mailbox-codes.ts'

export interface BuyerMails {
  db: Db
  mailer: Mailer
  secrets: readonly string[]
  appUrl: string
}

/**
 * Sends the codes that prove a mailbox. A job does it, so the time of the response tells a stranger nothing. The job checks whether the
 * mailbox has orders; if not, the mail says so instead. The client gets the same response in both cases.
 */
export async function sendMailboxMails(jobs: Jobs, { db, mailer, secrets, appUrl }: BuyerMails): Promise<void> {
  const { host } = new URL(appUrl)
  const send = async (secret: string, id: string, jobId: string) => {
    const { rows } = await sql<{ email: string; purpose: Purpose; hasOrders: boolean }>`
      select c.email, c.purpose, exists (select from orders o where o.email = c.email) as "hasOrders"
      from mailbox_codes c where c.id = ${id} and c.used_at is null and c.expires_at > now()`.execute(db)
    const code = rows[0]
    // the browser has asked for a newer code, or this one is used or expired
    if (!code) return
    const lines = code.hasOrders
      ? CODE_LINES[code.purpose](codeOf(secret, id), host)
      : nothingBought(ASKED_FOR[code.purpose], host)
    try {
      await mailer(jobId, { to: code.email, subject: lines.subject, ...renderMail(lines) })
    } catch (error) {
      throw error instanceof MailRefused ? new DropJob(error.message) : error
    }
  }
  for (const secret of secrets)
    await jobs.on<{ id: string }>(codeQueue(secret), { ...CODE_QUEUE, atOnce: mailer.atOnce }, ({ id }, jobId) =>
      send(secret, id, jobId),
    )
}

const CODE_LINES: Record<Purpose, (digits: string, host: string) => Lines> = {
  charge: (digits, host) => ({
    subject: `${digits} is your code to look up a charge at ${host}`,
    title: 'Your code to look up a charge',
    text: 'Type it where you asked for it, and you see which of your orders it was. It works once, for ten minutes, and only in that browser.',
    code: digits,
    facts: [],
    note: `You did not ask for it? Then somebody typed your address at ${host}, and sees nothing of yours without this code: do not pass it on, to anybody. Should such mails keep coming, tell whoever runs ${host}.`,
  }),
  library: (digits, host) => ({
    subject: `${digits} is your code to see what you bought at ${host}`,
    title: 'Your code to see what you bought',
    text: 'Type it where you asked for it, and all that you bought with this address opens there, with its files, for an hour. It works once, for ten minutes, and only in that browser.',
    code: digits,
    facts: [],
    note: `You did not ask for it? Then somebody typed your address at ${host}, and sees nothing of yours without this code: do not pass it on, to anybody. Should such mails keep coming, tell whoever runs ${host}.`,
  }),
}

const ASKED_FOR: Record<Purpose, string> = {
  charge: 'about a charge on a bank statement',
  library: 'for what was bought with this address',
}

const nothingBought = (what: string, host: string): Lines => ({
  subject: `Nothing was bought at ${host} with this address`,
  title: 'There is no order with this address',
  text: `Somebody, perhaps you, asked at ${host} ${what}. With this address nothing was ever bought there, so there is no code either. If it was you: please try again with every other address you use.`,
  facts: [],
  note: `It was not you? Then somebody typed your address by mistake, and there is nothing to do. Should such mails keep coming, tell whoever runs ${host}.`,
})
