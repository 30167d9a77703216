import type { Rail } from '../processors/rails.ts'

export type Kind = 'invoice' | 'credit_note' | 'correction'
/** Why a document is issued, and so which kind it is. */
export type Reason = 'sale' | 'refund' | 'chargeback' | 'returned' | 'buyer_details'
export const KIND_OF: Record<Reason, Kind> = {
  sale: 'invoice',
  refund: 'credit_note',
  chargeback: 'credit_note',
  // a credit note was not right after all: the seller has the money again
  returned: 'invoice',
  buyer_details: 'correction',
}

export interface TaxId {
  /** ISO 3166-1, or XI. */
  country: string
  id: string
}

export interface Address {
  /** Street and number, and further lines above the city. */
  address: string[]
  postcode: string
  city: string
  country: string
}

export interface InvoiceSeller extends Address {
  name: string
  email: string
  taxIds: TaxId[]
  note: string | null
}

/** The buyer adds these. Without them an invoice names the mailbox alone. */
export interface BuyerDetails extends Address {
  name: string
  taxId: TaxId | null
}

export type TaxTreatment = 'domestic' | 'oss' | 'reverse_charge' | 'outside' | 'exempt'

/** All that a document shows, as it was when it was issued. Stored with it, so every field that is added later is optional. */
export interface InvoiceData {
  seller: InvoiceSeller
  /** `country`: the one that the buyer declared with the order. `taxId`: the one with which the buyer ordered. */
  buyer: { email: string; details: BuyerDetails | null; country?: string | undefined; taxId?: TaxId | undefined }
  line: { name: string }
  /** The tax as the order has it. Null: nothing is said about tax. */
  tax: { rate: string; country: string | null; treatment: TaxTreatment } | null
  /** The language, as a tag. */
  locale: string
  /** ISO 8601: when the books got the sale. Older documents of a bank's payment have when it began. */
  paidAt: string
  rail: Rail | null
}

/** The buyer's tax id that a document shows. */
export const taxIdOf = ({ details, taxId }: InvoiceData['buyer']): TaxId | undefined => details?.taxId ?? taxId

/** The treatments for which `tax.country` is the buyer's. For the others it is the seller's, wherever the buyer is. */
const AT_THE_BUYER: ReadonlySet<TaxTreatment> = new Set(['oss', 'outside', 'reverse_charge'])

/** The country of a buyer who has added no address. Undefined: the document does not know it. */
export const buyerCountryOf = ({ buyer, tax }: InvoiceData): string | undefined =>
  buyer.country ?? (tax && AT_THE_BUYER.has(tax.treatment) ? (tax.country ?? undefined) : undefined)

/** A document with the one it refers to. */
export interface Invoice {
  id: string
  sellerId: string
  orderId: string
  kind: Kind
  reason: Reason
  number: string
  issuedAt: Date
  amountMinor: number
  currency: string
  taxMinor: number | null
  data: InvoiceData
  refersTo: { number: string; issuedAt: Date } | null
}

/** The XML for machines that is attached. */
export interface Attachment {
  name: string
  xml: string
  /** The metadata for PDF readers (XMP). */
  metadata: string
}
