import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import { DropJob, type Jobs } from '../../kit/jobs.ts'
import { type Lines, renderMail, unlinked } from '../../kit/mail-layout.ts'
import { MAIL_TRIES, MailRefused, type Mailer } from '../../kit/mail.ts'
import { COLUMNS, type Row, toTheSecond } from './statements.ts'

/** Mails the acknowledgement of each statement: its content, and when it came, on a medium that the buyer can keep. */
export async function sendAcknowledgements(
  jobs: Jobs,
  { db, mailer, appUrl }: { db: Db; mailer: Mailer; appUrl: string },
): Promise<void> {
  const { host } = new URL(appUrl)
  await jobs.on<{ id: string }>('withdrawal_mail', { ...MAIL_TRIES, atOnce: mailer.atOnce }, async ({ id }, jobId) => {
    const { rows } = await sql<Row>`select ${COLUMNS} from withdrawals where id = ${id}`.execute(db)
    if (!rows[0]) return
    const lines = acknowledgement(rows[0], host)
    try {
      await mailer(jobId, { to: rows[0].email, subject: lines.subject, ...renderMail(lines) })
    } catch (error) {
      throw error instanceof MailRefused ? new DropJob(error.message) : error
    }
  })
}

/** The texts are a stranger's, so no mail client makes links of them. */
const acknowledgement = ({ id, name, contract, email, receivedAt }: Row, host: string): Lines => ({
  subject: 'We received your withdrawal',
  title: 'We received your statement of withdrawal.',
  text: 'You stated that you withdraw from the contract below. This mail says that your statement arrived, with its content and time; keep it. It says nothing about whether you have a right to withdraw. The seller answers you.',
  facts: [
    ['Statement', 'I withdraw from the contract named here.'],
    ['Name', unlinked(name)],
    ['Contract', unlinked(contract)],
    ['E-mail', unlinked(email)],
    ['Received', toTheSecond(receivedAt).replace('T', ' ').replace('Z', ' UTC')],
    ['Reference', id],
  ],
  note: `You did not make this statement? Then somebody typed your address at ${host}, and nothing of yours has changed by it.`,
})
