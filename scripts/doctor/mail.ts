import { smtpTransport } from '../../src/kit/mail.ts'
import { isLoopback } from '../../src/kit/settings.ts'
import { type Finding, LIMIT_MS, type Patient, failure, fine, warning } from './finding.ts'
import { inWords } from './in-words.ts'

const about = 'mail'
/** Twice at the most, in the time there is. */
const TIMEOUT_MS = LIMIT_MS / 2 - 500

/** Connects to the mail server, with TLS where it can, and signs in. No mail is sent. */
export async function checkMail({ config: { smtpUrl, mailFrom, isPublic }, appUrl }: Patient): Promise<Finding[]> {
  if (!smtpUrl)
    return isPublic
      ? [failure(about, 'no mail server', 'set SMTP_URL')]
      : [fine(about, `no mail server: every mail is at ${appUrl}/outbox/ and leaves nowhere`)]
  const { protocol, hostname, port, username } = new URL(smtpUrl)
  const server = `${hostname}${port && `:${port}`}`
  const findings: Finding[] = []
  try {
    const tls = await connectWithTls(smtpUrl, protocol === 'smtps:')
    const who = username ? ', signed in' : ''
    findings.push(
      tls || isLoopback(hostname)
        ? fine(about, `${server} answers${tls ? ' over TLS' : ''}${who}; mails come from ${mailFrom}`)
        : warning(
            about,
            `${server} answers without TLS${who}: who stands between reads every code${username && ' and the password'}`,
            'use a server, or a port, with TLS (587, or smtps:// and 465)',
          ),
    )
  } catch (error) {
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    const reason = code === 'EAUTH' ? `user or password is refused${said(responseCode)}` : why(error, responseCode)
    findings.push(failure(about, `${server}: ${reason}`, 'correct SMTP_URL (its user and password are URL-encoded)'))
  }
  const domain = mailFrom.replace(/^.*@|>$/g, '')
  if (!domain.includes('.'))
    findings.push(warning(about, `mails come from ${mailFrom}: most servers refuse that`, 'set MAIL_FROM to your own'))
  return findings
}

/** True: the connection was encrypted. Where TLS cannot be had, tries without it, as the service would. */
async function connectWithTls(url: string, always: boolean): Promise<boolean> {
  try {
    await smtpTransport(url, { timeoutMs: TIMEOUT_MS, requireTLS: !always }).verify()
    return true
  } catch (error) {
    if (always || !isWithoutTls(error)) throw error
  }
  await smtpTransport(url, { timeoutMs: TIMEOUT_MS }).verify()
  return false
}

/** It said no to STARTTLS itself. A certificate that is not right is another matter, with which no mail would leave either. */
function isWithoutTls(error: unknown): boolean {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  return code === 'ETLS' && responseCode !== undefined
}

const said = (responseCode: number | undefined): string => (responseCode ? ` (${responseCode})` : '')

const why = (error: unknown, responseCode: number | undefined): string =>
  responseCode ? `it refuses us${said(responseCode)}` : inWords(error)
