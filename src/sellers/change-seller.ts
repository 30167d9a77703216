import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { notifyOwner } from './history.ts'
import { type SellerRow, lockSellerById } from './sellers.ts'
import { type SignedIn, holdSession } from './sessions.ts'

/**
 * Changes the seller's name and support address for buyers. Undefined fields stay. The owner gets a mail about another support address,
 * because buyers send details of their orders there, and a thief could have set it. Throws `not_signed_in`.
 */
export const changeSeller = (
  { db, jobs }: { db: Db; jobs: Jobs },
  { id: sessionId, seller: { id } }: SignedIn,
  { name, supportEmail }: { name?: string | undefined; supportEmail?: string | null | undefined },
): Promise<SellerRow> =>
  inTransaction(db, async (tx) => {
    const seller = await lockSellerById(tx, id)
    if (!seller || !(await holdSession(tx, sessionId))) throw new Refusal('not_signed_in', 'The session has ended.')
    const changed = {
      name: name ?? seller.name,
      supportEmail: supportEmail === undefined ? seller.supportEmail : supportEmail,
    }
    await sql`
      update sellers set name = ${changed.name}, support_email = ${changed.supportEmail} where id = ${id}`.execute(tx)
    if (changed.supportEmail !== seller.supportEmail) {
      const event = {
        sellerId: id,
        what: 'support_email_changed',
        email: changed.supportEmail ?? seller.email,
      } as const
      await notifyOwner(tx, jobs, event, seller.email)
    }
    return { ...seller, ...changed }
  })
