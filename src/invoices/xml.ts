import { decimalText } from '../kit/money.ts'
import { isEu } from '../tax-ids/check.ts'
import { type Address, type Attachment, type Invoice, type TaxId, buyerCountryOf, taxIdOf } from './document.ts'

/** UNTDID 1001. A corrected invoice takes the place of the one that it names. */
const TYPE_CODES = { invoice: '380', credit_note: '381', correction: '384' }
/** UNTDID 4461: a card, or an online payment service. */
const CARDS: ReadonlySet<string> = new Set(['card', 'debit', 'apple_pay', 'google_pay'])
const NAME = 'factur-x.xml'
const NAMESPACES =
  'xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100" xmlns:qdt="urn:un:unece:uncefact:data:standard:QualifiedDataType:100" xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"'

export const xmlAttachment = (invoice: Invoice): Attachment => ({ name: NAME, xml: invoiceXml(invoice), metadata: XMP })

/**
 * A document as UN/CEFACT Cross Industry Invoice, profile EN 16931 of Factur-X 1.07 and ZUGFeRD 2.3. The standard wants one category of
 * tax: an order about whose tax nothing is said has `O`, not subject to tax.
 */
export function invoiceXml(invoice: Invoice): string {
  const { kind, number, issuedAt } = invoice
  return [
    `<?xml version="1.0" encoding="UTF-8"?>\n<rsm:CrossIndustryInvoice ${NAMESPACES}>`,
    '<rsm:ExchangedDocumentContext>',
    tag('ram:GuidelineSpecifiedDocumentContextParameter', tag('ram:ID', 'urn:cen.eu:en16931:2017')),
    '</rsm:ExchangedDocumentContext><rsm:ExchangedDocument>',
    text('ram:ID', number),
    tag('ram:TypeCode', TYPE_CODES[kind]),
    tag('ram:IssueDateTime', date('udt', issuedAt)),
    invoice.data.seller.note ? tag('ram:IncludedNote', text('ram:Content', invoice.data.seller.note)) : '',
    '</rsm:ExchangedDocument><rsm:SupplyChainTradeTransaction>',
    lineItem(invoice),
    agreement(invoice),
    tag('ram:ApplicableHeaderTradeDelivery', tag('ram:ActualDeliverySupplyChainEvent', tag('ram:OccurrenceDateTime', date('udt', new Date(invoice.data.paidAt))))), // oxfmt-ignore
    settlement(invoice),
    '</rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>\n',
  ].join('')
}

interface Tax {
  category: 'S' | 'Z' | 'E' | 'AE' | 'O'
  rate: string
  reason?: { text: string; code?: string }
}

/** The category of EN 16931 (UNTDID 5305), and why there is no tax where there is none. */
function taxOf({ data: { tax, seller } }: Invoice): Tax {
  const none = { rate: '0' }
  if (!tax) return { ...none, category: 'O', reason: { text: seller.note ?? 'No tax is stated', code: 'VATEX-EU-O' } }
  if (tax.treatment === 'outside')
    return { ...none, category: 'O', reason: { text: 'Not subject to tax', code: 'VATEX-EU-O' } }
  if (tax.treatment === 'reverse_charge')
    return { ...none, category: 'AE', reason: { text: 'Reverse charge', code: 'VATEX-EU-AE' } }
  if (tax.treatment === 'exempt') return { ...none, category: 'E', reason: { text: seller.note ?? 'Exempt from tax' } }
  return { rate: tax.rate, category: Number(tax.rate) > 0 ? 'S' : 'Z' }
}

