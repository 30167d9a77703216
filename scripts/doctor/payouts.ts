import { sql } from 'kysely'
import { forgottenPayer } from '../../src/payouts/accounts/forgotten.ts'
import { PAYERS, settingOf } from '../../src/payouts/accounts/payers.ts'
import { hasColumn } from './database.ts'
import { type Finding, type Patient, failure, fine, warning } from './finding.ts'

/**
 * Checks whether sellers can be paid, and as before. With manual payouts in euros, banks want a SEPA file, and it names the account that pays.
 */
export async function checkPayouts({ config, database }: Patient): Promise<Finding | Finding[]> {
  const about = 'payouts'
  const { by, from } = config.payouts
  if (by !== 'manual') return []
  const db = await database
  const payer =
    db && (await hasColumn(db, 'account_rule', 'processor')) ? await forgottenPayer(db, config.payouts) : undefined
  if (payer)
    return failure(
      about,
      `PAYOUTS is not set, but ${PAYERS[payer]} pays the sellers of this database: the service does not start`,
      `set PAYOUTS=${settingOf(payer)}, or PAYOUTS=manual to pay them by bank from now on`,
    )
  if (from) return fine(about, `you pay by bank, in euros from ${from.iban.slice(0, 2)} … ${from.iban.slice(-4)}`)
  if (!db || config.signup === 'closed' || !(await hasColumn(db, 'products', 'currency'))) return []
  const { rows } = await sql<{ currency: string }>`
    select currency from products where status = 'active' and currency = 'EUR' limit 1`.execute(db)
  if (rows.length === 0) return []
  return warning(
    about,
    'sellers sell in euros, and no account is set to pay them from: you would have to type each payment into your bank by hand',
    'set PAYOUT_FROM_NAME and PAYOUT_FROM_IBAN, and you get a SEPA file: see docs/payouts.md',
  )
}
