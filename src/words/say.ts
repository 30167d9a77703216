// This file is free of Node's modules, so the pages share it.

/** The words for a number of things, by the plural forms of the language (CLDR). Every language has `other`. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }

/** A text with its values in their places: `say('Pay {price}', { price: '$4.99' })`. */
export const say = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place))

/** The words for a number of things: `saySome('en', words.files, 3)` is "3 files". */
export function saySome(locale: string, forms: Plural, count: number, values: Record<string, string> = {}): string {
  const form = forms[pluralRules(locale).select(count)] ?? forms.other
  return say(form, { ...values, count: numbers(locale).format(count) })
}

/** Whole sentences, one after the other. Chinese and Japanese put no space between them. */
export const sentences = (parts: readonly (string | false | undefined)[]): string =>
  parts
    .filter((part) => part)
    .join(' ')
    .replaceAll('。 ', '。')

/** "19%", as the language writes it. */
export const percentText = (percent: number, locale: string): string => percents(locale).format(percent / 100)

/** A time for a reader whose clock is not known. */
export const timeText = (at: Date, locale: string): string => `${times(locale).format(at)} UTC`

/** As `timeText`, to the second. */
export const exactTimeText = (at: Date, locale: string): string => `${exactTimes(locale).format(at)} UTC`

/** Keeps the result of `make` for each language: making it takes a hundred times as long as using it. */
function kept<Made>(make: (locale: string) => Made): (locale: string) => Made {
  const all = new Map<string, Made>()
  return (locale) => all.get(locale) ?? all.set(locale, make(locale)).get(locale)!
}

const pluralRules = kept((locale) => new Intl.PluralRules(locale))
const percents = kept((locale) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 3 }))
const numbers = kept((locale) => new Intl.NumberFormat(locale))
const times = kept(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
)
const exactTimes = kept(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }),
)
