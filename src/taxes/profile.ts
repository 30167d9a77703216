import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { EU, TODAY, isValidOn, vatArea } from './sale-tax.ts'

/** A seller's statements about tax. */
export interface TaxProfile {
  /** Where the seller is established: ISO 3166-1 alpha-2. */
  country: string
  taxIds: string[]
  hasOss: boolean
  isExempt: boolean
  isInclusive: boolean
  category: string
}

export interface OwnTaxProfile {
  profile: TaxProfile | undefined
  /** The countries whose rate an order may need today, and that have none. */
  missingRates: string[]
}

export async function findTaxProfile(db: Db | Tx, sellerId: string): Promise<OwnTaxProfile> {
  const { rows } = await sql<TaxProfile & { missingRates: string[] }>`
    select f.country, f.tax_ids as "taxIds", f.has_oss as "hasOss", f.is_exempt as "isExempt", f.is_inclusive as "isInclusive",
      f.category, array(select m.country from (${MISSING_RATES}) m order by 1) as "missingRates"
    from tax_profiles f where f.seller_id = ${sellerId}`.execute(db)
  if (!rows[0]) return { profile: undefined, missingRates: [] }
  const { missingRates, ...profile } = rows[0]
  return { profile, missingRates }
}

/** Replaces a seller's tax profile. Refuses `tax_rate_missing`: with it the seller's products could not be sold. */
export const saveTaxProfile = (db: Db, sellerId: string, profile: TaxProfile): Promise<OwnTaxProfile> =>
  inTransaction(db, async (tx) => {
    const { country, taxIds, hasOss, isExempt, isInclusive, category } = profile
    // the stored answers were given for the former number
    await sql`
      delete from vies_answers where seller_id = ${sellerId} and not exists (
        select from tax_profiles where seller_id = ${sellerId} and country = ${country} and tax_ids = ${taxIds}::text[])`.execute(
      tx,
    )
    await sql`
      insert into tax_profiles (seller_id, country, tax_ids, has_oss, is_exempt, is_inclusive, category)
      values (${sellerId}, ${country}, ${taxIds}::text[], ${hasOss}, ${isExempt}, ${isInclusive}, ${category})
      on conflict (seller_id) do update set country = excluded.country, tax_ids = excluded.tax_ids, has_oss = excluded.has_oss,
        is_exempt = excluded.is_exempt, is_inclusive = excluded.is_inclusive, category = excluded.category, updated_at = now()`.execute(
      tx,
    )
    const saved = await findTaxProfile(tx, sellerId)
    if (saved.missingRates.length === 0) return saved
    throw new Refusal(
      'tax_rate_missing',
      `The operator of this service has loaded no rate “${category}” for ${saved.missingRates.join(', ')}. Without it your products cannot be sold there.`,
    )
  })

/** Ends it: nothing is said about tax from now on. Earlier orders keep theirs. */
export async function removeTaxProfile(db: Db, sellerId: string): Promise<void> {
  await sql`delete from tax_profiles where seller_id = ${sellerId}`.execute(db)
}

/** The countries whose rate a profile `f` may need today, and that have none. */
export const MISSING_RATES = sql`
  select c.country from unnest(array[${vatArea(sql`f.country`)}] || case when f.has_oss then ${EU}::text[] else '{}' end) as c(country)
  where not f.is_exempt and not exists (
    select from tax_rates r where r.country = c.country and r.category = f.category and ${isValidOn(TODAY)})
  group by 1`

export interface MissingRate {
  country: string
  category: string
  /** How many sellers need it. */
  sellers: number
}

/** The rates that sellers need today, and that are missing: buyers there cannot buy from them. */
export async function listMissingRates(db: Db | Tx): Promise<MissingRate[]> {
  const { rows } = await sql<MissingRate>`
    select m.country, f.category, count(*)::int as sellers
    from tax_profiles f cross join lateral (${MISSING_RATES}) m group by 1, 2 order by 3 desc, 1, 2`.execute(db)
  return rows
}
