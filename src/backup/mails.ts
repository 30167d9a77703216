import { type Db, inTransaction } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'

interface DrillMail {
  to: string
  problem: string
}

/** Enqueues a mail to each operator: without a restore that works, there is no backup. */
export async function tellDrillFailed(
  db: Db,
  jobs: Jobs,
  operators: readonly string[],
  problem: string,
): Promise<void> {
  if (operators.length === 0) return
  await inTransaction(db, (tx) =>
    jobs.add(
      tx,
      'backup_mail',
      operators.map((to) => ({ data: { to, problem } satisfies DrillMail })),
    ),
  )
}

export async function sendBackupMails(jobs: Jobs, mailer: Mailer, appUrl: string): Promise<void> {
  await jobs.on<DrillMail>('backup_mail', { ...MAIL_TRIES, atOnce: 1 }, async ({ to, problem }, id) => {
    const title = `The restore drill of ${new URL(appUrl).host} failed`
    const lines: Lines = {
      subject: title,
      title,
      facts: [],
      text: `The newest backup was restored into a temporary folder, with this result: ${problem} Run "npm run drill" on the machine for the whole report, and "npm run backup" to make a new backup.`,
    }
    await mailer(id, { to, subject: title, ...renderMail(lines) })
  })
}
