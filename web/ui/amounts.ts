import { latinDigits } from '../../src/kit/digits.ts'

/** 12 digits: more than any product costs, and far below the numbers at which integers lose their last digit. */
const MOST_DIGITS = 12

/** Groups of three, or of two and then three as in India, all with the same separator. */
const GROUPED = /^\d{1,3}([., '])\d{3}(?:\1\d{3})*$|^\d{1,2}(?:,\d{2})+,\d{3}$/

/** The amount in minor units, or the reason for refusing the text, in a sentence for the person who typed it. */
export type ReadAmount = { minor: number; fault?: undefined } | { minor?: undefined; fault: string }

/** The sentences for a text that is refused, and the function that puts values into their places. */
export interface AmountWords {
  words: Record<'amountMissing' | 'amountTwoMeanings' | 'amountDecimals' | 'amountNoDecimals' | 'amountTooMuch', string>
  say: (text: string, values: Record<string, string | number>) => string
}

/**
 * Reads an amount that a person typed, in a currency with `places` decimals: "9", "$9", "9,50", "1,234.50", "1.234,50".
 * It refuses a text that can mean two amounts ("12.345" is twelve dollars to some and twelve thousand to others),
 * because a wrong guess takes a thousand times too much.
 */
export function readAmount(typed: string, currency: string, places: number, { words, say }: AmountWords): ReadAmount {
  const example = (950 / 10 ** places).toFixed(places)
  const noAmount = { fault: say(words.amountMissing, { currency, example }) }
  const text = withoutCurrency(withPlainSpaces(withLatinMarks(typed)).replace(/’/g, "'").trim(), currency)
  const [, head = '', mark, tail = ''] = /^(.*)([.,])(.*)$/.exec(text) ?? [text, text]
  // A mark that comes twice separates groups: a number has at most one decimal mark.
  let [whole, decimals] = mark && !head.includes(mark) ? [head, tail] : [text, '']
  // Three digits after the only mark are thousands to one reader and decimals to another.
  if (mark && decimals.length === 3 && /^[1-9]\d{0,2}$/.test(whole) && /^\d+$/.test(decimals)) {
    if (places === 0 && mark === ',') [whole, decimals] = [text, '']
    else if (places !== 3 || mark === ',')
      return { fault: say(words.amountTwoMeanings, twoMeanings(whole, decimals, places)) }
  }
  if (!/^\d*$/.test(decimals) || !(GROUPED.test(whole) || /^\d*$/.test(whole))) return noAmount
  const integer = whole.replace(/\D/g, '')
  if (integer + decimals === '') return noAmount
  if (decimals.length > places)
    return { fault: say(places > 0 ? words.amountDecimals : words.amountNoDecimals, { currency, count: places }) }
  const digits = (integer + decimals.padEnd(places, '0')).replace(/^0+(?=\d)/, '')
  return digits.length > MOST_DIGITS ? { fault: words.amountTooMuch } : { minor: Number(digits) }
}

/** A keyboard for Arabic or Hindi writes its own digits, and Arabic has marks of its own for decimals and for thousands. */
const withLatinMarks = (text: string): string => latinDigits(text).replaceAll('٫', '.').replaceAll('٬', ',')

/** Browsers write no-break spaces into amounts, and into the sign of the West African franc. */
function withPlainSpaces(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/**
 * Removes the currency's own code or sign from one end. The sign of another currency stays, so the rest refuses the
 * text.
 */
function withoutCurrency(text: string, currency: string): string {
  const [sign, long] = (['narrowSymbol', 'symbol'] as const).map((currencyDisplay) => {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay })
    return format.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? ''
  })
  const names = [
    currency,
    ...(currency === 'INR' ? ['Rs.', 'Rs'] : []),
    `${currency.slice(0, 2)}${sign}`,
    long ?? '',
    sign ?? '',
  ]
  for (const name of names.map((one) => withPlainSpaces(one).toUpperCase())) {
    if (name && text.toUpperCase().startsWith(name)) return text.slice(name.length).trim()
    if (name && text.toUpperCase().endsWith(name)) return text.slice(0, -name.length).trim()
  }
  return text
}

function twoMeanings(whole: string, decimals: string, places: number): { large: string; small: string } {
  const large = `${whole},${decimals}${places > 0 ? `.${'0'.repeat(places)}` : ''}`
  return { large, small: places > 0 ? `${whole}.${decimals.slice(0, places)}` : whole }
}
