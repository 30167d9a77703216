import { sql } from 'kysely'
import nodemailer from 'nodemailer'
import { batched } from './batch.ts'
import { type Db, isDatabaseOutage } from './database.ts'
import { DEADLINES } from './deadlines.ts'
import { type Sample, newCounter } from './measure.ts'
import { isLoopback } from './settings.ts'
import { type SweepLimits, sweepOld } from './sweep.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The recipient of replies, when it is not the sender. */
  replyTo?: { name: string; address: string }
}

/** The library's error for a refusal by the mail server. */
interface SMTPError {
  responseCode: number
  response: string
  command: string
}

/** Sends one mail. `id` is the job's id, so a retry sends the same Message-ID. */
export type Mailer = ((id: string, mail: Mail) => Promise<void>) & {
  /** How many mails it sends at once. */
  atOnce: number
  /** Counts mails by outcome: sent, refused for good, or failed and tried again. */
  outcomes(): Sample[]
  close(): void
}

/** The mail server refused this mail for good (5xx), so it is not sent again. */
export class MailRefused extends Error {
  /** True when the server says that the mailbox does not exist. False for other reasons: content, sender, or a full mailbox. */
  readonly isMailbox: boolean
  constructor(message: string, { isMailbox = false } = {}) {
    super(message)
    this.isMailbox = isMailbox
  }
}

/**
 * The answers to RCPT TO for a missing mailbox (RFC 3463, and RFC 7505 for 5.1.10): the mailbox or its domain does not exist, the
 * mailbox has moved, or it takes no mail. Other 5xx codes do not show that an address is mistyped: they can mean a blocklist (5.7.1)
 * or a full mailbox (5.2.2), and Gmail answers 5.2.1 also for a mailbox that others have flooded.
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

/** The tries of a mail last about three days, because a mail server may be down over a weekend. */
export const MAIL_TRIES = { retries: 40, retryDelaySeconds: 5, retryDelayMaxSeconds: 7200, expireSeconds: 60 }

/** A connection to a mail server: smtp://user:password@host:587, or smtps:// for TLS from the start. */
export const smtpTransport = (url: string, { timeoutMs = DEADLINES.smtpMs, pool = {} } = {}) =>
  nodemailer.createTransport({
    ...pool,
    // `tls` is our own option, which the library would misread
    url: url.replace(/\?tls=none$/, ''),
    requireTLS: tlsOf(url) === 'required',
    ignoreTLS: tlsOf(url) === 'none',
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // no attachments by path or address, so that a mail's content cannot read our files
    disableFileAccess: true,
    disableUrlAccess: true,
  })

/** A server that sends a few bytes now and then would hold a connection for ever. After this time the mail is sent again later. */
const MOST_SECONDS_A_MAIL = 40
/** Shorter than servers allow, so that we end an idle connection before the server ends it during a mail. */
const IDLE_MS = 20_000

/**
 * Sends mails through a real server, over at most `connections` connections that stay open for a while. Each mail has a connection
 * to itself while it is sent. When the connection is lost before a byte of the mail went out, another one is used. Every other loss
 * is an error.
 */
export function smtpMailer(url: string, from: string, { connections = 5, timeoutMs = DEADLINES.smtpMs } = {}): Mailer {
  const transport = smtpTransport(url, {
    timeoutMs,
    pool: { pool: true, maxConnections: connections, idleTimeout: IDLE_MS },
  })
  const { count, samples } = newCounter(['outcome'])
  const send = async (id: string, mail: Mail) => {
    // ends the mail and its connection, or its wait for one, so that this try does not overlap with the next
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
      // RCPT TO and DATA refuse this mail; a refused greeting, sign-in or sender comes from our settings, which can be corrected
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

/** Stores mails for the outbox page, for a service without a mail server. */
export function outboxMailer(db: Db): Mailer {
  type StoredMail = Mail & { id: string }
  const store = batched(
    async (mails: readonly StoredMail[]): Promise<void[]> => {
      const column = <K extends keyof StoredMail>(name: K) => mails.map((mail) => mail[name])
      await sql`
      insert into outbox (id, recipient, subject, text, html)
      select * from unnest(
        ${column('id')}::uuid[], ${column('to')}::text[], ${column('subject')}::text[], ${column('text')}::text[], ${column('html')}::text[])
      on conflict (id) do nothing`.execute(db)
      return mails.map(() => undefined)
    },
    { most: 64, atOnce: 1, isOutage: isDatabaseOutage },
  )
  const send = (id: string, mail: Mail) => store({ id, ...mail })
  return Object.assign(send, { atOnce: 128, outcomes: () => [], close: () => {} })
}

/** Removes mails that the outbox got more than `days` days ago. They hold addresses and codes. */
export const sweepOutbox = (db: Db, days: number, limits?: SweepLimits): Promise<number> =>
  sweepOld(db, { table: 'outbox', time: 'sent_at', days }, limits)
