import { sql } from 'kysely'
import type { Db, Tx } from '../../kit/database.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { type Lines, renderMail } from '../../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../../kit/mail.ts'

import { PAYERS, type Payer } from './payers.ts'

/** An account whose row has changed, and its state before. */
export interface Changed {
  id: string
  before: string
}

/** Enqueues a mail to the seller whose account took payments until now, in the transaction that notes that it does not any more. */
export async function tellIfStopped(tx: Tx, jobs: Jobs, changed: Changed | undefined): Promise<void> {
  if (changed?.before === 'active') await jobs.add(tx, 'account_mail', [{ data: { id: changed.id } }])
}

interface Stopped {
  email: string
  processor: Payer
  missing: string[]
  hasEnded: boolean
  blocksSales: boolean
}

/** Mails to sellers whose account at the processor takes no payments any more. */
export async function runAccountMails(
  jobs: Jobs,
  { db, mailer, appUrl }: { db: Db; mailer: Mailer; appUrl: string },
): Promise<void> {
  await jobs.on<{ id: string }>('account_mail', { ...MAIL_TRIES, atOnce: 1 }, async ({ id }, jobId) => {
    const { rows } = await sql<Stopped>`
      select s.email, c.processor, c.missing, c.ended_at is not null as "hasEnded", s.awaits_account as "blocksSales"
      from connected_accounts c join sellers s on s.id = c.seller_id
      where c.id = ${id} and (c.state <> 'active' or c.ended_at is not null)`.execute(db)
    // it takes payments again
    if (!rows[0]) return
    const lines = stoppedLines(rows[0], appUrl)
    await mailer(jobId, { to: rows[0].email, subject: lines.subject, ...renderMail(lines) })
  })
}

function stoppedLines({ processor, missing, hasEnded, blocksSales }: Stopped, appUrl: string): Lines {
  const { host } = new URL(appUrl)
  const name = PAYERS[processor]
  const subject = `Your ${name} account takes no payments`
  const sales = blocksSales ? `Your products on ${host} are not for sale until it does. ` : ''
  return {
    subject,
    title: subject,
    text: hasEnded
      ? `Your ${name} account gives ${host} no access any more. ${sales}Open an account again on the Money page.`
      : `${sales}${name} needs something from you: see the Money page. What is paid already stays paid.`,
    button: { label: 'Open the Money page', url: `${appUrl}/shop/#/money` },
    facts: missing.slice(0, 10).map((what): [string, string] => [`${name} needs`, what]),
    note: `You get this mail because you sell on ${host}.`,
  }
}
