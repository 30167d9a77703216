import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'
import { extractText, getDocumentProxy } from 'unpdf'
import { validateXML } from 'xmllint-wasm'
import type { Invoice } from '../../src/invoices/document.ts'
import { invoicePdf } from '../../src/invoices/pdf.ts'
import { invoiceXml, xmlAttachment } from '../../src/invoices/xml.ts'
import { LOCALES, type Locale } from '../../src/kit/locales.ts'
import { formatMoney } from '../../src/kit/money.ts'
import { statementPdf } from '../../src/payouts/statement/pdf.ts'
import { catalogueOf } from '../../src/words/catalogues.ts'

// The documents as pure functions of the stored data.

const NAMES: Partial<Record<Locale, string>> = {
  ar: 'كتاب الطبخ',
  he: 'ספר בישול',
  hi: 'हिन्दी व्याकरण',
  ja: '家庭の味',
  ko: '한국어 요리책',
  'zh-Hans': '中文菜谱',
  pl: 'Żółć gęślą jaźń',
  tr: 'Şiir ğüİı',
}

function invoiceOf(locale: Locale, change: Partial<Invoice> = {}, data: Partial<Invoice['data']> = {}): Invoice {
  return {
    id: 'inv_1',
    sellerId: 'sel_1',
    orderId: 'ord_01k9abcdefghjkmnpqrstvwxyz',
    kind: 'invoice',
    reason: 'sale',
    number: 'K7Q2-2026-000123',
    issuedAt: new Date('2026-11-25T01:00:00Z'),
    amountMinor: 123_456,
    currency: 'INR',
    taxMinor: 18_832,
    refersTo: null,
    ...change,
    data: {
      seller: { name: 'Ann Books & Söhne GmbH', address: ['Musterstraße 12'], postcode: '10115', city: 'Berlin', country: 'DE', email: 'ann@shop.example', taxIds: [{ country: 'DE', id: 'DE136695976' }], note: null }, // oxfmt-ignore
      buyer: { email: 'bob@example.com', details: { name: 'Acme <Ltd>', address: ['1 Main Street', 'Accounts'], postcode: 'D01', city: 'Dublin', country: 'IE', taxId: { country: 'IE', id: 'IE6433435F' } } }, // oxfmt-ignore
      line: { name: NAMES[locale] ?? 'Ein Buch über Bücher' },
      tax: { rate: '18', country: 'IE', treatment: 'oss' },
      locale,
      paidAt: '2026-11-24T23:00:00.000Z',
      rail: 'card',
      ...data,
    },
  }
}
const REFERENCE = { number: 'K7Q2-2026-000120', issuedAt: new Date('2026-11-20T01:00:00Z') }

/** Letters alone, in the form before shaping: a PDF has no spaces that one could rely on, and right-to-left text may be turned. */
// pdf.js reads no dotless i, which poppler and people do
const lettersOf = (text: string): string =>
  [...text.normalize('NFKC').replaceAll(/[^\p{L}\p{N}]|ı/gu, '')].sort().join('')

async function textOf(pdf: Buffer): Promise<string> {
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)), { mergePages: true })
  return text
}

for (const locale of LOCALES)
  test(`an invoice in ${locale} has its words, names and amounts, all drawn with letters that exist`, async () => {
    const invoice = invoiceOf(locale)
    const pdf = await invoicePdf(invoice)
    // Arabic letters are drawn from parts, and their text stands beside them
    const text = `${await textOf(pdf)}\n${actualTexts(pdf)}`
    const { invoice: words } = await catalogueOf(locale)
    const lines = text.split('\n').map(lettersOf)
    const has = (wanted: string) =>
      text.includes(wanted) ||
      lines.some((line) => line.includes(lettersOf(wanted)) || isWithin(lettersOf(wanted), line))
    for (const wanted of [
      words.invoice,
      words.seller,
      words.total,
      invoice.data.line.name,
      'K7Q2-2026-000123',
      'Ann Books & Söhne GmbH',
      '1 Main Street',
      'DE136695976',
    ])
      // oxfmt-ignore
      assert.ok(has(wanted), `${wanted} in: ${text}`)
    const price = formatMoney(123_456, 'INR', locale)
    // some languages write INR or Rs
    assert.ok(text.includes(price.match(/₹|[A-Za-z]+/u)![0]), text)
    const digits = (one: string) => one.replaceAll(/\D/g, '')
    assert.ok(digits(text).includes(digits(price)))
    assert.ok(!text.includes('\ufffd') && !text.includes('\0'))
  })

