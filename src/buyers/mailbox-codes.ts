import { type NewCode, saveCodes, tryCode } from '../kit/code-table.ts'
import { type Asker, type CodeLimits, codeKind, limitedSender, limitedTry, triesAt } from '../kit/codes.ts'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'

// The queue's name begins unlike the sellers': a code of one kind is never taken for one of the other.
const KIND = codeKind('mailbox code', 'mailbox_code')
export const { codeOf, codeQueue } = KIND
const COUNTER = 'mailbox_code'

/** What a buyer's code is to show. */
export type Purpose = 'charge' | 'library'

export type NewMailboxCode = Pick<NewCode<Purpose>, 'email' | 'purpose' | 'browserHash' | 'previousBrowserHash'> & {
  network: string
}

export type SendMailboxCode = (code: NewMailboxCode) => Promise<{ resendAfterSeconds: number }>

/**
 * Makes a code for a mailbox, in the place of the one that this browser had, and has it mailed. The codes of other browsers stay
 * good. Whether the mailbox ever bought anything is not looked at here: the mail's own job does. Buyers have no account, so they are
 * counted for a mailbox and a network together, and only what many networks do together for the mailbox. Throws `rate_limited`.
 */
export function mailboxCodeSender(db: Db, jobs: Jobs, secrets: readonly string[], limits: CodeLimits): SendMailboxCode {
  const send = limitedSender<NewCode & { asker: Asker }>(db, COUNTER, limits, (tx, codes) =>
    saveCodes(tx, jobs, KIND, secrets[0]!, codes),
  )
  return async ({ network, ...code }) => (await send({ ...code, asker: { mailbox: code.email, network } }))!
}

export interface MailboxProof {
  email: string
  purpose: Purpose
  code: string
  /** Absent: this browser waits for no code. */
  browserHash: Buffer | undefined
  network: string
}

/**
 * Does `work` for who has shown by the right code that the mailbox is theirs: the code is used exactly when the work is done.
 * Throws `invalid_code` and `rate_limited`.
 */
export function withProvenMailbox<T>(
  { db, secrets, limits }: { db: Db; secrets: readonly string[]; limits: CodeLimits },
  { network, browserHash, ...given }: MailboxProof,
  work: (tx: Tx, email: string) => Promise<T>,
): Promise<T> {
  return limitedTry(
    db,
    triesAt(COUNTER, { mailbox: given.email, network }, limits),
    browserHash && ((tx) => tryCode(tx, KIND, secrets, { ...given, browserHash })),
    (tx) => work(tx, given.email),
  )
}
