import { type Locale, isRightToLeft } from '../kit/locales.ts'
import type { Catalogue } from './catalogues.ts'

/** The texts of a page as its scripts find them. `parts`: the names of the parts that the page needs, such as "ui pay". */
export const wordsScript = (parts: string, catalogue: Catalogue): string =>
  scriptOf(Object.fromEntries(parts.split(' ').map((part) => [part, catalogue[part as keyof Catalogue]])))

/** A built page with other texts in the place of its own. */
export const withTexts = (html: string, texts: object): string => html.replace(TEXTS, () => scriptOf(texts))

/** A built page, which is English, in another language. It has the same texts in both. */
export const inLanguage = (html: string, locale: Locale, catalogue: Catalogue): string =>
  html
    .replace('<html lang="en">', `<html lang="${locale}"${isRightToLeft(locale) ? ' dir="rtl"' : ''}>`)
    .replace(TEXTS, (_, english: string) => scriptOf(sameTexts(JSON.parse(english) as Texts, catalogue)))
    .replace(
      /aria-label="[^"]*" data-l="(\w+)\.(\w+)"/g,
      (_, part: string, name: string) => `aria-label="${escapeHtml(textAt(catalogue, part, name))}"`,
    )
    // The texts outside the scripts name their place in the catalogue.
    .replace(
      /(<[^<>]*\sdata-w="(\w+)\.(\w+)"[^<>]*>)[^<]*/g,
      (_, tag: string, part: string, name: string) => `${tag}${escapeHtml(textAt(catalogue, part, name))}`,
    )

type Texts = Record<string, Record<string, unknown>>

const TEXTS = /<script type="application\/json" id="till-words">(.*?)<\/script>/s

const scriptOf = (texts: object): string =>
  `<script type="application/json" id="till-words">${jsonForHtml(texts)}</script>`

const sameTexts = (english: Texts, catalogue: Texts): Texts =>
  Object.fromEntries(
    Object.entries(english).map(([part, texts]) => [
      part,
      Object.fromEntries(Object.keys(texts).map((name) => [name, catalogue[part]![name]])),
    ]),
  )

function textAt(catalogue: Catalogue, part: string, name: string): string {
  const text: unknown = (catalogue as Record<string, Record<string, unknown>>)[part]?.[name]
  if (typeof text !== 'string') throw new Error(`a page names the text ${part}.${name}, and there is none`)
  return text
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c]!)

/** JSON that cannot end its script element early, whatever text a seller has typed. */
export const jsonForHtml = (data: object): string =>
  JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
