import { smtpTransport, tlsOf } from '../../src/kit/smtp.ts'
import { type Finding, type Patient, failure, fine, warning } from './finding.ts'
import { inWords } from './in-words.ts'

const about = 'mail'

/** Connects to the mail server as the service does, and signs in. It sends no mail. */
export async function checkMail({ config, appUrl, patience }: Patient): Promise<Finding[]> {
  const { smtpUrl, mailFrom, isPublic } = config
  if (!smtpUrl)
    return isPublic
      ? [failure(about, 'no mail server', 'set SMTP_URL')]
      : [fine(about, `no mail server: every mail is at ${appUrl}/outbox/ and leaves nowhere`)]
  const { hostname, port, username } = new URL(smtpUrl)
  const server = `${hostname}${port && `:${port}`}`
  const tls = tlsOf(smtpUrl)
  const findings: Finding[] = []
  try {
    await smtpTransport(smtpUrl, { timeoutMs: patience.requestMs }).verify()
    const who = username ? ', signed in' : ''
    findings.push(
      tls === 'none'
        ? warning(
            about,
            `the connection to ${server} has no TLS (tls=none)${who}: anybody on the way can read every code${username && ' and the password'}`,
            'remove ?tls=none from SMTP_URL, unless the network to the server is your own',
          )
        : fine(about, `${server} answers${tls === 'offered' ? '' : ' over TLS'}${who}; mails come from ${mailFrom}`),
    )
  } catch (error) {
    findings.push(failure(about, `${server}: ${why(error)}`, adviceFor(error)))
  }
  const domain = mailFrom.replace(/^.*@|>$/g, '')
  if (!domain.includes('.'))
    findings.push(warning(about, `mails come from ${mailFrom}: most servers refuse that`, 'set MAIL_FROM to your own'))
  return findings
}

/** Whether the server refused STARTTLS. A wrong certificate is a different error. */
function isWithoutTls(error: unknown): boolean {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  return code === 'ETLS' && responseCode !== undefined
}

function why(error: unknown): string {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  const said = responseCode ? ` (${responseCode})` : ''
  if (isWithoutTls(error)) return `it offers no TLS${said}, so no mail is sent through it`
  if (code === 'EAUTH') return `user or password is refused${said}`
  return responseCode ? `it refuses us${said}` : inWords(error)
}

const adviceFor = (error: unknown): string =>
  isWithoutTls(error)
    ? 'use a server, or a port, with TLS (587, or smtps:// and 465); if the network to it is your own, add ?tls=none to SMTP_URL'
    : 'correct SMTP_URL (its user and password are URL-encoded)'
