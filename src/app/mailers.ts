import type { Config } from '../config.ts'
import type { Db } from '../kit/database.ts'
import { outboxMailer, smtpMailer } from '../kit/mail.ts'

/** Opens one mailer for codes, for which a person waits, and one for all other mails: a crowd of the others never delays a code. */
export function openMailers({ smtpUrl, mailFrom, mailConnections: connections, deadlines }: Config, db: Db) {
  const options = { connections, timeoutMs: deadlines.smtpMs }
  const open = () => (smtpUrl ? smtpMailer(smtpUrl, mailFrom, options) : outboxMailer(db))
  const mailers = { mail: open(), code: open() }
  return { mailers, closeMailers: () => Object.values(mailers).forEach((mailer) => mailer.close()) }
}