function tradeTax(invoice: Invoice, amounts?: { netMinor: number; taxMinor: number }): string {
  const { category, rate, reason } = taxOf(invoice)
  const why = amounts && reason
  return tag(
    'ram:ApplicableTradeTax',
    amounts ? tag('ram:CalculatedAmount', amount(invoice, amounts.taxMinor)) : '',
    tag('ram:TypeCode', 'VAT'),
    why ? text('ram:ExemptionReason', why.text) : '',
    amounts ? tag('ram:BasisAmount', amount(invoice, amounts.netMinor)) : '',
    tag('ram:CategoryCode', category),
    why?.code ? tag('ram:ExemptionReasonCode', why.code) : '',
    // a sale that is not subject to tax has no rate, not even one of 0
    category === 'O' ? '' : tag('ram:RateApplicablePercent', rate),
  )
}

const amount = ({ currency }: Invoice, minor: number): string => decimalText(minor, currency)
const netOf = ({ amountMinor, taxMinor }: Invoice): number => amountMinor - (taxMinor ?? 0)

function lineItem(invoice: Invoice): string {
  const net = amount(invoice, netOf(invoice))
  return tag(
    'ram:IncludedSupplyChainTradeLineItem',
    tag('ram:AssociatedDocumentLineDocument', tag('ram:LineID', '1')),
    tag('ram:SpecifiedTradeProduct', text('ram:Name', invoice.data.line.name)),
    tag('ram:SpecifiedLineTradeAgreement', tag('ram:NetPriceProductTradePrice', tag('ram:ChargeAmount', net))),
    tag('ram:SpecifiedLineTradeDelivery', '<ram:BilledQuantity unitCode="C62">1</ram:BilledQuantity>'),
    tag(
      'ram:SpecifiedLineTradeSettlement',
      tradeTax(invoice),
      tag('ram:SpecifiedTradeSettlementLineMonetarySummation', tag('ram:LineTotalAmount', net)),
    ),
  )
}

function agreement(invoice: Invoice): string {
  const { seller, buyer } = invoice.data
  const { details, email } = buyer
  const taxId = taxIdOf(buyer)
  const { category } = taxOf(invoice)
  const namesVat = category !== 'O'
  // with reverse charge the seller's number in the EU counts, and the order's stands first
  const home = category === 'AE' ? undefined : seller.country
  const country = buyerCountryOf(invoice.data)
  const buyerAddress = details ? address(details) : country ? tag('ram:PostalTradeAddress', tag('ram:CountryID', country)) : '' // oxfmt-ignore
  return tag(
    'ram:ApplicableHeaderTradeAgreement',
    tag(
      'ram:SellerTradeParty',
      // the standard wants some id of the seller, and not every seller has one for tax
      text('ram:ID', invoice.number.slice(0, invoice.number.indexOf('-'))),
      text('ram:Name', seller.name),
      address(seller),
      mailbox(seller.email),
      registrations(seller.taxIds, namesVat, { home }),
    ),
    tag(
      'ram:BuyerTradeParty',
      text('ram:Name', details?.name ?? email),
      buyerAddress,
      mailbox(email),
      registrations(taxId ? [taxId] : [], namesVat),
    ),
  )
}

const mailbox = (email: string): string =>
  tag('ram:URIUniversalCommunication', `<ram:URIID schemeID="EM">${escaped(email)}</ram:URIID>`)

function address({ address: lines, postcode, city, country }: Address): string {
  const names = ['ram:LineOne', 'ram:LineTwo', 'ram:LineThree']
  // the standard has three lines
  const shown = [...lines.slice(0, 2), lines.slice(2).join(', ')].filter(Boolean)
  return tag(
    'ram:PostalTradeAddress',
    postcode ? text('ram:PostcodeCode', postcode) : '',
    ...shown.map((line, at) => text(names[at]!, line)),
    text('ram:CityName', city),
    tag('ram:CountryID', country),
  )
}

/**
 * One VAT number, which begins with its country, and for a seller one other tax number: of several VAT numbers that of `home`, else one of
 * the EU. An untaxed document may have no VAT number.
 */
