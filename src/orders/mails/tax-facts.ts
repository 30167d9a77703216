import { formatMoney } from '../../kit/money.ts'
import type { Reading } from '../../words/mail-language.ts'
import { percentText } from '../../words/say.ts'
import type { MailOrder } from './mail-data.ts'

/** Countries whose tax has this name in every language. */
const GST: ReadonlySet<string> = new Set(['AU', 'IN', 'NZ', 'SG'])

/** The tax within the price. Nothing is said where there is none. */
export function taxFacts(
  { tax, currency }: Pick<MailOrder, 'tax' | 'currency'>,
  { words, locale }: Reading,
): [label: string, value: string][] {
  if (!tax?.minor) return []
  const name = GST.has(tax.country) ? 'GST' : words.ui.vat
  const amount = formatMoney(tax.minor, currency, locale)
  return [[`${name} ${percentText(tax.rate, locale)} (${tax.country})`, amount]]
}
