import { sql } from 'kysely'
import { CODE_QUEUE } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import type { Mailer } from '../kit/mail.ts'
import type { Catalogue } from '../words/catalogues.ts'
import { layoutIn, readingOf } from '../words/mail-language.ts'
import { say, sentences } from '../words/say.ts'
import { type Purpose, codeOf, codeQueue } from './mailbox-codes.ts'

interface CodeJob {
  id: string
  /** The language of the page that asked. Absent in jobs of an earlier release. */
  locale?: string
}

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
  const send = async (secret: string, { id, locale }: CodeJob, jobId: string) => {
    const { rows } = await sql<{ email: string; purpose: Purpose; hasOrders: boolean }>`
      select c.email, c.purpose, exists (select from orders o where o.email = c.email) as "hasOrders"
      from mailbox_codes c where c.id = ${id} and c.used_at is null and c.expires_at > now()`.execute(db)
    const code = rows[0]
    // the browser has asked for a newer code, or this one is used or expired
    if (!code) return
    const reading = await readingOf(locale)
    const lines = code.hasOrders
      ? codeLines(code.purpose, codeOf(secret, id), host, reading.words)
      : nothingBought(host, reading.words)
    await mailer(jobId, {
      to: code.email,
      subject: lines.subject,
      ...renderMail({ ...lines, language: layoutIn(reading) }),
    })
  }
  for (const secret of secrets)
    await jobs.on<CodeJob>(codeQueue(secret), { ...CODE_QUEUE, atOnce: mailer.atOnce }, (job, jobId) =>
      send(secret, job, jobId),
    )
}

/** A code for its page. It says what the code opens, and that the buyer must not share it. */
function codeLines(purpose: Purpose, code: string, host: string, { mail }: Catalogue): Lines {
  const [subject, title, text] =
    purpose === 'charge'
      ? [mail.chargeCode, mail.chargeCodeTitle, mail.chargeCodeText]
      : [mail.libraryCode, mail.libraryCodeTitle, mail.libraryCodeText]
  return { subject: say(subject, { code, host }), title, text, code, facts: [], note: say(mail.codeNote, { host }) }
}

const nothingBought = (host: string, { mail }: Catalogue): Lines => ({
  subject: say(mail.nothing, { host }),
  title: mail.nothingTitle,
  text: sentences([say(mail.nothingAsked, { host }), mail.nothingText]),
  facts: [],
  note: say(mail.nothingNote, { host }),
})
