import { sql } from 'kysely'
import { CannotStart } from '../kit/cannot-start.ts'
import type { Db } from '../kit/database.ts'
import { type PaymentSettings, modeOfPayments } from '../processors/settings.ts'

const OTHER = {
  live:
    'PROCESSORS: the payments in this database were tries (of the sandbox, or with keys for tests), but its books owe their money to sellers. ' +
    'Begin real payments with a new DATA_DIR (or DATABASE_URL and STORAGE_URL). "npm run adopt -- payments" makes this database accept them all the same.',
  test:
    'PROCESSORS: the payments in this database are real, and its books would owe the money of tries to sellers as well. ' +
    'Use another DATA_DIR (or DATABASE_URL and STORAGE_URL) for tries. "npm run adopt -- payments" makes a copy of this database accept them.',
}

/**
 * Refuses to start with real payments on a database of tries, and with tries on a database of real payments. A database without payments
 * takes either. One that was used before there was this check counts as tries if all its payments are the sandbox's.
 */
export async function refuseOtherMode(db: Db, settings: PaymentSettings): Promise<void> {
  if (settings.processors.length === 0) return
  const mode = modeOfPayments(settings)
  // two ranges of the index, because a search for any other processor could read the whole table
  const { rows } = await sql<{ mode: typeof mode }>`
    update installation set payments_mode = case when not exists (select from captures) then ${mode}
      else coalesce(payments_mode, case
        when exists (select from captures where processor < 'sandbox')
          or exists (select from captures where processor > 'sandbox') then ${mode}
        else 'test' end) end
    returning payments_mode as mode`.execute(db)
  if (rows[0] && rows[0].mode !== mode) throw new CannotStart(OTHER[mode])
}

/** Makes the database accept the payments of these settings. Returns whether they are real. Without a processor it throws. */
export async function adoptMode(db: Db, settings: PaymentSettings): Promise<'live' | 'test'> {
  if (settings.processors.length === 0)
    throw new Error('PROCESSORS is none: set the processors whose payments it is to accept.')
  const mode = modeOfPayments(settings)
  await sql`update installation set payments_mode = ${mode}`.execute(db)
  return mode
}
