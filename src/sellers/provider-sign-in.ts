import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type AccountEvent, addEvent, notifyOwner } from './history.ts'
import { hasHadIdentityOf, linkIdentity, ownerOf } from './identities.ts'
import type { ProvenIdentity } from './provider-port.ts'
import { type SellerRow, type SignupOf, lockSellerById, sellerOfProvenMailbox } from './sellers.ts'
import { type Browser, type SignedIn, holdSession, startSession } from './sessions.ts'

export interface ProviderParts {
  db: Db
  jobs: Jobs
  signupOf: SignupOf
}

export type Entered =
  | { kind: 'signed_in'; seller: SellerRow; token: string }
  /** The provider has not proven the mailbox, so a code must. */
  | { kind: 'code_needed'; email: string }
  | { kind: 'refused'; why: 'idp_no_mailbox' | 'signup_closed' | 'account_disabled' }

/**
 * Signs in the seller to whom the identity is linked, or else the seller of its mailbox. If the provider has not verified the mailbox, a
 * code must prove it first, also for a linked identity. A seller who has had an identity of this provider needs a code for a further one,
 * because the provider may have given the address to another person.
 */
export function enterByProvider(
  { db, jobs, signupOf }: ProviderParts,
  identity: ProvenIdentity,
  browser: Browser,
): Promise<Entered> {
  const { email, emailVerified } = identity
  return inTransaction(db, async (tx): Promise<Entered> => {
    const ownerId = await ownerOf(tx, identity)
    const owner = ownerId === undefined ? undefined : await lockSellerById(tx, ownerId)
    if (ownerId !== undefined && !owner) return { kind: 'refused', why: 'account_disabled' }
    if (!emailVerified) {
      const mailbox = owner?.email ?? email
      return mailbox === undefined
        ? { kind: 'refused', why: 'idp_no_mailbox' }
        : { kind: 'code_needed', email: mailbox }
    }
    const isOwnMailbox = owner?.isProven === false && owner.email === email
    if (owner && !isOwnMailbox) return signedIn(tx, owner, identity, browser)

    if (email === undefined) return { kind: 'refused', why: 'idp_no_mailbox' }
    const seller = await sellerOfProvenMailbox(tx, email, signupOf)
    if (!seller) return { kind: 'refused', why: (await isKnown(tx, email)) ? 'account_disabled' : 'signup_closed' }
    // read again under the seller's lock, because a simultaneous request may have linked this same account
    const isAnother = !seller.isNew && (await hasHadIdentityOf(tx, seller.id, identity.issuer))
    if (isAnother && (await ownerOf(tx, identity)) === undefined) return { kind: 'code_needed', email }
    const { sellerId, isNew } = await linkIdentity(tx, seller.id, identity)
    // a simultaneous request has linked the account to another seller, so it opens only that one
    if (sellerId !== seller.id) {
      const other = await lockSellerById(tx, sellerId)
      return other ? signedIn(tx, other, identity, browser) : { kind: 'refused', why: 'account_disabled' }
    }
    // a seller who has just signed up needs no mail about it
    if (isNew)
      await (seller.isNew
        ? addEvent(tx, linked(seller, identity))
        : notifyOwner(tx, jobs, linked(seller, identity), seller.email))
    return signedIn(tx, seller, identity, browser)
  })
}

const linked = ({ id }: SellerRow, { issuer, email }: ProvenIdentity): AccountEvent => ({
  sellerId: id,
  what: 'identity_linked',
  issuer,
  email,
})

const LONG_AGO = new Date(0)

/** The provider may have sent back whoever found an open screen, so the session is as old as the sign-in there. */
async function signedIn(
  tx: Tx,
  seller: SellerRow,
  { signedInAt = LONG_AGO }: ProvenIdentity,
  browser: Browser,
): Promise<Entered> {
  const token = await startSession(tx, { sellerId: seller.id, method: 'idp', browser, signedInAt })
  return { kind: 'signed_in', seller, token }
}

async function isKnown(tx: Tx, email: string): Promise<boolean> {
  const { rows } = await sql`select 1 from sellers where email = ${email}`.execute(tx)
  return rows.length > 0
}

/** Links a provider's account to the signed-in seller. False: it is linked to another seller. */
export const linkToSession = (
  { db, jobs }: ProviderParts,
  { id: sessionId, seller: { id } }: SignedIn,
  identity: ProvenIdentity,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const seller = await lockSellerById(tx, id)
    if (!seller || !(await holdSession(tx, sessionId))) return false
    const { sellerId, isNew } = await linkIdentity(tx, id, identity)
    if (isNew) await notifyOwner(tx, jobs, linked(seller, identity), seller.email)
    return sellerId === id
  })
