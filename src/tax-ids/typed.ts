import { isCountry } from '../kit/country.ts'
import { Refusal } from '../kit/errors.ts'
import { CHECKED_COUNTRIES, checkTaxId } from './check.ts'

// What people type. The other files of this folder refuse nothing.

export interface TypedTaxId {
  /** ISO 3166-1, or XI. */
  country: string
  id: string
}

/** Refuses `country_unknown`. */
export function knownCountry(text: string): string {
  const country = text.toUpperCase()
  if (isCountry(country)) return country
  throw new Refusal('country_unknown', 'Name the country by its two letters (ISO 3166-1), such as DE.')
}

/** Refuses `country_unknown` and `tax_id_invalid`. */
export function cleanTaxId({ country: text, id }: TypedTaxId): TypedTaxId {
  const country = text.toUpperCase() === 'XI' ? 'XI' : knownCountry(text)
  // companies of Northern Ireland have an address in the United Kingdom
  const isNorthernIrish = country === 'GB' && /^\s*XI/i.test(id)
  const checked = checkTaxId(isNorthernIrish ? 'XI' : country, id)
  if (checked.ok) return { country: isNorthernIrish ? 'XI' : country, id: checked.normalized }
  const why = checked.problem === 'checksum' ? 'its check digit does not match' : 'it has another form'
  const where = CHECKED_COUNTRIES.includes(country) ? ` of ${country}` : ''
  throw new Refusal('tax_id_invalid', `This cannot be a tax id${where}: ${why}.`)
}
