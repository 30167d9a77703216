import { type CodeTry, type RightCode, tryCode } from '../kit/code-table.ts'
import { type Asker, type CodeLimits, limitedTry, triesAt } from '../kit/codes.ts'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { KIND, type NewCode } from './codes.ts'
import { addEvent, notifyOwner } from './history.ts'
import { hasHadIdentityOf, linkIdentity } from './identities.ts'
import { type SellerRow, type SignupOf, sellerOfProvenMailbox } from './sellers.ts'
import { type Browser, startSession } from './sessions.ts'

export interface VerifyParts {
  db: Db
  secrets: readonly string[]
  limits: CodeLimits
}

type CodeAttempt = Omit<CodeTry<NewCode['purpose']>, 'browserHash' | 'email'> & { browserHash: Buffer | undefined }

/**
 * Tries a code and, if it is right, runs `work` in the same transaction. The code is used up exactly when the work succeeds.
 * Throws `invalid_code` and `rate_limited`.
 */
export function withRightCode<T>(
  { db, secrets, limits }: VerifyParts,
  { browserHash, ...given }: CodeAttempt & { email?: string },
  asker: Asker,
  work: (tx: Tx, right: RightCode) => Promise<T | undefined>,
): Promise<T> {
  // reserves the tries of one browser for browsers that have signed in to the mailbox before
  const tries = triesAt('code', asker, limits, limits.code_try?.count)
  return limitedTry(
    db,
    { ...tries, tooMany: 'Too many wrong codes. You can sign in another way meanwhile.' },
    browserHash && ((tx) => tryCode(tx, KIND, secrets, { ...given, browserHash })),
    work,
  )
}

/** Signs in by a code, which proves the mailbox. A provider's account that waited for this proof is linked by it. */
export const verifyCode = (
  parts: VerifyParts & { signupOf: SignupOf; jobs: Jobs },
  { browser, ...given }: Omit<CodeAttempt, 'purpose'> & { email: string; browser: Browser },
  asker: Asker,
): Promise<{ seller: SellerRow; token: string }> =>
  withRightCode(parts, { ...given, purpose: 'sign_in' }, asker, async (tx, { email, issuer, subject }) => {
    const seller = await sellerOfProvenMailbox(tx, email, parts.signupOf)
    if (!seller) return undefined
    if (issuer !== null && subject !== null) {
      const what = (await hasHadIdentityOf(tx, seller.id, issuer)) ? 'identity_added' : 'identity_linked'
      const { isNew } = await linkIdentity(tx, seller.id, { issuer, subject, email })
      const event = { sellerId: seller.id, what, issuer, email } as const
      if (isNew) await (seller.isNew ? addEvent(tx, event) : notifyOwner(tx, parts.jobs, event, email))
    }
    const method = issuer === null ? 'code' : 'idp'
    return { seller, token: await startSession(tx, { sellerId: seller.id, method, browser }) }
  })