/** The bytes of the attachment. */
function embeddedFile(pdf: Buffer): string {
  const text = pdf.toString('latin1')
  const from = text.indexOf('stream\n', text.indexOf('/Type /EmbeddedFile')) + 'stream\n'.length
  return inflateSync(pdf.subarray(from, text.indexOf('\nendstream', from))).toString()
}

/** The text that a screen reader says instead of the drawn letters (ActualText, UTF-16). */
const actualTexts = (pdf: Buffer): string =>
  [...pdf.toString('latin1').matchAll(/\/ActualText \(\u00fe\u00ff((?:\\[^]|[^\\)])*)\)/g)]
    .map(([, bytes = '']) => {
      const plain = bytes.replaceAll(/\\([^])/g, (_, one: string) => ({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' })[one] ?? one) // oxfmt-ignore
      return Buffer.from(plain, 'latin1').swap16().toString('utf16le')
    })
    .join('\n')

/** Whether all letters of `part` are in `whole`, each as often. Both are sorted. */
function isWithin(part: string, whole: string): boolean {
  let at = 0
  for (const letter of whole) if (letter === part[at]) at++
  return at === [...part].length || at === part.length
}

test('a document is drawn also with letters that the library cannot place', async () => {
  // the last letter of the first, and pause marks of the Quran, have no place for their marks in the face
  for (const word of ['أوليڥ', 'رَيْبَۛ فِيهِۛ', 'اللَّهُۗ', `اللَّهُۗ${'ا'.repeat(150)}`]) {
    const invoice = invoiceOf('ar')
    const { data } = invoice
    const name = `كتاب ${word}`
    const pdf = await invoicePdf({
      ...invoice,
      data: { ...data, line: { ...data.line, name }, seller: { ...data.seller, name } },
    })
    const text = lettersOf(`${await textOf(pdf)}\n${actualTexts(pdf)}`)
    // without their marks, the letters are there
    for (const letter of lettersOf('كتاب')) assert(text.includes(letter), word)
  }
})

test('the same document is the same bytes, PDF/A-3 with the XML in it, tagged and in its language', async () => {
  const invoice = invoiceOf('de')
  const pdf = await invoicePdf(invoice, xmlAttachment(invoice))
  assert.ok(pdf.equals(await invoicePdf(invoice, xmlAttachment(invoice))))
  const document = await getDocumentProxy(new Uint8Array(pdf))
  assert.deepEqual([...((await document.getAttachments()) as unknown as Map<string, unknown>).keys()], ['factur-x.xml'])
  assert.equal(embeddedFile(pdf), invoiceXml(invoice))
  const { metadata } = await document.getMetadata()
  const xmp = metadata!.getRaw() as string
  assert.match(xmp, /<pdfaid:part>3<\/pdfaid:part>/)
  assert.match(xmp, /<fx:ConformanceLevel>EN 16931<\/fx:ConformanceLevel>/)
  assert.match(pdf.toString('latin1'), /\/AFRelationship \/Alternative/)
  assert.match(pdf.toString('latin1'), /\/Lang \(de\)/)
})

test('the metadata of a document and of a payout statement is XML, whatever the names are', async () => {
  const name = 'Ann & Söhne <GmbH>'
  const invoice = invoiceOf('fr')
  const data = { ...invoice.data, seller: { ...invoice.data.seller, name }, line: { name } }
  const day = new Date('2026-11-25T01:00:00Z')
  const payout = { id: 'po_1', by: 'manual', state: 'paid', currency: 'EUR', amountMinor: 100, destination: 'DE … 3000', reference: 'TILL7K3M9QXA', bankReference: null, cutoffAt: day, createdAt: day, sentAt: day, paidAt: day, endedAt: null, failure: null, isCancelled: false } as const // oxfmt-ignore
  const sums = { saleMinor: 100, feeMinor: 0, refundMinor: 0, disputeMinor: 0, netMinor: 100 }
  const statement = { payout, seller: { name, email: 'ann@shop.example' }, service: 'Till & Co', from: day, carriedMinor: 0, orders: [], orderCount: 0, ...sums, others: [], leftMinor: 0 } // oxfmt-ignore
  for (const pdf of [await invoicePdf({ ...invoice, data }, xmlAttachment({ ...invoice, data })), await statementPdf(statement)]) {
    // as it stands in the file, since PDF readers mend it
    const [xmp] = pdf.toString().match(/<\?xpacket begin[^]*<\?xpacket end="w"\?>/)!
    const { errors } = await validateXML({ xml: [{ fileName: 'xmp.xml', contents: xmp }], normalization: 'format' })
    assert.deepEqual(errors, [])
  }
}) // oxfmt-ignore

test('a document of many lines goes on to a second page', async () => {
  const long = Array.from({ length: 350 }, (_, at) => `word${at}`).join(' ')
  const pdf = await invoicePdf(invoiceOf('en', {}, { line: { name: long } }))
  const text = await textOf(pdf)
  assert.ok(text.includes('word349') && text.includes('Page 2 of 2'), text)
})

test('without tax nothing is said about tax; reverse charge only where the treatment says so', async () => {
  const silent = await textOf(await invoicePdf(invoiceOf('en', { taxMinor: null }, { tax: null })))
  assert.doesNotMatch(silent, /Tax \(|Net amount|Reverse charge/)
  const domestic = await textOf(await invoicePdf(invoiceOf('en')))
  assert.match(domestic, /Tax \(IE 18%\)/)
  assert.doesNotMatch(domestic, /Reverse charge/)
  const reverse = invoiceOf('en', { taxMinor: 0 }, { tax: { rate: '0', country: 'IE', treatment: 'reverse_charge' } })
  assert.match(await textOf(await invoicePdf(reverse)), /Reverse charge: the recipient of the service is liable/)
})

test('credit notes and corrected invoices name the invoice that they are about', async () => {
  const credit = invoiceOf('en', { kind: 'credit_note', reason: 'refund', refersTo: REFERENCE, amountMinor: 500 })
  assert.match(await textOf(await invoicePdf(credit)), /Credit note for invoice K7Q2-2026-000120 of November 20, 2026/)
  const correction = invoiceOf('en', { kind: 'correction', reason: 'buyer_details', refersTo: REFERENCE })
  assert.match(await textOf(await invoicePdf(correction)), /Corrects invoice K7Q2-2026-000120 of November 20, 2026/)
})

test('an invoice of money that came again fits a failed refund and a bank that gives back, in every language', async () => {
  const returned = invoiceOf('en', { reason: 'returned', refersTo: REFERENCE })
  const text = (await textOf(await invoicePdf(returned))).replaceAll(/\s+/g, ' ')
  assert.match(text, /received again\. It is added again to invoice K7Q2-2026-000120 of November 20, 2026/)
  assert.match(text, /Received again: Ein Buch/)
  for (const locale of LOCALES) {
    const { invoice: words } = await catalogueOf(locale)
    const refund = words.refundLine.replace('{product}', '').replace(/\s*[:：]\s*$/, '')
    for (const wording of [words.returned, words.returnedLine])
      assert(!wording.toLowerCase().includes(refund.toLowerCase()), `${locale}: ${wording}`)
  }
})

// The schema of Factur-X 1.07.3, profile EN 16931, as FNFE-MPE and FeRD publish it.
const SCHEMAS = new URL('factur-x/', import.meta.url)
const schemaFiles = fs.readdirSync(SCHEMAS).map((fileName) => ({
  fileName,
  contents: fs.readFileSync(fileURLToPath(new URL(fileName, SCHEMAS)), 'utf8'),
}))
const MAIN = 'Factur-X_1.07.3_EN16931.xsd'

async function faultsOf(xml: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: 'factur-x.xml', contents: xml }],
    schema: schemaFiles.filter(({ fileName }) => fileName === MAIN),
    preload: schemaFiles.filter(({ fileName }) => fileName !== MAIN),
  })
  return errors.map(({ message }) => message)
}

