import { sql } from 'kysely'
import { CannotStart } from '../../kit/cannot-start.ts'
import type { Db } from '../../kit/database.ts'
import { PAYERS, type Payer, settingOf } from './payers.ts'

/**
 * The processor that has paid sellers until now, where PAYOUTS is not set. The default would end that: the sellers' money would stay at
 * the operator's account. Undefined: nothing was forgotten.
 */
export async function forgottenPayer(db: Db, { isSet }: { isSet: boolean }): Promise<Payer | undefined> {
  if (isSet) return undefined
  const { rows } = await sql<{ processor: Payer }>`select processor from account_rule where is_needed`.execute(db)
  return rows[0]?.processor
}

/** Refuses to start without PAYOUTS on a database whose sellers are paid by a processor. */
export async function refuseForgottenPayer(db: Db, payouts: { isSet: boolean }): Promise<void> {
  const payer = await forgottenPayer(db, payouts)
  if (!payer) return
  throw new CannotStart(
    `PAYOUTS: not set, but ${PAYERS[payer]} pays the sellers of this database, and their money would stay at your account. ` +
      `Set PAYOUTS=${settingOf(payer)}, or PAYOUTS=manual to pay them by bank from now on.`,
  )
}
