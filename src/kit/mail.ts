import { sql } from 'kysely'
import nodemailer from 'nodemailer'
import { batched } from './batch.ts'
import { type Db, isDatabaseOutage } from './database.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  html: string
}

/** Sends one mail. `id` is the job's: a repeat of it is the same mail. */
export type Mailer = (id: string, mail: Mail) => Promise<void>

/** The mail server says that this mail will never be taken (5xx): trying again would only annoy it. */
export class MailRefused extends Error {}

/** The library would wait up to ten minutes; a queue that retries does not need to. */
const SMTP_TIMEOUT_MS = 10_000

/** The way to a mail server: smtp://user:password@host:587, or smtps:// for TLS from the start. */
export const smtpTransport = (url: string, { timeoutMs = SMTP_TIMEOUT_MS, requireTLS = false } = {}) =>
  nodemailer.createTransport({
    url,
    requireTLS,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // no attachment by path or address: a mail's text must not be able to name a file of ours
    disableFileAccess: true,
    disableUrlAccess: true,
  })

/** Mails through a real server. */
export function smtpMailer(url: string, from: string): Mailer {
  const transport = smtpTransport(url)
  return async (id, mail) => {
    try {
      const sent = await transport.sendMail({
        from,
        // an object is one recipient whatever its text holds; a string would be parsed as a list
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        messageId: `<${id}@${from.replace(/^.*@|>$/g, '')}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      if (sent.rejected.length > 0) throw new MailRefused('the mail server refused the recipient')
    } catch (error) {
      const { responseCode, command = '' } = error as { responseCode?: number; command?: string }
      // a refused greeting, sign-in or sender is about our settings, which somebody will put right; these are about the mail
      if (responseCode !== undefined && responseCode >= 500 && /^(RCPT TO|DATA)/.test(command))
        throw new MailRefused(`the mail server answered ${responseCode}`)
      throw error
    }
  }
}

/** Keeps mails where the outbox page shows them, for a service that has no mail server. */
export function outboxMailer(db: Db): Mailer {
  type Kept = Mail & { id: string }
  const keep = batched(
    async (mails: readonly Kept[]): Promise<void[]> => {
      const column = <K extends keyof Kept>(name: K) => mails.map((mail) => mail[name])
      await sql`
      insert into outbox (id, recipient, subject, text, html)
      select * from unnest(
        ${column('id')}::uuid[], ${column('to')}::text[], ${column('subject')}::text[], ${column('text')}::text[], ${column('html')}::text[])
      on conflict (id) do nothing`.execute(db)
      return mails.map(() => undefined)
    },
    { most: 64, atOnce: 1, isOutage: isDatabaseOutage },
  )
  return (id, mail) => keep({ id, ...mail })
}
