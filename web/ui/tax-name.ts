import { wordsOf } from './language.ts'

/** Countries whose tax has this name in every language. */
const GST = /AU|IN|NZ|SG/

/** Buyers' name for the tax of a country. */
export const taxName = (country: string): string => (GST.test(country) ? 'GST' : wordsOf('ui').vat)
