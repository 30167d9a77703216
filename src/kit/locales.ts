/** The languages of the pages and mails, by their BCP 47 tags. */
export const LOCALES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt-BR',
  'nl',
  'pl',
  'tr',
  'ja',
  'ko',
  'zh-Hans',
  'hi',
  'id',
  'ar',
  'he',
] as const
export type Locale = (typeof LOCALES)[number]

const RIGHT_TO_LEFT: ReadonlySet<Locale> = new Set(['ar', 'he'])
export const isRightToLeft = (locale: Locale): boolean => RIGHT_TO_LEFT.has(locale)

const MOST_RANGES = 50
/** Tags that browsers send, and that do not begin like ours. */
const OTHER_NAMES: Record<string, Locale> = { pt: 'pt-BR', zh: 'zh-Hans', iw: 'he', in: 'id' }

/** Our language for a tag such as `de-AT`. Undefined: we have none. */
export function localeOfTag(tag: string): Locale | undefined {
  const lower = tag.trim().toLowerCase()
  const exact = LOCALES.find((one) => one.toLowerCase() === lower)
  const [base = ''] = lower.split('-')
  return (
    exact ?? LOCALES.find((one) => one === base) ?? (Object.hasOwn(OTHER_NAMES, base) ? OTHER_NAMES[base] : undefined)
  )
}

/** The language that a browser prefers most of ours, by its header Accept-Language (RFC 9110, section 12.5.4). English by default. */
export function localeOf(acceptLanguage: string | undefined): Locale {
  const ranges = (acceptLanguage ?? '').slice(0, 1000).split(',').slice(0, MOST_RANGES)
  const wanted = ranges.flatMap((range, place) => {
    const [tag = '', ...parameters] = range.split(';')
    const quality = /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(parameters.join(';'))?.[1]
    const locale = localeOfTag(tag)
    const q = parameters.length === 0 ? 1 : Number(quality ?? 0)
    return locale && q > 0 ? [{ locale, q, place }] : []
  })
  return wanted.toSorted((a, b) => b.q - a.q || a.place - b.place)[0]?.locale ?? 'en'
}
