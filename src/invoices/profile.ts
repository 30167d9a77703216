import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { cleanAddress, cleanTaxId, filledText, fittingText } from './party.ts'
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

/** Crockford's base32 in capitals. The first is a letter, so that no prefix reads like a year. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ'
const CHARACTERS = `0123456789${LETTERS}`

/** The beginning of a seller's numbers, derived from the seller's id. */
export function prefixOf(sellerId: string, length: number): string {
  const [first = 0, ...bytes] = createHash('sha256').update(`invoice numbers of ${sellerId}`).digest()
  const rest = bytes.slice(0, length - 1).map((byte) => CHARACTERS[byte % CHARACTERS.length])
  return LETTERS[first % LETTERS.length] + rest.join('')
}