test('the XML of every kind, treatment and party fits the schema of EN 16931, and its sums add up', async () => {
  const treatments = ['domestic', 'oss', 'reverse_charge', 'outside', 'exempt'] as const
  const nobody = { buyer: { email: 'bob@example.com', details: null } }
  const cases = [
    ...treatments.map((treatment) => invoiceOf('de', { taxMinor: treatment === 'domestic' || treatment === 'oss' ? 18_832 : 0 }, { tax: { rate: '18', country: 'IE', treatment } })), // oxfmt-ignore
    invoiceOf('ja', { currency: 'JPY', taxMinor: null }, { tax: null, ...nobody }),
    invoiceOf('ar', { currency: 'KWD', kind: 'credit_note', reason: 'refund', refersTo: REFERENCE }),
    invoiceOf('en', { kind: 'correction', reason: 'buyer_details', refersTo: REFERENCE }, { rail: 'upi' }),
    invoiceOf('hi', {}, { line: { name: 'a\u0001b & <c> "d"' }, seller: { ...invoiceOf('hi').data.seller, postcode: '', address: ['a', 'b', 'c', 'd', 'e'], taxIds: [{ country: 'IN', id: '27AAPFU0939F1ZV' }, { country: 'FR', id: 'FR40303265045' }], note: 'GST' } }), // oxfmt-ignore
  ]
  for (const invoice of cases) {
    const xml = invoiceXml(invoice)
    assert.deepEqual(await faultsOf(xml), [], xml)
    const value = (name: string) => Number(new RegExp(`<ram:${name}[^>]*>([\\d.]+)<`).exec(xml)![1])
    const cents = (amount: number) => Math.round(amount * 1000)
    assert.equal(cents(value('TaxBasisTotalAmount')) + cents(value('TaxTotalAmount')), cents(value('GrandTotalAmount')))
    assert.equal(value('DuePayableAmount'), 0)
  }
  // the check finds the faults
  assert.notDeepEqual(await faultsOf(invoiceXml(cases[0]!).replace(/<ram:InvoiceCurrencyCode>.*?<\/ram:InvoiceCurrencyCode>/, '')), []) // oxfmt-ignore
})

