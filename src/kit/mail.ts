import { sql } from 'kysely'
import { batched } from './batch.ts'
import { type Db, isDatabaseOutage } from './database.ts'
import { DropJob } from './jobs.ts'
import type { Sample } from './measure.ts'
import { type SweepLimits, sweepOld } from './sweep.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The recipient of replies, when it is not the sender. */
  replyTo?: { name: string; address: string }
}

/** Sends one mail. `id` is the job's id, so a retry sends the same Message-ID. */
export type Mailer = ((id: string, mail: Mail) => Promise<void>) & {
  /** How many mails it sends at once. */
  atOnce: number
  /** Counts mails by outcome: sent, refused for good, or failed and tried again. */
  outcomes(): Sample[]
  close(): void
}

/** The mail server refused this mail for good (5xx), so it is not sent again: a job that throws this ends. */
export class MailRefused extends DropJob {
  /** True when the server says that the mailbox does not exist. False for other reasons: content, sender, or a full mailbox. */
  readonly isMailbox: boolean
  constructor(message: string, { isMailbox = false } = {}) {
    super(message)
    this.isMailbox = isMailbox
  }
}

/** The tries of a mail last about three days, because a mail server may be down over a weekend. */
export const MAIL_TRIES = { retries: 40, retryDelaySeconds: 5, retryDelayMaxSeconds: 7200, expireSeconds: 60 }

/** Stores mails for the outbox page, for a service without a mail server. */
export function outboxMailer(db: Db): Mailer {
  type StoredMail = Mail & { id: string }
  const store = batched(
    async (mails: readonly StoredMail[]): Promise<void[]> => {
      const column = <K extends keyof StoredMail>(name: K) => mails.map((mail) => mail[name])
      await sql`
      insert into outbox (id, recipient, subject, text, html)
      select * from unnest(
        ${column('id')}::uuid[], ${column('to')}::text[], ${column('subject')}::text[], ${column('text')}::text[], ${column('html')}::text[])
      on conflict (id) do nothing`.execute(db)
      return mails.map(() => undefined)
    },
    { most: 64, atOnce: 1, isOutage: isDatabaseOutage },
  )
  const send = (id: string, mail: Mail) => store({ id, ...mail })
  return Object.assign(send, { atOnce: 256, outcomes: () => [], close: () => {} })
}

/** Removes mails that the outbox got more than `days` days ago. They hold addresses and codes. */
export const sweepOutbox = (db: Db, days: number, limits?: SweepLimits): Promise<number> =>
  sweepOld(db, { table: 'outbox', time: 'sent_at', days }, limits)
