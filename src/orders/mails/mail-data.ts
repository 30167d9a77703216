import { shortNumber } from '../../kit/order-number.ts'
import { unlinked } from '../../kit/mail-layout.ts'
import type { StoredConsent } from '../consents/consents.ts'
import type { OrderInvoice } from '../invoice-links.ts'
import type { OrderTax } from '../new-order.ts'
import type { Rail } from '../../processors/rails.ts'
import type { Brand } from '../../sellers/brand.ts'

/** The mails about an order: to its buyer, and to its seller. */
export type BuyerMail =
  | 'receipt'
  | 'payment_failed'
  | 'refunded'
  | 'refund_failed'
  | 'duplicate_refunded'
  | 'payment_returned'
  | 'needs_review'
  | 'disputed'
  | 'dispute_won'
  | 'dispute_lost'
  | 'email_changed'
  | 'file_withdrawn'
export type SellerMail =
  | 'seller_cannot_be_paid'
  | 'seller_amount_not_taken'
  | 'seller_paid_late'
  | 'seller_needs_review'
  | 'seller_refunded'
  | 'seller_refund_failed'
  | 'seller_refund_unconfirmed'
  | 'seller_return_failed'
  | 'seller_disputed'
  | 'seller_dispute_won'
  | 'seller_dispute_lost'
  | 'seller_dispute_returned'
  | 'seller_withdrawn'

/** The data of a mail job, from the moment when the mail was enqueued. The order can have changed when the mail is written. */
export interface MailData {
  kind: BuyerMail | SellerMail
  /** The amount that the mail is about, if it is not the whole order's. */
  amountMinor?: number
  /** The currency of that amount, if the money came in another one than the order's. */
  currency?: string
  /** The entry in the books that the mail is about. Absent in a mail that an earlier release has enqueued. */
  cause?: string
  /** The total of all refunds, with this one. */
  refundedMinor?: number
  /** For a lost dispute: the amount that was on hold and returns to the seller. */
  releasedMinor?: number
  /** For a lost dispute over a part of the price: what happens to the files. If absent, they are no longer available. */
  files?: 'stay' | 'on_hold'
  /** For a refund of a part: it was all that lost disputes had left of the price. */
  wasRest?: boolean
  /** For a lost dispute about a capture that is not the sale: the amount that had been sent back before, and so left twice. */
  missingMinor?: number
  /** The money came after the order had expired. */
  late?: boolean
  /** The seller requested the refund here, and not in the processor's dashboard. */
  byApi?: boolean
  /** The recipient, if it is not the order's present address. */
  to?: string
  /** The file that was recalled. */
  fileId?: string
  /** Why a refund failed, if known. */
  why?: 'amount' | 'refunded_already' | 'disputed' | 'charged_back' | 'no_answer'
}

/** The order that a mail is about. */
export interface MailOrder {
  id: string
  email: string
  productId: string
  productName: string
  seller: string
  sellerEmail: string
  /** Where buyers reach the seller. */
  supportEmail: string
  /** The operator trusts the seller, so mails can have the seller's own words in subjects and links. */
  isTrusted: boolean
  amountMinor: number
  discountMinor: number
  refundedMinor: number
  currency: string
  /** The line on the buyer's statement. Null: it is not ours, or the order was free. */
  statementDescriptor: string | null
  paidAt: Date | null
  /** The product's picture. */
  imageId: string | null
  /** The order's state lets the buyer download files at the moment when the mail is written. */
  isOpen: boolean
  /** The names of the first files of the order, and the number of all. A mail for an untrusted seller names none. */
  fileNames: string[]
  fileCount: number
  /** `isOpen`, and there are files. */
  delivered: boolean
  rail: Rail | null
  /** The language of the mails to the buyer. Null: English. */
  locale: string | null
  /** The buyer agreed to these before the order. */
  consents: StoredConsent[] | null
  brand: Brand
  invoices: OrderInvoice[] | null
  tax: OrderTax | null
  /** The recalled file, and the reason. */
  fileName: string | null
  recallReason: string | null
  /** The mail server refused the last receipt, or it was held back. */
  notReceived: boolean
}

/** The texts of a mail, without its button. */
export interface MailText {
  subject: string
  title: string
  text: string
  facts: [label: string, value: string][]
}

/** The order as a mail to its buyer names it. Names of an untrusted seller are cut, and no mail client makes links of them. */
export const withGuardedNames = (order: MailOrder): MailOrder =>
  order.isTrusted
    ? order
    : {
        ...order,
        productName: unlinked(order.productName),
        seller: unlinked(order.seller),
        supportEmail: unlinked(order.supportEmail),
        statementDescriptor: order.statementDescriptor === null ? null : unlinked(order.statementDescriptor),
        fileName: order.fileName === null ? null : unlinked(order.fileName),
        imageId: null,
        fileNames: [],
        brand: {},
      }

/** The number that people read out, and the whole one. */
export const numberOf = ({ id }: Pick<MailOrder, 'id'>): string => `${shortNumber(id)} (${id})`

export const dateTime = (at: Date | null): string =>
  at ? `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC` : ''
