import { unlinked } from '../../kit/mail-layout.ts'

/** What can be told of an order: the first ones to its buyer, the others to its seller. */
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

/** One mail to be sent, and how things stood when it was promised: by the time it is written they can have moved on. */
export interface MailNews {
  kind: BuyerMail | SellerMail
  /** What it is about, in minor units, where that is not the whole order. */
  amountMinor?: number
  /** Of that amount, where money came in another one than was asked for. */
  currency?: string
  /** All that was refunded, with this. */
  refundedMinor?: number
  /** Of a lost dispute: what was on hold for it and is the seller's again. */
  releasedMinor?: number
  /** Of a lost dispute over a part of the price: what becomes of the files. Without it they have ended. */
  files?: 'stay' | 'on_hold'
  /** Of a refund of a part: it was all that lost disputes had left of the price. */
  wasRest?: boolean
  /** Of a lost dispute about money beside the sale: what of it had gone back before, and so left twice. */
  missingMinor?: number
  /** The money came after the order had expired. */
  late?: boolean
  /** Asked for here, and not in the processor's dashboard. */
  byApi?: boolean
  /** Where it goes, when that is not the order's address any more. */
  to?: string
  /** The file that was withdrawn. */
  fileId?: string
  /** Why a refund could not be made, where we know. */
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
  /** The operator has let the seller's own words into subjects and links. */
  isTrusted: boolean
  amountMinor: number
  discountMinor: number
  refundedMinor: number
  currency: string
  statementDescriptor: string
  paidAt: Date | null
  /** The product's picture, where one was uploaded. */
  imageId: string | null
  /** The files are the buyer's, now that the mail is written. */
  delivered: boolean
  /** The file that the news is of, and why it was withdrawn. */
  fileName: string | null
  withdrawnReason: string | null
  /** The last receipt was refused by the mail server, or held back. */
  notReceived: boolean
}

/** What a mail says, but for where its button leads. */
export interface Said {
  subject: string
  title: string
  text: string
  facts: [label: string, value: string][]
}

/** In a subject: what it is about. A stranger's product has no place there: its name could be a message to anybody. */
export const named = ({ isTrusted, productName }: MailOrder, word: 'for' | 'of' = 'for'): string =>
  isTrusted ? ` ${word} ${productName}` : ''

/** The order as its buyer may read of it: of a seller who is not trusted yet, names are short, and no mail client links them. */
export const guarded = (order: MailOrder): MailOrder =>
  order.isTrusted
    ? order
    : {
        ...order,
        productName: unlinked(order.productName),
        seller: unlinked(order.seller),
        supportEmail: unlinked(order.supportEmail),
        statementDescriptor: unlinked(order.statementDescriptor),
        fileName: order.fileName === null ? null : unlinked(order.fileName),
        imageId: null,
      }

export const dateTime = (at: Date | null): string =>
  at ? `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC` : ''
