import type { ComponentChild } from 'preact'
import type { Catalogue } from '../../src/words/catalogues.ts'
import { type Plural, say, saySome as saySomeIn } from '../../src/words/say.ts'
import { LANGUAGE } from './page-data.ts'
import { waitWords } from './wait-words.ts'

export { say }

/** The texts of the page in its language. The service writes the parts that a page names in `<!--words:…-->`. */
const sent = JSON.parse(document.getElementById('till-words')!.textContent) as Partial<Catalogue>

/** One part of the texts. The page must have named it. */
export const wordsOf = <Part extends keyof Catalogue>(part: Part): Catalogue[Part] => sent[part]!

/** The language of the page, in the reader's own variety: a Swiss who reads German has Swiss numbers and dates. */
export const LOCALE = ownVariety(LANGUAGE) ?? LANGUAGE

/** A text with elements in their places. */
export const saying = (text: string, values: Record<string, ComponentChild>): ComponentChild[] =>
  // Between the texts stand the names of the places.
  text.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 1 ? values[part] : part))

/** The words for a number of things: `saySome(words.files, 3)` is "3 files". */
export const saySome = (forms: Plural, count: number, values?: Record<string, string>): string =>
  saySomeIn(LOCALE, forms, count, values)

/** A time to wait in words, such as "in 20 seconds". */
export function inAWhile(seconds: number | undefined): string {
  return !seconds || seconds <= 3 ? wordsOf('ui').inAMoment : waitWords(LOCALE, seconds)
}

/** Browsers on bare systems report languages that do not exist ("en-US@posix"), and Intl throws on those. */
function ownVariety(language: string): string | undefined {
  try {
    return Intl.getCanonicalLocales([...navigator.languages]).find(
      (name) => name.split('-')[0] === language.split('-')[0],
    )
  } catch {
    return undefined
  }
}
