import { latinDigits } from '../kit/digits.ts'
import { notValid } from '../kit/errors.ts'

/** A line of a bank statement, as far as the buyer has typed it. */
export interface StatementLine {
  /** Only upper-case letters and digits, because banks change the rest. */
  descriptor?: string
  sale?: {
    /** The possible meanings of the amount: "1.234" is 1234, or 1.234 in a currency with three decimals. */
    amounts: readonly Decimal[]
    from: Date
    /** Exclusive. */
    until: Date
  }
}

export interface Decimal {
  whole: string
  /** The decimals as typed. */
  fraction: string
}

/** Fewer characters identify no line, because nearly every line has them. */
const SHORTEST_DESCRIPTOR = 3
/** Banks book later than the buyer pays, and time zones differ. */
const DAYS_OFF = 3
const DAY_MS = 86_400_000
const MOST_DIGITS = 15

export interface TypedLine {
  descriptor?: string | undefined
  amount?: string | undefined
  date?: string | undefined
}

/** Parses the typed line. Throws `validation_failed` when it is too little to find a line by. */
export function readStatementLine({ descriptor, amount, date }: TypedLine): StatementLine {
  const line: StatementLine = {}
  if (isGiven(descriptor)) {
    line.descriptor = compactDescriptor(descriptor)
    if (line.descriptor.length < SHORTEST_DESCRIPTOR)
      throw notValid('descriptor', 'needs at least three letters or digits')
  }
  if (isGiven(amount) || isGiven(date)) {
    if (!isGiven(amount)) throw notValid('amount', 'is needed with the date')
    if (!isGiven(date)) throw notValid('date', 'is needed with the amount')
    const amounts = readAmount(amount)
    if (amounts.length === 0) throw notValid('amount', 'is not an amount such as 499, 499.00 or 4,99')
    const day = readDay(date)
    if (day === undefined) throw notValid('date', 'is not a day such as 2026-01-31')
    line.sale = { amounts, from: new Date(day - DAYS_OFF * DAY_MS), until: new Date(day + (DAYS_OFF + 1) * DAY_MS) }
  }
  if (!line.descriptor && !line.sale) throw notValid('descriptor', 'is needed, or else the amount and the date')
  return line
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== ''

/** "Till* Invoice  Pack" → "TILLINVOICEPACK". */
export const compactDescriptor = (text: string): string =>
  text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')

/** Returns every decimal that an amount in a person's or a bank's notation can mean. Empty when it is not an amount. */
export function readAmount(text: string): Decimal[] {
  // the digits of every script, and the marks for decimals and for thousands that are written with Arabic ones
  const latin = latinDigits(text.normalize('NFKC')).replaceAll('٫', '.').replaceAll('٬', ',')
  const number = /\d(?:[\d.,'’\s]*\d)?/.exec(latin)?.[0].replaceAll(/['’\s]/g, '')
  if (!number || number.replaceAll(/\D/g, '').length > MOST_DIGITS) return []
  const at = Math.max(number.lastIndexOf('.'), number.lastIndexOf(','))
  const grouped: Decimal = { whole: digitsOf(number), fraction: '' }
  if (at < 0) return [grouped]
  const fraction = number.slice(at + 1)
  const isOnce = number.indexOf(number[at]!) === at
  const decimal: Decimal[] = isOnce ? [{ whole: digitsOf(number.slice(0, at)), fraction }] : []
  // three digits after a mark are thousands or decimals; any other number of digits is decimals
  return fraction.length === 3 ? [grouped, ...decimal] : decimal
}

const digitsOf = (text: string): string => text.replaceAll(/\D/g, '').replace(/^0+(?=\d)/, '')

/** The amount in minor units of a currency with that many decimals. Undefined if the amount has more decimals. */
export function minorUnits({ whole, fraction }: Decimal, decimals: number): number | undefined {
  if (/[1-9]/.test(fraction.slice(decimals))) return undefined
  const amount = Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return Number.isSafeInteger(amount) ? amount : undefined
}

/** The start of a day, in UTC. Undefined when the day does not exist. */
function readDay(text: string): number | undefined {
  const day = /^2\d{3}-\d{2}-\d{2}$/.exec(text.trim())?.[0]
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`)
  // V8 reads the 31st of February as the 3rd of March
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day ? undefined : at
}