test('the XML names the buyer’s country only where the document knows it: the tax can be the seller’s country’s', () => {
  const buyerOf = (tax: Invoice['data']['tax'], buyer: Partial<Invoice['data']['buyer']> = {}) => {
    const xml = invoiceXml(invoiceOf('en', {}, { tax, buyer: { email: 'bob@example.com', details: null, ...buyer } }))
    const party = xml.slice(xml.indexOf('<ram:BuyerTradeParty>'), xml.indexOf('</ram:BuyerTradeParty>'))
    return /<ram:CountryID>(\w+)</.exec(party)?.[1]
  }
  for (const treatment of ['oss', 'outside', 'reverse_charge'] as const)
    assert.equal(buyerOf({ rate: '0', country: 'IE', treatment }), 'IE')
  for (const treatment of ['domestic', 'exempt'] as const) {
    assert.equal(buyerOf({ rate: '0', country: 'DE', treatment }), undefined)
    assert.equal(buyerOf({ rate: '0', country: 'DE', treatment }, { country: 'FR' }), 'FR')
    assert.equal(buyerOf({ rate: '0', country: 'DE', treatment }, invoiceOf('en').data.buyer), 'IE')
  }
  // Monaco has the tax of France
  assert.equal(buyerOf({ rate: '20', country: 'FR', treatment: 'oss' }, { country: 'MC' }), 'MC')
  assert.equal(buyerOf(null), undefined)
})

test('the XML says which kind it is, whom it is about, and gives a reason where there is no tax', () => {
  const xml = invoiceXml(invoiceOf('en', { kind: 'correction', reason: 'buyer_details', refersTo: REFERENCE, taxMinor: 0 }, { tax: { rate: '0', country: 'IE', treatment: 'reverse_charge' } })) // oxfmt-ignore
  for (const part of [
    '<ram:TypeCode>384</ram:TypeCode>',
    '<ram:IssuerAssignedID>K7Q2-2026-000120</ram:IssuerAssignedID>',
    '<ram:CategoryCode>AE</ram:CategoryCode>',
    'VATEX-EU-AE',
    '<ram:ID schemeID="VA">DE136695976</ram:ID>',
    '<ram:ID schemeID="VA">IE6433435F</ram:ID>',
    'Acme &lt;Ltd&gt;',
  ])
    // oxfmt-ignore
    assert.ok(xml.includes(part), `${part} in ${xml}`)
  // of several VAT numbers: the one at home; with reverse charge the first of the EU, which is the order's
  const ids = { GB: 'GB980780684', CH: 'CHE107787577', FR: 'FR40303265045', DE: 'DE136695976' }
  const named = (country: string, treatment: 'domestic' | 'reverse_charge', numbers: (keyof typeof ids)[]) => {
    const { data } = invoiceOf('en')
    const seller = { ...data.seller, country, taxIds: numbers.map((one) => ({ country: one, id: ids[one] })) }
    return /schemeID="VA">(\w\w)/.exec(
      invoiceXml(invoiceOf('en', {}, { seller, tax: { rate: '0', country: 'IE', treatment } })),
    )![1]
  }
  assert.equal(named('DE', 'domestic', ['GB', 'FR', 'DE']), 'DE')
  assert.equal(named('DE', 'domestic', ['GB', 'CH', 'FR']), 'FR')
  assert.equal(named('GB', 'domestic', ['DE', 'GB']), 'GB')
  assert.equal(named('US', 'domestic', ['GB', 'CH']), 'GB')
  assert.equal(named('GB', 'reverse_charge', ['GB', 'DE']), 'DE')
  assert.equal(named('DE', 'reverse_charge', ['FR', 'GB', 'DE']), 'FR')
  // a sale outside the tax names no VAT number (BR-O-02)
  const silent = invoiceXml(invoiceOf('en', { taxMinor: null }, { tax: null }))
  assert.ok(silent.includes('<ram:CategoryCode>O</ram:CategoryCode>') && !silent.includes('schemeID="VA"'))
})
