import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { countUses, giveBack, lookAtUse, refuseBeyond } from '../kit/limits.ts'
import { type CodeLimits, type CodeTry, type RightCode, tryCode } from './codes.ts'
import type { Jobs } from '../kit/jobs.ts'
import { linkIdentity } from './identities.ts'
import { addNotice } from './mails.ts'
import { type SellerRow, type Signup, sellerOfProvenMailbox } from './sellers.ts'
import { type Browser, startSession } from './sessions.ts'

export interface VerifyParts {
  db: Db
  secrets: readonly string[]
  limits: CodeLimits
}

export interface Counted {
  bucket: string
  network: string
}

const TOO_MANY = 'Too many wrong codes. Another way in works meanwhile.'
export const notRight = (): Refusal =>
  new Refusal('invalid_code', 'The code is not right, or no longer good. Ask for a new one.')

/**
 * Tries a code and, when it is right, does `work` in the same transaction: the code is used exactly when the work is done.
 * Wrong tries are counted over all instances. Throws `invalid_code` and `rate_limited`.
 */
export async function withRightCode<T>(
  { db, secrets, limits: { code_try: limit } }: VerifyParts,
  given: Omit<CodeTry, 'browserHash'> & { browserHash: Buffer | undefined } & Counted,
  work: (tx: Tx, right: RightCode) => Promise<T | undefined>,
): Promise<T> {
  const { bucket, network, browserHash } = given
  const [ofMailbox, ofNetwork] = [`code_try ${bucket}`, `code_try from ${network}`]
  // Who guesses is counted before. A mailbox is counted only when a live code of it was really tried: else anybody could use
  // up its tries from anywhere.
  if (limit) {
    refuseBeyond(await countUses(db, [{ key: ofNetwork, limit }]), TOO_MANY)
    refuseBeyond([await lookAtUse(db, { key: ofMailbox, limit })], TOO_MANY)
  }
  const outcome =
    browserHash &&
    (await inTransaction(db, async (tx) => {
      const tried = await tryCode(tx, secrets, { ...given, browserHash })
      if (tried?.isRight) return work(tx, tried)
      if (tried && limit) await countUses(tx, [{ key: ofMailbox, limit }])
      return undefined
    }))
  if (!outcome) throw notRight()
  if (limit) await giveBack(db, [ofNetwork])
  return outcome
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
  } & Counted,
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
