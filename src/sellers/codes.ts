import { sql } from 'kysely'
import { type NewCode as CodeRow, saveCodes } from '../kit/code-table.ts'
import { MOST_WRONG_TRIES } from '../kit/code-limits.ts'
import { type Asker, type CodeLimits, RESEND_SECONDS, codeKind, limitedSender, ownKey } from '../kit/codes.ts'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'

// The queue has another name than "code", which instances of an older version read for codes of their own table.
export const KIND = codeKind('one-time code', 'seller_code')
export const { codeOf, codeQueue } = KIND

export type NewCode = CodeRow<'sign_in' | 'change_email'> & { asker: Asker }
export type SendCode = (code: NewCode) => Promise<{ resendAfterSeconds: number }>

const COUNTER = 'code'

/**
 * Makes a code for a mailbox and enqueues its mail, in one transaction, which simultaneous requests share. The code replaces this
 * browser's last one; codes of other browsers stay valid. The mail's job checks whether the mailbox has an account, so this takes the
 * same time for all. Throws `rate_limited`, and `not_signed_in` when the session of a change of address has ended.
 */
export function codeSender(db: Db, jobs: Jobs, secrets: readonly string[], limits: CodeLimits): SendCode {
  const send = limitedSender<NewCode>(db, COUNTER, limits, (tx, codes) => saveCodes(tx, jobs, KIND, secrets[0]!, codes))
  return async (code) => {
    const sent = await send(code)
    if (!sent) throw new Refusal('not_signed_in', 'The session has ended.')
    return sent
  }
}

/** The limit's key for the codes that one client has sent to a mailbox. */
export const codeKey = (asker: Asker): string => ownKey(COUNTER, asker)

export interface AwaitedCode {
  email: string
  ageSeconds: number
  issuer: string | null
  subject: string | null
}

/** The valid code that a browser waits for. */
export async function findAwaited(
  db: Db,
  browserHash: Buffer,
  purpose: NewCode['purpose'],
): Promise<AwaitedCode | undefined> {
  const { rows } = await sql<AwaitedCode>`
    select email, extract(epoch from now() - created_at)::int as "ageSeconds", issuer, subject
    from mailbox_codes
    where browser_hash = ${browserHash} and purpose = ${purpose} and used_at is null
      and wrong_tries < ${MOST_WRONG_TRIES} and expires_at > now()`.execute(db)
  return rows[0]
}

export const resendIn = (ageSeconds: number): number => Math.max(0, RESEND_SECONDS - ageSeconds)
