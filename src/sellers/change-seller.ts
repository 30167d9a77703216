import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { notifyOwner } from './history.ts'
import type { SellerRow } from './sellers.ts'
import { type SignedIn, lockSignedIn } from './sessions.ts'

/**
 * Changes the seller's name and support address for buyers. Undefined fields stay. The owner gets a mail about another support address,
 * because buyers send details of their orders there, and a thief could have set it. Throws `not_signed_in`.
 */
export const changeSeller = (
  { db, jobs }: { db: Db; jobs: Jobs },
  signedIn: SignedIn,
  { name, supportEmail }: { name?: string | undefined; supportEmail?: string | null | undefined },
): Promise<SellerRow> =>
  inTransaction(db, async (tx) => {
    const seller = await lockSignedIn(tx, signedIn)
    const changed = {
      name: name ?? seller.name,
      supportEmail: supportEmail === undefined ? seller.supportEmail : supportEmail,
    }
    await sql`
      update sellers set name = ${changed.name}, support_email = ${changed.supportEmail} where id = ${seller.id}`.execute(
      tx,
    )
    if (changed.supportEmail !== seller.supportEmail) {
      const event = {
        sellerId: seller.id,
        what: 'support_email_changed',
        email: changed.supportEmail ?? seller.email,
      } as const
      await notifyOwner(tx, jobs, event, seller.email)
    }
    return { ...seller, ...changed }
  })
