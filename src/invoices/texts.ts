import { type Locale, localeOfTag } from '../kit/locales.ts'
import { formatMoney } from '../kit/money.ts'
import { shortNumber } from '../kit/order-number.ts'
import type { Catalogue } from '../words/catalogues.ts'
import { say } from '../words/say.ts'
import { type Address, type Invoice, type InvoiceData, taxIdOf } from './document.ts'

// The texts of a document, in its language. The PDF draws them.

type Words = Catalogue['invoice']

export interface InvoiceTexts {
  title: string
  /** Which document it is about, or takes the place of. */
  about: string | undefined
  facts: [label: string, value: string][]
  seller: string[]
  buyer: string[]
  line: string
  amount: string
  /** The last one is the total. */
  sums: [label: string, value: string][]
  notes: string[]
}

/** The language of a document. */
export const localeOfInvoice = ({ data }: Pick<Invoice, 'data'>): Locale => localeOfTag(data.locale) ?? 'en'

export function textsOf(invoice: Invoice, words: Words): InvoiceTexts {
  const { kind, reason, number, issuedAt, orderId, refersTo, data } = invoice
  const locale = localeOfInvoice(invoice)
  const date = (at: Date | string) => dateIn(locale, new Date(at))
  const about = { sale: undefined, refund: words.refers, chargeback: words.refers, returned: words.returned, buyer_details: words.corrects }[reason] // oxfmt-ignore
  const lines = { sale: '{product}', buyer_details: '{product}', refund: words.refundLine, chargeback: words.chargebackLine, returned: words.returnedLine } // oxfmt-ignore
  const paid = kind === 'credit_note' ? words.creditedOn : words.paidOn
  const paidAt = kind === 'credit_note' ? issuedAt : data.paidAt
  return {
    title: { invoice: words.invoice, credit_note: words.creditNote, correction: words.correction }[kind],
    about: about && refersTo ? say(about, { number: refersTo.number, date: date(refersTo.issuedAt) }) : undefined,
    facts: [
      [words.number, number],
      [words.issued, date(issuedAt)],
      [words.supplied, date(data.paidAt)],
      [words.order, shortNumber(orderId)],
    ],
    seller: sellerLines(invoice, words),
    buyer: buyerLines(data.buyer, locale, words),
    line: say(lines[reason], { product: data.line.name }),
    amount: priceText(invoice, invoice.amountMinor),
    sums: sumsOf(invoice, words),
    notes: [
      ...(data.tax?.treatment === 'reverse_charge' ? [words.reverseCharge] : []),
      ...(reason === 'returned' ? [] : [say(paid, { date: date(paidAt) })]),
      ...(data.seller.note ? [data.seller.note] : []),
    ],
  }
}

function sellerLines({ data: { seller, locale } }: Invoice, words: Words): string[] {
  return [
    seller.name,
    ...addressLines(seller, localeOfTag(locale) ?? 'en'),
    seller.email,
    ...seller.taxIds.map(({ id }) => `${words.taxId}: ${id}`),
  ]
}

function buyerLines(buyer: InvoiceData['buyer'], locale: Locale, words: Words): string[] {
  const { email, details } = buyer
  const id = taxIdOf(buyer)
  const taxId = id ? [`${words.taxId}: ${id.id}`] : []
  if (!details) return [email, ...taxId]
  return [details.name, ...addressLines(details, locale), email, ...taxId]
}

const addressLines = ({ address, postcode, city, country }: Address, locale: Locale): string[] => [
  ...address,
  [postcode, city].filter(Boolean).join(' '),
  new Intl.DisplayNames([locale], { type: 'region' }).of(country) ?? country,
]

function sumsOf(invoice: Invoice, words: Words): [string, string][] {
  const { amountMinor, taxMinor, data } = invoice
  const total: [string, string] = [words.total, priceText(invoice, amountMinor)]
  if (taxMinor === null || !data.tax) return [total]
  const locale = localeOfInvoice(invoice)
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 3 })
  const rate = percent.format(Number(data.tax.rate) / 100)
  const tax = [data.tax.country, rate].filter(Boolean).join(' ')
  return [
    [words.net, priceText(invoice, amountMinor - taxMinor)],
    [say(words.tax, { rate: tax }), priceText(invoice, taxMinor)],
    total,
  ]
}

/** Signs that several currencies share. */
const SHARED_SIGNS = /[$£¥￥]|kr/i

/** With the code of the currency where its sign has several meanings. */
function priceText({ currency, data }: Invoice, minor: number): string {
  const shown = formatMoney(minor, currency, localeOfInvoice({ data }))
  return SHARED_SIGNS.test(shown) && !shown.includes(currency) ? `${shown} ${currency}` : shown
}

const dateIn = (locale: Locale, at: Date): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(at)
