import type { Config } from '../config.ts'
import type { Db } from '../kit/database.ts'
import { outboxMailer } from '../kit/mail.ts'

/**
 * Opens one mailer for codes, for which a person waits, and one for all other mails: a crowd of the others never delays a code. It
 * loads the library for mail servers only for a service that has one, because that takes a while.
 */
export async function openMailers({ smtpUrl, mailFrom, mailConnections: connections, deadlines }: Config, db: Db) {
  const options = { connections, timeoutMs: deadlines.smtpMs, mailMs: deadlines.mailMs }
  const open = async () =>
    smtpUrl ? (await import('../kit/smtp.ts')).smtpMailer(smtpUrl, mailFrom, options) : outboxMailer(db)
  const mailers = { mail: await open(), code: await open() }
  return { mailers, closeMailers: () => Object.values(mailers).forEach((mailer) => mailer.close()) }
}
