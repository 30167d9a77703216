import { formatMoney } from '../../src/kit/money.ts'
import { LOCALE } from './language.ts'
import { pageData } from './page-data.ts'

export const money = (amountMinor: number, currency: string): string =>
  formatMoney(amountMinor, currency, LOCALE, pageData.home)

/** 12 → "12%", "12 %" or "%12", as the language has it. A tax rate has up to three decimals. */
export const percent = (percent: number): string =>
  new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 3 }).format(percent / 100)

export const moment = (at: string): string =>
  new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at))

/** To the second, for comparison with a log. */
export const exactMoment = (at: string): string =>
  new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at))

export const day = (at: string): string => new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' }).format(new Date(at))
