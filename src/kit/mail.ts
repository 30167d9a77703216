import { sql } from 'kysely'
import nodemailer from 'nodemailer'
import { batched } from './batch.ts'
import { type Db, isDatabaseOutage } from './database.ts'
import { DEADLINES } from './deadlines.ts'
import { type Sample, newCounter } from './measure.ts'
import { isLoopback } from './settings.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** Who gets the answers, where that is not who sends it. */
  replyTo?: { name: string; address: string }
}

/** What the library tells of a refusal. */
interface SMTPError {
  responseCode: number
  response: string
  command: string
}

/** Sends one mail. `id` is the job's: a repeat of it is the same mail. */
export type Mailer = ((id: string, mail: Mail) => Promise<void>) & {
  /** So many are under way side by side. */
  atOnce: number
  /** What became of them: sent, refused for good, or failed, to be tried again. */
  outcomes(): Sample[]
  close(): void
}

/** The mail server says that this mail will never be taken (5xx): trying again would only annoy it. */
export class MailRefused extends Error {
  /** The server says that there is no such mailbox. Otherwise what the mail says, who sends it or a full mailbox may be the reason. */
  readonly isMailbox: boolean
  constructor(message: string, { isMailbox = false } = {}) {
    super(message)
    this.isMailbox = isMailbox
  }
}

/**
 * The answers to RCPT TO that say that the mailbox is not there (RFC 3463, and RFC 7505 for 5.1.10): the address does not exist, in
 * its domain or at all, has moved, or takes no mail. A 5xx without such a code can be about a blocklist (5.7.1) or a full mailbox
 * (5.2.2), and 5.2.1 is also what Gmail says of one that others have flooded: none of these shows that an address is mistyped.
 */
const NO_MAILBOX = /^5\d\d[ -]5\.1\.(1|2|3|6|10)(?!\d)/

/**
 * How a connection to SMTP_URL is encrypted: `always` from the start (smtps://), `required` before anything is said (STARTTLS),
 * `offered` on this machine, where the server may have no certificate, or `none` because the setting says so.
 */
export function tlsOf(url: string): 'always' | 'required' | 'offered' | 'none' {
  const { protocol, hostname, searchParams } = new URL(url)
  if (protocol === 'smtps:') return 'always'
  if (searchParams.get('tls') === 'none') return 'none'
  return isLoopback(hostname) ? 'offered' : 'required'
}

/** The way to a mail server: smtp://user:password@host:587, or smtps:// for TLS from the start. */
export const smtpTransport = (url: string, { timeoutMs = DEADLINES.smtpMs, pool = {} } = {}) =>
  nodemailer.createTransport({
    ...pool,
    // without our own option, which the library would take for one of its own
    url: url.replace(/\?tls=none$/, ''),
    requireTLS: tlsOf(url) === 'required',
    ignoreTLS: tlsOf(url) === 'none',
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // no attachment by path or address: a mail's text must not be able to name a file of ours
    disableFileAccess: true,
    disableUrlAccess: true,
  })

/** A server that answers a word now and then would hold a connection for ever. After this, the mail is tried again later. */
const MOST_SECONDS_A_MAIL = 40
/** Below what servers allow, so that it is we who end a connection, and not the server while a mail goes over it. */
const IDLE_MS = 20_000

/**
 * Mails through a real server, over up to `connections` connections that are kept for a while. Each mail has a connection to
 * itself while it is sent. A mail whose connection was lost before a byte of it went out is sent over another one; every other
 * loss is an error.
 */
export function smtpMailer(url: string, from: string, { connections = 5, timeoutMs = DEADLINES.smtpMs } = {}): Mailer {
  const transport = smtpTransport(url, {
    timeoutMs,
    pool: { pool: true, maxConnections: connections, idleTimeout: IDLE_MS },
  })
  const { count, samples } = newCounter(['outcome'])
  const send = async (id: string, mail: Mail) => {
    // ends the mail together with its connection, or while it waits for one: its next try must not meet it
    const limit = { signal: AbortSignal.timeout(MOST_SECONDS_A_MAIL * 1000) }
    try {
      const sent = await transport.sendMail({
        ...limit,
        from,
        // an object is one recipient whatever its text holds; a string would be parsed as a list
        to: { name: '', address: mail.to },
        ...(mail.replyTo && { replyTo: mail.replyTo }),
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        messageId: `<${id}@${from.replace(/^.*@|>$/g, '')}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      if (sent.rejected.length > 0) throw new MailRefused('the mail server refused the recipient')
      count('sent')
    } catch (error) {
      const { responseCode, response = '', command = '' } = error as Partial<SMTPError>
      // a refused greeting, sign-in or sender is about our settings, which somebody will put right; these are about the mail
      const isRefused = responseCode !== undefined && responseCode >= 500 && /^(RCPT TO|DATA)/.test(command)
      count(isRefused || error instanceof MailRefused ? 'refused' : 'failed')
      if (!isRefused) throw error
      throw new MailRefused(`the mail server answered ${responseCode}`, {
        isMailbox: command.startsWith('RCPT TO') && NO_MAILBOX.test(response),
      })
    }
  }
  return Object.assign(send, { atOnce: connections, outcomes: samples, close: () => transport.close() })
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
  const send = (id: string, mail: Mail) => keep({ id, ...mail })
  return Object.assign(send, { atOnce: 32, outcomes: () => [], close: () => {} })
}
