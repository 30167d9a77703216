import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { cleanTaxId } from '../tax-ids/typed.ts'
import { cleanAddress, filledText, fittingText } from './party.ts'
import { type InvoiceProfile, LONGEST, type OwnProfile } from './schema.ts'

export async function findProfile(db: Db, sellerId: string): Promise<OwnProfile> {
  const { rows } = await sql<{ prefix: string; profile: InvoiceProfile }>`
    select prefix, jsonb_strip_nulls(jsonb_build_object('on', is_on, 'name', legal_name, 'address', address, 'postcode', postcode,
      'city', city, 'country', country, 'taxIds', tax_ids, 'note', note)) as profile
    from invoice_profiles where seller_id = ${sellerId}`.execute(db)
  return rows[0] ?? { profile: null, prefix: null }
}

/** Long enough for a prefix that no other seller has, among any number of sellers. */
const LENGTHS = [4, 5, 6, 8, 10]

/**
 * Stores the profile. Documents that are issued from now on have it; those that were issued keep theirs. Refuses `validation_failed`,
 * `country_unknown` and `tax_id_invalid`.
 */
export async function putProfile(db: Db, sellerId: string, given: InvoiceProfile): Promise<OwnProfile> {
  const name = filledText('name', given.name, LONGEST.name)
  const { address, postcode, city, country } = cleanAddress(given)
  const taxIds = given.taxIds.map((one) => cleanTaxId(one))
  const note = fittingText('note', given.note ?? '', LONGEST.note) || null
  for (const length of LENGTHS) {
    const { rows } = await sql`
      insert into invoice_profiles as p (seller_id, prefix, is_on, legal_name, address, postcode, city, country, tax_ids, note)
      select ${sellerId}, ${prefixOf(sellerId, length)}, ${given.on}, ${name}, ${address}::text[], ${postcode}, ${city}, ${country},
        ${JSON.stringify(taxIds)}::jsonb, ${note}
      where exists (select from invoice_profiles where seller_id = ${sellerId})
        or not exists (select from invoice_profiles where prefix = ${prefixOf(sellerId, length)})
      on conflict (seller_id) do update set is_on = excluded.is_on, legal_name = excluded.legal_name, address = excluded.address,
        postcode = excluded.postcode, city = excluded.city, country = excluded.country, tax_ids = excluded.tax_ids, note = excluded.note,
        changed_at = now()
      returning 1`.execute(db)
    if (rows.length > 0) break
  }
  return findProfile(db, sellerId)
}

/** Hardly any first prefix is so long, and there are so many of this length that none comes twice by chance. */
const RENEWED_LENGTH = 6

/**
 * Gives each seller another prefix, with which the series go on. After a restore nothing here knows the numbers that came after the backup,
 * and with the former prefix they would be given twice.
 */
export async function renewPrefixes(db: Db): Promise<void> {
  // the backup can be of a release without invoices
  const { rows: tables } = await sql`select where to_regclass('invoice_profiles') is not null`.execute(db)
  if (tables.length === 0) return
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ sellerId: string }>`select seller_id as "sellerId" from invoice_profiles`.execute(tx)
    for (const { sellerId } of rows)
      for (let isRenewed = false; !isRenewed;) {
        const prefix = prefixOf(`${sellerId} ${randomUUID()}`, RENEWED_LENGTH)
        const { rows: renewed } = await sql`
          update invoice_profiles set prefix = ${prefix}
          where seller_id = ${sellerId} and not exists (select from invoice_profiles where prefix = ${prefix})
          returning 1`.execute(tx)
        isRenewed = renewed.length > 0
      }
  })
}

/** Crockford's base32 in capitals. The first is a letter, so that no prefix reads like a year. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ'
const CHARACTERS = `0123456789${LETTERS}`

/** The beginning of a seller's numbers, derived from `of`: the seller's id, and after a restore also something random. */
export function prefixOf(of: string, length: number): string {
  const [first = 0, ...bytes] = createHash('sha256').update(`invoice numbers of ${of}`).digest()
  const rest = bytes.slice(0, length - 1).map((byte) => CHARACTERS[byte % CHARACTERS.length])
  return LETTERS[first % LETTERS.length] + rest.join('')
}
