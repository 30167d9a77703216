/** Card networks accept this many characters in a statement descriptor. */
const LINE_LENGTH = 22
/** Stripe puts this between the account's prefix and the suffix of a payment. */
const BETWEEN = '* '

/** The longest suffix after this prefix (https://docs.stripe.com/get-started/account/statement-descriptors). */
export const suffixRoom = (prefix: string): number => LINE_LENGTH - BETWEEN.length - prefix.length

/** The statement descriptor of a card payment, for a suffix that fits. `statement_line` in the schema makes the same. */
export const statementLine = (prefix: string, suffix: string): string => prefix + BETWEEN + suffix

/**
 * The suffix of a statement descriptor. Stripe adds the rest itself. Older orders have a space instead of the star, and their suffix
 * can be too long.
 */
export function suffixOfLine(line: string, prefix: string): string {
  const begins = [prefix + BETWEEN, `${prefix} `].find((begin) => line.startsWith(begin)) ?? ''
  // the operator may have changed the prefix since the order was made
  const suffix = line.slice(begins.length).replaceAll('*', '')
  const cut = (text: string) => text.slice(0, suffixRoom(prefix)).trim()
  return /^(?=.*[A-Z]).{2,}$/.test(cut(suffix)) ? cut(suffix) : cut(`ITEM ${suffix}`)
}
