import { isCountry } from '../kit/country.ts'
import { Refusal } from '../kit/errors.ts'
import { CHECKED_COUNTRIES, checkTaxId } from '../tax-ids/check.ts'
import type { Address, TaxId } from './document.ts'

// What sellers and buyers type about themselves.

/** Without characters that a document cannot show, or that change the direction of what follows. */
const cleanText = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(
      /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]+/gu,
      ' ',
    )
    .replaceAll(/\s+/g, ' ')
    .trim()

/** A text that must have something in it. Refuses `validation_failed`. */
export function filledText(path: string, text: string): string {
  const cleaned = cleanText(text)
  if (cleaned !== '') return cleaned
  throw new Refusal('validation_failed', 'The request is not valid.', {
    fields: [{ path, message: 'must not be empty' }],
  })
}

/** Refuses `validation_failed` and `country_unknown`. */
export function cleanAddress({ address, postcode, city, country }: Address): Address {
  return {
    address: address.map((line) => filledText('address', line)),
    postcode: cleanText(postcode),
    city: filledText('city', city),
    country: knownCountry(country),
  }
}

function knownCountry(text: string): string {
  const country = text.toUpperCase()
  if (isCountry(country)) return country
  throw new Refusal('country_unknown', 'Name the country by its two letters (ISO 3166-1), such as DE.')
}

/** Refuses `country_unknown` and `tax_id_invalid`. */
export function cleanTaxId({ country: text, id }: TaxId): TaxId {
  const country = text.toUpperCase() === 'XI' ? 'XI' : knownCountry(text)
  // companies of Northern Ireland have an address in the United Kingdom
  const isNorthernIrish = country === 'GB' && /^\s*XI/i.test(id)
  const checked = checkTaxId(isNorthernIrish ? 'XI' : country, id)
  if (checked.ok) return { country: isNorthernIrish ? 'XI' : country, id: checked.normalized }
  const why = checked.problem === 'checksum' ? 'its check digit does not match' : 'it has another form'
  const where = CHECKED_COUNTRIES.includes(country) ? ` of ${country}` : ''
  throw new Refusal('tax_id_invalid', `This cannot be a tax id${where}: ${why}.`)
}

export { cleanText }
