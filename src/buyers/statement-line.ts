import { Refusal } from '../kit/errors.ts'

/** One line of a bank statement, as far as somebody has told us of it. */
export interface StatementLine {
  /** Upper-case letters and digits alone: banks change the rest. */
  descriptor?: string
  sale?: {
    /** What the amount can mean: "1.234" is a thousand and some, or one and some where there are three decimals. */
    amounts: readonly Decimal[]
    /** From the first instant to before the last. */
    from: Date
    until: Date
  }
}

export interface Decimal {
  whole: string
  /** The decimals, as they were written. */
  fraction: string
}

/** Fewer say nothing about a line: nearly every one holds them. */
const SHORTEST_DESCRIPTOR = 3
/** Banks book later than the buyer pays, and days begin elsewhere at another time. */
const DAYS_OFF = 3
const DAY_MS = 86_400_000
const MOST_DIGITS = 15

export interface TypedLine {
  descriptor?: string | undefined
  amount?: string | undefined
  date?: string | undefined
}

/** Reads what was typed. Throws `validation_failed` where there is too little to find a line by. */
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

const notValid = (path: string, message: string): Refusal =>
  new Refusal('validation_failed', 'The body is not valid.', { fields: [{ path, message }] })

/** "Till* Invoice  Pack" → "TILLINVOICEPACK". */
export const compactDescriptor = (text: string): string =>
  text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')

/** Every decimal that an amount as people and banks write it can mean; none when it is no amount. */
export function readAmount(text: string): Decimal[] {
  const number = /\d(?:[\d.,'’\s]*\d)?/.exec(text.normalize('NFKC'))?.[0].replaceAll(/['’\s]/g, '')
  if (!number || number.replaceAll(/\D/g, '').length > MOST_DIGITS) return []
  const at = Math.max(number.lastIndexOf('.'), number.lastIndexOf(','))
  const grouped: Decimal = { whole: digitsOf(number), fraction: '' }
  if (at < 0) return [grouped]
  const fraction = number.slice(at + 1)
  const isOnce = number.indexOf(number[at]!) === at
  const decimal: Decimal[] = isOnce ? [{ whole: digitsOf(number.slice(0, at)), fraction }] : []
  // three digits after a mark are thousands, or three decimals; any other number of them is decimals
  return fraction.length === 3 ? [grouped, ...decimal] : decimal
}

const digitsOf = (text: string): string => text.replaceAll(/\D/g, '').replace(/^0+(?=\d)/, '')

/** An amount in minor units of a currency with that many decimals, or undefined where it has no such amount. */
export function minorUnits({ whole, fraction }: Decimal, decimals: number): number | undefined {
  if (/[1-9]/.test(fraction.slice(decimals))) return undefined
  const amount = Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return Number.isSafeInteger(amount) ? amount : undefined
}

/** The first instant of a day, in UTC; undefined when there is no such day. */
function readDay(text: string): number | undefined {
  const day = /^2\d{3}-\d{2}-\d{2}$/.exec(text.trim())?.[0]
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`)
  // 31 February would be taken for the 3rd of March
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day ? undefined : at
}
