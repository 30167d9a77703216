/** 12 digits: more than any product costs, and far from where integers lose their last digit. */
const MOST_DIGITS = 12

/**
 * What somebody typed as an amount ("1,234.50", "1234,5", " 499 ") in minor units of a currency with so many decimals, digit by
 * digit; undefined when it is none. Imports nothing: what a page loads later cannot.
 */
export function minorUnits(typed: string, places: number): number | undefined {
  const text = typed.trim().replace(/[\s'’]/g, '')
  // The last mark is the decimal one, unless exactly three digits follow it and the currency has not got three.
  const [, whole = '', mark = '', rest = ''] = /^([\d.,]*?)(?:([.,])(\d*))?$/.exec(text) ?? []
  const grouped = mark !== '' && rest.length === 3 && places !== 3
  const integer = (grouped ? whole + rest : whole).replace(/[.,]/g, '')
  const fraction = grouped ? '' : rest
  if (!/^\d+$/.test(integer + fraction) || fraction.length > places) return undefined
  const digits = (integer || '0') + fraction.padEnd(places, '0')
  return digits.replace(/^0+/, '').length > MOST_DIGITS ? undefined : Number(digits)
}
