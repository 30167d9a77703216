import { type Db, inTransaction } from '../kit/database.ts'
import { type MissingRate, listMissingRates } from '../taxes/profile.ts'
import { type PlacedRate, listRates, replaceRates } from '../taxes/rates.ts'
import { note } from './log.ts'

export interface LoadedRates {
  rates: number
  countries: number
  /** The rates that sellers need today and that are not among them. */
  missing: MissingRate[]
}

/** Replaces all tax rates, with an entry in the log, in one transaction. Refuses `validation_failed`. */
export const loadRatesAsOperator = (db: Db, actor: string, rates: readonly PlacedRate[]): Promise<LoadedRates> =>
  inTransaction(db, async (tx) => {
    const before = await listRates(tx)
    await replaceRates(tx, rates)
    const countries = new Set(rates.map(({ country }) => country)).size
    await note(tx, actor, 'tax_rates_loaded', 'tax-rates', { rates: rates.length, countries, before: before.length })
    return { rates: rates.length, countries, missing: await listMissingRates(tx) }
  })
