import { setImmediate as nextTurn } from 'node:timers/promises'
import { holdsCardNumber } from '../../kit/card-numbers.ts'
import { CURRENCIES } from '../../kit/currencies.ts'
import { Refusal } from '../../kit/errors.ts'
import { decimalsOf } from '../../kit/money.ts'

/** A bank's report of one payment. */
export interface BankLine {
  /** The reference that the payment had in the file for the bank. */
  reference: string
  /** Positive. */
  amountMinor: number
  currency: string
  /** `booked`: the money has left. `returned`: it came back. */
  status: 'booked' | 'returned'
  /** The day, such as 2026-11-24. */
  bookedOn: string
  /** Why it came back: the bank's code or words. */
  reason: string | undefined
  /** The IBAN of the account that the statement is about, where it names one. */
  account?: string | undefined
}

/** The lines of a statement. */
export interface BankLines {
  /** The lines with a reference of ours. */
  lines: BankLine[]
  /** How many other lines there are, such as the operator's own business. */
  others: number
}

/** Whether a reference has the form of ours, see referenceOf(). */
export const isOurs = (reference: string): boolean => /^PO[0-9A-HJKMNP-TV-Z]{26}$/.test(reference)

/** The largest statement that is read. */
export const LARGEST_STATEMENT_BYTES = 10 * 1024 * 1024
/** More payments than a bank puts into a statement of this size. */
export const MOST_LINES = 50_000
const LONGEST_REASON = 200
const LARGEST_UNITS = 12

/** Refuses `statement_not_readable`. */
export function refuseStatement(why: string): never {
  throw new Refusal('statement_not_readable', `${why} Nothing was changed.`)
}

/** Characters that are parsed before other requests get a turn. */
const SLICE = 64 * 1024

/** A long text in slices, with a turn for other work after each. */
export async function* slicesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += SLICE) {
    yield text.slice(at, at + SLICE)
    await nextTurn()
  }
}

/** `12.30` with EUR is 1230. Undefined: it is no amount, or has more decimals than the currency. */
export function minorOf(amount: string, currency: string): number | undefined {
  const [, units = '', decimals = ''] = /^(\d+)(?:\.(\d*))?$/.exec(amount) ?? []
  const places = decimalsOf(currency)
  // banks write zeros after the last decimal
  if (!CURRENCIES.has(currency) || units === '' || !/^0*$/.test(decimals.slice(places))) return undefined
  if (units.replace(/^0+/, '').length > LARGEST_UNITS) return undefined
  return Number(units + decimals.slice(0, places).padEnd(places, '0'))
}

/** The day of a date or a moment. Undefined: it is none. */
export function dayOf(text: string): string | undefined {
  const day = /^(\d{4}-\d{2}-\d{2})(?:$|[T+Z-])/.exec(text)?.[1]
  return day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day)
    ? day
    : undefined
}

/** One line of plain text, and not too long for a page. */
export const reasonOf = (parts: readonly (string | undefined)[]): string | undefined => {
  const text = parts
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  // the seller reads it, and it is kept
  return text === '' || holdsCardNumber(text) ? undefined : text.slice(0, LONGEST_REASON).toWellFormed()
}
