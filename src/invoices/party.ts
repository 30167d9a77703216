import { Refusal } from '../kit/errors.ts'
import { cleanTaxId, knownCountry } from '../tax-ids/typed.ts'
import type { Address } from './document.ts'

// Cleans the texts that sellers and buyers type about themselves.

/** Without characters that a document cannot show, or that change the direction of the text after them. */
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

export { cleanTaxId, cleanText }
