import { sendEmailChangeMails } from '../buyers/email-change-mails.ts'
import { sendMailboxMails } from '../buyers/mails.ts'
import type { Config } from '../config.ts'
import type { Db } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Mailer, outboxMailer, smtpMailer } from '../kit/mail.ts'
import { sendMails } from '../orders/mails.ts'
import { runSaleMails } from '../orders/sale-mails.ts'
import { enqueueRecallMails } from '../orders/recalled-files.ts'
import { imageUrl } from '../products/images/urls.ts'
import { sendProductMails, enqueueOffSaleMails } from '../products/off-sale.ts'
import { sendSellerMails } from '../sellers/mails.ts'

interface MailParts {
  db: Db
  mailer: Mailer
  codeMailer: Mailer
  config: Pick<Config, 'secrets' | 'signup'>
  baseUrl: string
  appUrl: string
  orderUrl: (orderId: string) => string
  receiptUrl: (orderId: string, email: string) => string
}

/** One for codes, for which somebody waits, and one for all else: so that much of the one never delays the other. */
export function openMailers({ smtpUrl, mailFrom, mailConnections: connections, deadlines }: Config, db: Db) {
  const options = { connections, timeoutMs: deadlines.smtpMs }
  const open = () => (smtpUrl ? smtpMailer(smtpUrl, mailFrom, options) : outboxMailer(db))
  const mailers = { mail: open(), code: open() }
  return { ...mailers, close: () => Object.values(mailers).forEach((mailer) => mailer.close()) }
}

/** Every mail that the service sends, by the slice that knows its words. */
export async function registerMails(
  jobs: Jobs,
  { db, mailer, codeMailer, config: { secrets, signup }, baseUrl, appUrl, orderUrl, receiptUrl }: MailParts,
): Promise<void> {
  const pictureUrl = (imageId: string) => imageUrl(baseUrl, imageId, 'preview')
  await sendMails(jobs, { db, mailer, appUrl, receiptUrl, pictureUrl })
  await runSaleMails(jobs, { db, mailer, appUrl })
  await sendSellerMails(jobs, { db, mailer, codeMailer, secrets, signup, appUrl })
  await sendProductMails(jobs, { db, mailer, appUrl })
  await sendMailboxMails(jobs, { db, mailer: codeMailer, secrets, appUrl })
  await jobs.every('* * * * *', 'tell_recalled', () => enqueueRecallMails(db, jobs), 'tell_withdrawn')
  await jobs.every('* * * * *', 'tell_off_sale', () => enqueueOffSaleMails(db, jobs))
  await sendEmailChangeMails(jobs, { db, mailer, secrets, orderUrl })
}
