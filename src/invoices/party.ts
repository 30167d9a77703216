import { notValid } from '../kit/errors.ts'
import { lengthOf } from '../products/fields.ts'
import { knownCountry } from '../tax-ids/typed.ts'
import type { Address } from './document.ts'
import { LONGEST } from './schema.ts'

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

/** A cleaned text. Some letters of Hindi and Hebrew become two, so a text that was short enough can be too long. Refuses `validation_failed`. */
export function fittingText(path: string, text: string, longest: number): string {
  const cleaned = cleanText(text)
  if (lengthOf(cleaned) > longest) throw notValid(path, `must have at most ${longest} characters`)
  return cleaned
}

/** A text that must have something in it. Refuses `validation_failed`. */
export function filledText(path: string, text: string, longest: number): string {
  const cleaned = fittingText(path, text, longest)
  if (cleaned === '') throw notValid(path, 'must not be empty')
  return cleaned
}

/** Refuses `validation_failed` and `country_unknown`. */
export function cleanAddress({ address, postcode, city, country }: Address): Address {
  return {
    address: address.map((line) => filledText('address', line, LONGEST.addressLine)),
    postcode: fittingText('postcode', postcode, LONGEST.postcode),
    city: filledText('city', city, LONGEST.city),
    country: knownCountry(country),
  }
}