function registrations(taxIds: readonly TaxId[], namesVat: boolean, seller?: { home: string | undefined }): string {
  const isVat = ({ country }: TaxId) => isEu(country) || ['XI', 'GB', 'CH', 'NO'].includes(country)
  const vats = taxIds.filter(isVat)
  const vat =
    vats.find(({ country }) => country === seller?.home) ?? vats.find(({ country }) => isEu(country)) ?? vats[0]
  const other = taxIds.find((one) => !isVat(one))
  return [
    vat && namesVat ? `<ram:ID schemeID="VA">${escaped(vat.id)}</ram:ID>` : '',
    other && seller ? `<ram:ID schemeID="FC">${escaped(other.id)}</ram:ID>` : '',
  ]
    .filter(Boolean)
    .map((id) => tag('ram:SpecifiedTaxRegistration', id))
    .join('')
}

function settlement(invoice: Invoice): string {
  const { currency, amountMinor, refersTo, data } = invoice
  const taxMinor = invoice.taxMinor ?? 0
  const net = amount(invoice, netOf(invoice))
  const all = amount(invoice, amountMinor)
  return tag(
    'ram:ApplicableHeaderTradeSettlement',
    tag('ram:InvoiceCurrencyCode', currency),
    tag(
      'ram:SpecifiedTradeSettlementPaymentMeans',
      tag('ram:TypeCode', data.rail && CARDS.has(data.rail) ? '48' : '68'),
    ),
    tradeTax(invoice, { netMinor: netOf(invoice), taxMinor }),
    tag(
      'ram:SpecifiedTradeSettlementHeaderMonetarySummation',
      tag('ram:LineTotalAmount', net),
      tag('ram:TaxBasisTotalAmount', net),
      `<ram:TaxTotalAmount currencyID="${currency}">${amount(invoice, taxMinor)}</ram:TaxTotalAmount>`,
      tag('ram:GrandTotalAmount', all),
      // the money has moved already
      tag('ram:TotalPrepaidAmount', all),
      tag('ram:DuePayableAmount', amount(invoice, 0)),
    ),
    refersTo
      ? tag('ram:InvoiceReferencedDocument', text('ram:IssuerAssignedID', refersTo.number), tag('ram:FormattedIssueDateTime', date('qdt', refersTo.issuedAt))) // oxfmt-ignore
      : '',
  )
}

const date = (prefix: 'udt' | 'qdt', at: Date): string =>
  `<${prefix}:DateTimeString format="102">${at.toISOString().slice(0, 10).replaceAll('-', '')}</${prefix}:DateTimeString>`
const tag = (name: string, ...content: string[]): string => `<${name}>${content.join('')}</${name}>`
const text = (name: string, value: string): string => tag(name, escaped(value))

/** Only characters that XML 1.0 allows. */
const escaped = (value: string): string =>
  value
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

const property = (name: string, description: string): string =>
  `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>${name}</pdfaProperty:name><pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>${description}</pdfaProperty:description></rdf:li>`

/** The metadata for Factur-X: the name of the invoice's attachment, and the schema of these properties: PDF/A allows no unknown ones. */
const XMP = `
        <rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#">
            <fx:DocumentType>INVOICE</fx:DocumentType>
            <fx:DocumentFileName>${NAME}</fx:DocumentFileName>
            <fx:Version>1.0</fx:Version>
            <fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
        </rdf:Description>
        <rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
            <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
                <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
                <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
                <pdfaSchema:prefix>fx</pdfaSchema:prefix>
                <pdfaSchema:property><rdf:Seq>
                    ${property('DocumentFileName', 'The name of the embedded XML document')}
                    ${property('DocumentType', 'The type of the hybrid document in capital letters')}
                    ${property('Version', 'The actual version of the standard applying to the embedded XML document')}
                    ${property('ConformanceLevel', 'The conformance level of the embedded XML document')}
                </rdf:Seq></pdfaSchema:property>
            </rdf:li></rdf:Bag></pdfaExtension:schemas>
        </rdf:Description>`
