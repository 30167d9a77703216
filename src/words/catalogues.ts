import type { Locale } from '../kit/locales.ts'
import { readOnce } from '../kit/read-once.ts'
import { en } from './en.ts'
import type { Plural } from './say.ts'

type Words<Part> = { [Name in keyof Part]: Part[Name] extends string ? string : Plural }
/** All texts in one language. */
export type Catalogue = { [Part in keyof typeof en]: Words<(typeof en)[Part]> }

/** Loaded when somebody first reads the language: a service with buyers in one country keeps one language in memory. */
const LOAD: Record<Locale, () => Promise<Catalogue>> = {
  en: async () => en,
  de: async () => (await import('./de.ts')).de,
  fr: async () => (await import('./fr.ts')).fr,
  es: async () => (await import('./es.ts')).es,
  it: async () => (await import('./it.ts')).it,
  'pt-BR': async () => (await import('./pt-br.ts')).ptBR,
  nl: async () => (await import('./nl.ts')).nl,
  pl: async () => (await import('./pl.ts')).pl,
  tr: async () => (await import('./tr.ts')).tr,
  ja: async () => (await import('./ja.ts')).ja,
  ko: async () => (await import('./ko.ts')).ko,
  'zh-Hans': async () => (await import('./zh-hans.ts')).zhHans,
  hi: async () => (await import('./hi.ts')).hi,
  id: async () => (await import('./id.ts')).id,
  ar: async () => (await import('./ar.ts')).ar,
  he: async () => (await import('./he.ts')).he,
}

export const catalogueOf = readOnce((locale: Locale) => LOAD[locale]())
