/** What can be told of an order: the first ones to its buyer, the others to its seller. */
export type BuyerMail =
  | 'receipt'
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
  why?: 'amount' | 'refunded_already' | 'disputed' | 'no_answer'
}

/** The order that a mail is about. */
export interface MailOrder {
  id: string
  email: string
  productName: string
  seller: string
  sellerEmail: string
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
  /** The last receipt was refused by the mail server. */
  bounced: boolean
}

/** What a mail says, but for where its button leads. */
export interface Said {
  subject: string
  title: string
  text: string
  facts: [label: string, value: string][]
}

export const dateTime = (at: Date | null): string =>
  at ? `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC` : ''
