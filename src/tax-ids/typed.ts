import { isCountry } from '../kit/country.ts'
import { Refusal } from '../kit/errors.ts'
import { CHECKED_COUNTRIES, checkTaxId, isEu } from './check.ts'

// Checks the countries and tax ids that people type. The other files of this folder refuse nothing.

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

/** A number of these countries begins with letters. Others may be of an office that no rule here knows, such as a German Steuernummer. */
const LETTERS: Record<string, string> = { EL: 'GR', CH: 'CH', NO: 'NO', GB: 'GB', XI: 'XI' }

/**
 * Checks a seller's own id: by the rules of the country, or of the country with which the number begins. Only a number of another kind,
 * which begins with a digit, is taken as it is. Refuses `tax_id_invalid`.
 */
export function cleanOwnTaxId(home: string, id: string): string {
  const own = checkTaxId(home, id)
  if (own.ok) return own.normalized
  const text = id.trim()
  if (/^\d/.test(text) && isEu(home)) return text
  // of the one-stop-shop for sellers outside the EU, which has no check digit that is published
  if (/^EU\d{9}$/i.test(text)) return text.toUpperCase()
  const prefix = text.slice(0, 2).toUpperCase()
  const country = LETTERS[prefix] ?? (isEu(prefix) ? prefix : home)
  return cleanTaxId({ country, id }).id
}
