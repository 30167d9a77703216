import type { Lines } from '../kit/mail-layout.ts'
import { type Locale, localeOfTag } from '../kit/locales.ts'
import { type Catalogue, catalogueOf } from './catalogues.ts'

/** The language that a mail is written in. */
export interface Reading {
  locale: Locale
  words: Catalogue
}

/** `tag`: as it is stored. A newer release could have written one that this one does not know. */
export async function readingOf(tag: string | null | undefined): Promise<Reading> {
  const locale = localeOfTag(tag ?? '') ?? 'en'
  return { locale, words: await catalogueOf(locale) }
}

/** The words of a mail's own layout. */
export const layoutIn = ({ locale, words }: Reading): NonNullable<Lines['language']> => ({
  locale,
  buttonFails: words.mail.buttonFails,
})
