import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type AccountEvent, addEvent, tellOwner } from './history.ts'
import { hasHadIdentityOf, linkIdentity, ownerOf } from './identities.ts'
import type { ProvenIdentity } from './provider-port.ts'
import { type SellerRow, type Signup, lockSellerById, sellerOfProvenMailbox } from './sellers.ts'
import { type Browser, type SignedIn, holdSession, startSession } from './sessions.ts'

export interface ProviderParts {
  db: Db
  jobs: Jobs
  signup: Signup
}

export type Entered =
  | { kind: 'signed_in'; seller: SellerRow; token: string }
  /** The provider does not say that the mailbox is theirs: a code to it must. */
  | { kind: 'code_needed'; email: string }
  | { kind: 'refused'; why: 'idp_no_mailbox' | 'signup_closed' | 'account_disabled' }

/**
 * Lets in whom a provider has sent: the seller to whom this account is linked, else the one of the mailbox. A mailbox that the
 * provider has verified is proof enough; any other must answer a code first, for a linked account too. So must another account of a
 * provider that has had one linked already: the provider may have given the address to another person.
 */
export function enterByProvider(
  { db, jobs, signup }: ProviderParts,
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
    if (owner && !isOwnMailbox) return signedIn(tx, owner, browser)

    if (email === undefined) return { kind: 'refused', why: 'idp_no_mailbox' }
    const seller = await sellerOfProvenMailbox(tx, email, signup)
    if (!seller) return { kind: 'refused', why: (await isKnown(tx, email)) ? 'account_disabled' : 'signup_closed' }
    // asked again now that the seller is locked: a request beside this one may have linked this very account
    const isAnother = !seller.isNew && (await hasHadIdentityOf(tx, seller.id, identity.issuer))
    if (isAnother && (await ownerOf(tx, identity)) === undefined) return { kind: 'code_needed', email }
    const { sellerId, isNew } = await linkIdentity(tx, seller.id, identity)
    // linked to another seller by a request that ran beside this one: the account opens that one, and no other
    if (sellerId !== seller.id) {
      const other = await lockSellerById(tx, sellerId)
      return other ? signedIn(tx, other, browser) : { kind: 'refused', why: 'account_disabled' }
    }
    // a seller who has just signed up needs no mail about it
    if (isNew)
      await (seller.isNew
        ? addEvent(tx, linked(seller, identity))
        : tellOwner(tx, jobs, linked(seller, identity), seller.email))
    return signedIn(tx, seller, browser)
  })
}

const linked = ({ id }: SellerRow, { issuer, email }: ProvenIdentity): AccountEvent => ({
  sellerId: id,
  what: 'identity_linked',
  issuer,
  email,
})

async function signedIn(tx: Tx, seller: SellerRow, browser: Browser): Promise<Entered> {
  const token = await startSession(tx, { sellerId: seller.id, method: 'idp', browser })
  return { kind: 'signed_in', seller, token }
}

async function isKnown(tx: Tx, email: string): Promise<boolean> {
  const { rows } = await sql`select 1 from sellers where email = ${email}`.execute(tx)
  return rows.length > 0
}

/** Links a provider's account to who is signed in. False: it opens another seller's account. */
export const linkToSession = (
  { db, jobs }: ProviderParts,
  { id: sessionId, seller: { id } }: SignedIn,
  identity: ProvenIdentity,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const seller = await lockSellerById(tx, id)
    if (!seller || !(await holdSession(tx, sessionId))) return false
    const { sellerId, isNew } = await linkIdentity(tx, id, identity)
    if (isNew) await tellOwner(tx, jobs, linked(seller, identity), seller.email)
    return sellerId === id
  })
