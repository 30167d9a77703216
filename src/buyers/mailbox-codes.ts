import { type NewCode, saveCodes, tryCode } from '../kit/code-table.ts'
import { type Asker, type CodeLimits, codeKind, limitedSender, limitedTry, triesAt } from '../kit/codes.ts'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'

// A kind of its own, so that a buyer's code never works as a seller's.
const KIND = codeKind('mailbox code', 'mailbox_code')
export const { codeOf, codeQueue } = KIND
const COUNTER = 'mailbox_code'

/** The page that a buyer's code opens. */
export type Purpose = 'charge' | 'library'

export type NewMailboxCode = Pick<
  NewCode<Purpose>,
  'email' | 'purpose' | 'locale' | 'browserHash' | 'previousBrowserHash'
> & {
  network: string
}

export type SendMailboxCode = (code: NewMailboxCode) => Promise<{ resendAfterSeconds: number }>

/**
 * Makes a code for a mailbox and enqueues its mail. The code replaces this browser's last one; codes of other browsers stay valid. The
 * mail's job checks whether the mailbox has orders, so this takes the same time for all. Buyers have no account, so requests count for
 * a mailbox and a network together; requests of many networks for one mailbox also count together. Throws `rate_limited`.
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
  /** Undefined: the cookie of this browser is not one of ours. */
  browserHash: Buffer | undefined
  network: string
}

/**
 * Runs `work` if the code proves the mailbox. The code is used up exactly when the work succeeds. Throws `invalid_code` and
 * `rate_limited`.
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
