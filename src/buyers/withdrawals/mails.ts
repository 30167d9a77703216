import { sql } from 'kysely'
import type { Db } from '../../kit/database.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { type Lines, renderMail, withDeadLinks } from '../../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../../kit/mail.ts'
import { type Reading, layoutIn, readingOf } from '../../words/mail-language.ts'
import { exactTimeText, say } from '../../words/say.ts'
import { COLUMNS, type Row } from './statements.ts'

/** Mails the acknowledgement of each statement: its content, and when it came, on a medium that the buyer can keep. */
export async function sendAcknowledgements(
  jobs: Jobs,
  { db, mailer, appUrl }: { db: Db; mailer: Mailer; appUrl: string },
): Promise<void> {
  const { host } = new URL(appUrl)
  const delivery = { ...MAIL_TRIES, atOnce: mailer.atOnce }
  await jobs.on<{ id: string; locale?: string }>('withdrawal_mail', delivery, async ({ id, locale }, jobId) => {
    const { rows } = await sql<Row>`select ${COLUMNS} from withdrawals where id = ${id}`.execute(db)
    if (!rows[0]) return
    const reading = await readingOf(locale)
    const lines = acknowledgement(rows[0], host, reading)
    await mailer(jobId, {
      to: rows[0].email,
      subject: lines.subject,
      ...renderMail({ ...lines, language: layoutIn(reading) }),
    })
  })
}

/**
 * The texts are a stranger's, so no mail client makes links of them. They stand here whole, because the law wants the content of the
 * statement in the mail.
 */
const acknowledgement = (
  { id, name, contract, email, receivedAt }: Row,
  host: string,
  { locale, words: { mail, ui, withdraw } }: Reading,
): Lines => ({
  subject: mail.withdrawal,
  title: mail.withdrawalTitle,
  text: mail.withdrawalText,
  facts: [
    [mail.statement, withdraw.statement],
    [mail.name, withDeadLinks(name)],
    [mail.contract, withDeadLinks(contract)],
    [ui.email, withDeadLinks(email)],
    [mail.received, exactTimeText(receivedAt, locale)],
    [withdraw.reference, id],
  ],
  note: say(mail.withdrawalNote, { host }),
})
