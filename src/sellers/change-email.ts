import { sql } from 'kysely'
import pg from 'pg'
import type { Asker } from '../kit/codes.ts'
import { UNIQUE_VIOLATION } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { notifyOwner } from './history.ts'
import type { SellerRow } from './sellers.ts'
import { type SignedIn, endOtherSessions, lockSignedIn } from './sessions.ts'
import { type VerifyParts, withRightCode } from './verify.ts'

/**
 * Moves an account to the mailbox that the code proves. It works only in the session and the browser that requested the code. The old
 * mailbox gets a mail, and all other sessions end. Throws `invalid_code`, `rate_limited`, `email_taken`.
 */
export async function changeEmail(
  parts: VerifyParts & { jobs: Jobs },
  signedIn: SignedIn,
  given: { code: string; browserHash: Buffer | undefined },
  asker: Asker,
): Promise<SellerRow> {
  const {
    id: sessionId,
    seller: { id },
  } = signedIn
  try {
    return await withRightCode(
      parts,
      { ...given, purpose: 'change_email', sessionId },
      asker,
      async (tx, { email }) => {
        const seller = await lockSignedIn(tx, signedIn)
        await sql`update sellers set email = ${email}, email_proven_at = now() where id = ${id}`.execute(tx)
        await endOtherSessions(tx, id, sessionId)
        const event = { sellerId: id, what: 'email_changed', email, previousEmail: seller.email } as const
        await notifyOwner(tx, parts.jobs, event, seller.email)
        return { ...seller, email }
      },
    )
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION)
      throw new Refusal('email_taken', 'An account with this address exists already. Sign in to that one instead.')
    throw error
  }
}
