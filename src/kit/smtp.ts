import nodemailer from 'nodemailer'
import { DEADLINES } from './deadlines.ts'
import { type Mail, type Mailer, MailRefused } from './mail.ts'
import { newCounter } from './measure.ts'
import { isLoopback } from './local-names.ts'

/** The library's error for a refusal by the mail server. */
interface SMTPError {
  responseCode: number
  response: string
  command: string
}

/**
 * Faults of our own account that a server tells only at RCPT TO or DATA. Postfix says there that it wants a sign-in or another sender
 * (`smtpd_delay_reject`, which is its default). Gmail (5.4.5), Microsoft (5.1.90) and others say that the account has sent as much as it
 * may for now. "Over quota" alone is about the recipient's mailbox.
 */
const OWN_FAULT =
  /\brelay|sender address rejected|authenticat|not logged in|^5\d\d[ -]5\.(?:4\.5|1\.90)(?!\d)|(?:daily|hourly|sending|outgoing|submission)[^.]{0,40}(?:limit|quota)/i

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

/**
 * A connection to a mail server: smtp://user:password@host:587, or smtps:// for TLS from the start. `silenceMs` is the longest silence
 * of the server after its greeting.
 */
export const smtpTransport = (
  url: string,
  { timeoutMs, silenceMs = timeoutMs, pool }: { timeoutMs: number; silenceMs?: number; pool?: object },
) =>
  nodemailer.createTransport({
    ...pool,
    // `tls` is our own option, which the library would misread
    url: url.replace(/\?tls=none$/, ''),
    requireTLS: tlsOf(url) === 'required',
    ignoreTLS: tlsOf(url) === 'none',
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: silenceMs,
    dnsTimeout: timeoutMs,
    // no attachments by path or address, so that a mail's content cannot read our files
    disableFileAccess: true,
    disableUrlAccess: true,
  })

/** Shorter than servers allow, so that we end an idle connection before the server ends it during a mail. */
const IDLE_MS = 20_000

/**
 * Sends mails through a real server, over at most `connections` connections that stay open for a while. Each mail has a connection
 * to itself while it is sent. When the connection is lost before a byte of the mail went out, another one is used. Every other loss
 * is an error. A mail that takes longer than `mailMs` is an error too, also when the server sends a few bytes now and then.
 */
export function smtpMailer(
  url: string,
  from: string,
  { connections = 5, timeoutMs = DEADLINES.smtpMs, mailMs = DEADLINES.mailMs } = {},
): Mailer {
  const transport = smtpTransport(url, {
    timeoutMs,
    // no limit of its own: a server that is silent after the last dot may have accepted the mail
    silenceMs: mailMs,
    pool: { pool: true, maxConnections: connections, idleTimeout: IDLE_MS },
  })
  const { beginAtZero, count, samples } = newCounter(['outcome'])
  beginAtZero('refused')
  const send = async (id: string, mail: Mail) => {
    // ends the mail and its connection, or its wait for one, so that this try does not overlap with the next
    const limit = { signal: AbortSignal.timeout(mailMs) }
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
      const isRefused =
        responseCode !== undefined &&
        responseCode >= 500 &&
        /^(RCPT TO|DATA)/.test(command) &&
        !OWN_FAULT.test(response)
      count(isRefused || error instanceof MailRefused ? 'refused' : 'failed')
      if (!isRefused) throw error
      throw new MailRefused(`the mail server answered ${responseCode}`, {
        isMailbox: command.startsWith('RCPT TO') && NO_MAILBOX.test(response),
      })
    }
  }
  return Object.assign(send, { atOnce: connections, outcomes: samples, close: () => transport.close() })
}
