import type { CodeLimits } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import type { Server } from '../kit/http.ts'
import { EVERY_TEN_MINUTES, type Jobs } from '../kit/jobs.ts'
import type { Mailer } from '../kit/mail.ts'
import { newSigner } from '../kit/signing.ts'
import type { FreeMailLimits } from '../orders/free-mails.ts'
import type { OrderUrls } from '../orders/urls.ts'
import { sendEmailChangeMails } from './email-change-mails.ts'
import { emailChangeRoutes } from './email-change-routes.ts'
import { libraryRoutes } from './library-routes.ts'
import { mailboxCodeSender } from './mailbox-codes.ts'
import { sendMailboxMails } from './mails.ts'
import { finishMoves, sweepEmailChanges } from './order-moves.ts'
import { chargeRoutes } from './routes.ts'
import { registerWithdrawals } from './withdrawals/register.ts'
import type { WithdrawalLimits } from './withdrawals/statements.ts'

interface BuyersParts {
  db: Db
  jobs: Jobs
  mailer: Mailer
  codeMailer: Mailer
  config: { secrets: readonly string[]; limits: CodeLimits & FreeMailLimits & WithdrawalLimits }
  urls: Pick<OrderUrls, 'orderUrl' | 'downloadUrl' | 'invoiceUrl'>
  baseUrl: string
  appUrl: string
}

/** Registers the routes and jobs for buyers who prove a mailbox by a code. */
export async function registerBuyers(
  server: Server,
  { db, jobs, mailer, codeMailer, config: { secrets, limits }, urls, baseUrl, appUrl }: BuyersParts,
): Promise<void> {
  const { orderUrl, downloadUrl, invoiceUrl } = urls
  emailChangeRoutes(server, { db, jobs, secrets, limits })
  const sendCode = mailboxCodeSender(db, jobs, secrets, limits)
  const byCode = { db, secrets, limits, sendCode, baseUrl, orderUrl }
  chargeRoutes(server, byCode)
  libraryRoutes(server, { ...byCode, downloadUrl, invoiceUrl, signer: newSigner(secrets, 'library') })

  await registerWithdrawals(server, { db, jobs, mailer, limits, appUrl })
  await sendMailboxMails(jobs, { db, mailer: codeMailer, secrets, appUrl })
  await sendEmailChangeMails(jobs, { db, mailer, secrets, orderUrl })
  await jobs.every(EVERY_TEN_MINUTES, 'sweep_email_changes', () => sweepEmailChanges(db))
  await jobs.every(EVERY_TEN_MINUTES, 'finish_order_moves', () => finishMoves(db, jobs))
}
