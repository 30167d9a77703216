import { type CodeLimits, type Counters, limitedTry } from '../kit/codes.ts'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type CodeTry, type RightCode, tryCode } from './codes.ts'
import { linkIdentity } from './identities.ts'
import { addNotice } from './mails.ts'
import { type SellerRow, type Signup, sellerOfProvenMailbox } from './sellers.ts'
import { type Browser, startSession } from './sessions.ts'

export interface VerifyParts {
  db: Db
  secrets: readonly string[]
  limits: CodeLimits
}

/**
 * Tries a code and, when it is right, does `work` in the same transaction: the code is used exactly when the work is done.
 * Wrong tries are counted over all instances. Throws `invalid_code` and `rate_limited`.
 */
export function withRightCode<T>(
  { db, secrets, limits: { code_try: limit } }: VerifyParts,
  given: Omit<CodeTry, 'browserHash'> & { browserHash: Buffer | undefined } & Counters,
  work: (tx: Tx, right: RightCode) => Promise<T | undefined>,
): Promise<T> {
  const { bucket, network, browserHash } = given
  return limitedTry(
    db,
    { counter: 'code_try', limit, bucket, network, tooMany: 'Too many wrong codes. Another way in works meanwhile.' },
    browserHash && ((tx) => tryCode(tx, secrets, { ...given, browserHash })),
    work,
  )
}

/** Signs in by a code, which proves the mailbox. A provider's account that waited for this proof is linked by it. */
export const verifyCode = (
  parts: VerifyParts & { signup: Signup; jobs: Jobs },
  {
    browser,
    ...given
  }: Omit<CodeTry, 'purpose' | 'browserHash'> & {
    browserHash: Buffer | undefined
    browser: Browser
  } & Counters,
): Promise<{ seller: SellerRow; token: string }> =>
  withRightCode(parts, { ...given, purpose: 'sign_in' }, async (tx, { email, issuer, subject }) => {
    const seller = await sellerOfProvenMailbox(tx, email, parts.signup)
    if (!seller) return undefined
    if (issuer !== null && subject !== null) {
      const { isNew } = await linkIdentity(tx, seller.id, { issuer, subject, email })
      if (isNew && !seller.isNew) await addNotice(tx, parts.jobs, { kind: 'identity_linked', to: email })
    }
    const method = issuer === null ? 'code' : 'idp'
    return { seller, token: await startSession(tx, { sellerId: seller.id, method, browser }) }
  })
