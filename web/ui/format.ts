import { formatMoney } from '../../src/kit/money.ts'

/** The pages are in English. Numbers and dates follow the reader's own variety of English. */
const LOCALE = ownEnglish() ?? 'en'

export const money = (amountMinor: number, currency: string): string => formatMoney(amountMinor, currency, LOCALE)

export const moment = (at: string): string =>
  new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at))

/** To the second, for what is compared with a log. */
export const exactMoment = (at: string): string =>
  new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at))

export const day = (at: string): string => new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' }).format(new Date(at))

/** 48219341 → "48.2 MB": decimal units, as shops and browsers show them. */
export function fileSize(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let size = bytes
  let unit = 0
  while (size >= 999.95 && unit < units.length - 1) {
    size /= 1000
    unit += 1
  }
  return `${unit && size < 100 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`
}

/** Browsers on bare systems report languages that do not exist ("en-US@posix"), and Intl throws on those. */
function ownEnglish(): string | undefined {
  try {
    return Intl.getCanonicalLocales([...navigator.languages]).find((name) => name.startsWith('en'))
  } catch {
    return undefined
  }
}
