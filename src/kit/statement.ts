/** Card networks take so many characters of a line on a statement. */
const LINE_LENGTH = 22
/** What Stripe puts between the account's prefix and the suffix of a payment. */
const BETWEEN = '* '

/** How many characters a suffix can have behind this prefix (https://docs.stripe.com/get-started/account/statement-descriptors). */
export const suffixRoom = (prefix: string): number => LINE_LENGTH - BETWEEN.length - prefix.length

/** The line of a card payment, as `statement_line` in the schema makes it of a suffix that fits. */
export const statementLine = (prefix: string, suffix: string): string => prefix + BETWEEN + suffix

/**
 * The suffix of a line, for Stripe, which puts the rest before it. Orders from before the star was part of the line have only a
 * space there, and a suffix that can be too long.
 */
export function suffixOfLine(line: string, prefix: string): string {
  const begins = [prefix + BETWEEN, `${prefix} `].find((begin) => line.startsWith(begin)) ?? ''
  // the prefix can have been another one when the order was made
  const suffix = line.slice(begins.length).replaceAll('*', '')
  const cut = (text: string) => text.slice(0, suffixRoom(prefix)).trim()
  return /^(?=.*[A-Z]).{2,}$/.test(cut(suffix)) ? cut(suffix) : cut(`ITEM ${suffix}`)
}
