// Written by `npm run client-types` from the schemas of the routes.

export interface Balance {
  items: {
    /** ISO 4217, upper case. */
    currency: string
    /** sales − fees − refunds − disputes, in minor units. */
    balance: number
    /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
    sales: number
    /** Those taken, less what came back of them. */
    fees: number
    /** Those made, less those that failed afterwards. */
    refunds: number
    /** Money that banks hold or have taken back. */
    disputes: number
  }[]
}

export interface CreatedOrder {
  orderId: string
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** The discount of the code. The full price is this and `amount` together. */
  discountAmount?: number
  /** ISO 4217, upper case. */
  currency: string
  /** The line that the bank prints for a card payment: 5 to 22 characters. */
  statementDescriptor: string
  /** The state of the order. */
  status:
    | 'pending'
    | 'processing'
    | 'paid'
    | 'partially_refunded'
    | 'refunded'
    | 'disputed'
    | 'charged_back'
    | 'expired'
    | 'needs_review'
  /** For the payment form. Present only when card payments are live. */
  clientSecret?: string
  publishableKey?: string
  processor?: string
  /** To be sent with the address when the status is asked for: then wrong addresses that others try do not lock this buyer out. It opens nothing without the address. */
  statusToken: string
}

export interface Discount {
  id: string
  /** The code as the seller typed it. */
  code: string
  /** Absent when the code applies to all products. */
  productId?: string
  percentOff?: number
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amountOff?: number
  currency?: string
  limit?: number
  /** Orders that use the code and have not expired, paid or not. */
  uses: number
  /** ISO 8601 in UTC with milliseconds. */
  startsAt?: string
  /** ISO 8601 in UTC with milliseconds. */
  expiresAt?: string
  active: boolean
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
}

export interface Download {
  fileId: string
  name: string
  /** Bytes. */
  size: number
  sha256: string
  contentType: string
  /** Works for one hour. Read the status again for a new link. */
  url: string
  /** ISO 8601 in UTC with milliseconds. */
  expiresAt: string
}

export interface File {
  id: string
  name: string
  /** Bytes. */
  size: number
  /** Hex. */
  sha256: string
  contentType: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
}

export interface Images {
  '320': string
  '640': string
  '1280': string
  /** A JPEG of 1200 by 630, for link previews and mails. */
  preview: string
}

export interface NewDiscount {
  /** The code as buyers type it: letters, digits and hyphens. Case does not matter. */
  code: string
  /** The code applies to this product only. Without it, to all your products. */
  productId?: string
  /** The discount is rounded down to the minor unit. */
  percentOff?: number
  /** Integer minor units of `currency`. */
  amountOff?: number
  /** Required with `amountOff`. The code applies only to prices in this currency. */
  currency?: string
  /** The most orders that can use the code. An order that expires unpaid gives its use back. */
  limit?: number
  /** ISO 8601 with an offset. */
  startsAt?: string
  /** ISO 8601 with an offset. */
  expiresAt?: string
}

export interface NewOrder {
  /** Which product is bought. Its price is ours to say. */
  productId: string
  /** The buyer's address. */
  email: string
  /** Read only where the product is pay-what-you-want; the least that it may be had for when not there. */
  chosenAmount?: number
  /** A seller’s code; case does not matter. */
  discountCode?: string
}

export interface NewProduct {
  /** One line of 1 to 200 characters. We trim it. */
  name: string
  /** Plain text of up to 5,000 characters. Line breaks stay. */
  description?: string
  /** The price in integer minor units. 0 is free. With `payWhatYouWant` it is the lowest price. */
  amount: number
  /** ISO 4217, upper case. Existing orders keep their currency. */
  currency: string
  /** Only `draft`, which is the default: a new product has no files, and a product without files is not for sale. */
  status?: 'draft' | 'active'
  /** The buyer chooses the price, from `amount` up. */
  payWhatYouWant?: boolean
  /** With `payWhatYouWant`: the price that the page suggests, not below `amount`. Null removes it. */
  suggestedAmount?: number | null
  /** The part of the statement descriptor after the service’s prefix and "* ". At least 2 of A-Z, 0-9, space, point and hyphen; it has a letter, and begins with a letter or a digit. The whole descriptor has at most 22 characters. By default we make it from the product’s first name. An order cuts a longer one at a word. */
  statementSuffix?: string
}

export interface NewRefund {
  /** Integer minor units of the order’s currency. Without it, all that is left is refunded. */
  amount?: number
  /** A note for yourself. The buyer does not see it. */
  reason?: string
}

export interface Order {
  orderId: string
  status:
    | 'pending'
    | 'processing'
    | 'paid'
    | 'partially_refunded'
    | 'refunded'
    | 'disputed'
    | 'charged_back'
    | 'expired'
    | 'needs_review'
  email: string
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** What we take of it, in minor units. Null: it was not paid, so there is no fee. */
  fee: number | null
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  refundedAmount: number
  /** What the bank took back of the price by a lost dispute, beside what was refunded. */
  chargedBackAmount?: number
  /** What a code took off the price. */
  discountAmount?: number
  discountCode?: string
  rail: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet' | null
  product: {
    id: string
    /** As it was when it was bought. */
    name: string
  }
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  paidAt: string | null
  /** There while it is `processing` and the bank has said no after all: the buyer was told, and may pay again. */
  paymentFailed?: boolean
  /** Bounced: the mail server refused the address. Held: not mailed, since too many mails about free orders were. None: not paid, so there is none to send. */
  receipt: 'sent' | 'bounced' | 'held' | 'none'
}

export interface OrderDetail {
  orderId: string
  status:
    | 'pending'
    | 'processing'
    | 'paid'
    | 'partially_refunded'
    | 'refunded'
    | 'disputed'
    | 'charged_back'
    | 'expired'
    | 'needs_review'
  email: string
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** What we take of it, in minor units. Null: it was not paid, so there is no fee. */
  fee: number | null
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  refundedAmount: number
  /** What the bank took back of the price by a lost dispute, beside what was refunded. */
  chargedBackAmount?: number
  /** What a code took off the price. */
  discountAmount?: number
  discountCode?: string
  rail: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet' | null
  product: {
    id: string
    /** As it was when it was bought. */
    name: string
  }
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  paidAt: string | null
  /** There while it is `processing` and the bank has said no after all: the buyer was told, and may pay again. */
  paymentFailed?: boolean
  /** Bounced: the mail server refused the address. Held: not mailed, since too many mails about free orders were. None: not paid, so there is none to send. */
  receipt: 'sent' | 'bounced' | 'held' | 'none'
  /** What the buyer’s bank statement says. */
  statementDescriptor: string
  /** What the order has done to the balance so far, in minor units. */
  netAmount: number
  timeline: {
    /** ISO 8601 in UTC with milliseconds. */
    at: string
    what: string
  }[]
  refunds: Refund[]
  transfers: Transfer[]
  files: {
    id: string
    name: string
    size: number
  }[]
  /** The files that the operator has recalled. No buyer can download them. */
  withdrawnFiles?: WithdrawnFile[]
  /** There while the reader of `pendingEmail` has confirmed it and the old mailbox can still keep the order. */
  emailMove?: {
    /** Three days after the mail server of the old mailbox took our question. Null: it has not taken it, or the order needs consent. */
    movesAt: string | null
    /** The old mailbox has kept the order before: it moves by the consent of that mailbox alone. */
    needsConsent: boolean
  }
  /** An address that the order is to have, once whoever reads it has confirmed it. */
  pendingEmail?: string
  /** The page of the order, for its buyer. */
  orderUrl: string
}

export interface OrderStatus {
  orderId: string
  /** The state of the order. */
  status:
    | 'pending'
    | 'processing'
    | 'paid'
    | 'partially_refunded'
    | 'refunded'
    | 'disputed'
    | 'charged_back'
    | 'expired'
    | 'needs_review'
  /** The files are the buyer’s: paid, and not paid back. */
  paid: boolean
  /** While it is `pending` or `processing`: whether the buyer may pay now. False while a bank is at work on a payment, since another one could be paid twice; true again when that bank has said no. */
  canPay?: boolean
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** Only once paid, and only with the matching address. */
  downloads: Download[]
  /** The files that the operator has recalled. No buyer can download them. */
  withdrawnFiles?: WithdrawnFile[]
  /** When to ask again; null when nothing will change by itself. */
  nextPollMs: number | null
  /** With sync=1: whether the processor was asked just now. */
  synced?: boolean
  statementDescriptor?: string
  /** To be sent with the address when the status is asked for: then wrong addresses that others try do not lock this buyer out. It opens nothing without the address. */
  statusToken?: string
  /** Only with the matching address. */
  seller?: {
    name: string
    /** Where buyers reach the seller. */
    supportEmail: string
  }
  product?: {
    id: string
    name: string
  }
  /** How it was paid, as the processor says. */
  rail?: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet' | null
  /** ISO 8601 in UTC with milliseconds. */
  createdAt?: string
  paidAt?: string | null
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  refundedAmount?: number
  /** What the bank took back of the price by a lost dispute, beside what was refunded. */
  chargedBackAmount?: number
  /** There when the mail server refused the receipt: the address may be mistyped. */
  receiptBounced?: boolean
  /** There when no receipt was mailed, because too many mails about free orders were sent. The files are here all the same, and the receipt can be asked for later. */
  receiptHeld?: boolean
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  discountAmount?: number
  timeline?: {
    /** ISO 8601 in UTC with milliseconds. */
    at: string
    what: string
  }[]
}

export interface Product {
  id: string
  sellerId: string
  name: string
  description: string
  /** Only an active product is for sale. Buyers of an archived product keep the files. */
  status: 'draft' | 'active' | 'archived'
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** The buyer chooses the price, from `amount` up. */
  payWhatYouWant: boolean
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  suggestedAmount?: number
  statementSuffix: string
  /** In the order in which buyers see them. */
  files: File[]
  /** The files that the operator has recalled. No buyer can download them. */
  withdrawnFiles?: WithdrawnFile[]
  /** The largest of `images`, or a picture on another server. */
  imageUrl?: string
  images?: Images
  /** The hosted page where buyers pay, once the product is active. */
  payUrl: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  /** ISO 8601 in UTC with milliseconds. */
  updatedAt: string
}

export interface ProductChange {
  /** One line of 1 to 200 characters. We trim it. */
  name?: string
  /** Plain text of up to 5,000 characters. Line breaks stay. */
  description?: string
  /** The price in integer minor units. 0 is free. With `payWhatYouWant` it is the lowest price. */
  amount?: number
  /** ISO 4217, upper case. Existing orders keep their currency. */
  currency?: string
  /** Only an active product is for sale. Buyers of an archived product keep the files. */
  status?: 'draft' | 'active' | 'archived'
  /** The buyer chooses the price, from `amount` up. */
  payWhatYouWant?: boolean
  /** With `payWhatYouWant`: the price that the page suggests, not below `amount`. Null removes it. */
  suggestedAmount?: number | null
  /** The part of the statement descriptor after the service’s prefix and "* ". At least 2 of A-Z, 0-9, space, point and hyphen; it has a letter, and begins with a letter or a digit. The whole descriptor has at most 22 characters. By default we make it from the product’s first name. An order cuts a longer one at a word. */
  statementSuffix?: string
}

export interface PublicProduct {
  id: string
  name: string
  description: string
  /** The price in minor units; where payWhatYouWant, the least that may be given. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** It costs nothing: its order is paid at once. */
  free: boolean
  /** The buyer says how much, by the order’s chosenAmount. */
  payWhatYouWant: boolean
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  suggestedAmount?: number
  /** There are discount codes that are good for it. */
  takesCode?: boolean
  /** With a valid discountCode. */
  discount?: {
    code: string
    /** Rounded down to the minor unit. */
    percentOff?: number
    /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
    amountOff: number
    /** What is left of the price. */
    amount: number
  }
  /** The largest of `images`, or a picture on another server. */
  imageUrl?: string
  images?: Images
  seller: {
    name: string
  }
  /** The ways to pay that are offered for this product. */
  rails: ('card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet')[]
  payments: {
    /** Whether a payment can be started here now. */
    live: boolean
    /** Which payment form a browser needs. */
    processor?: string
  }
}

export interface Refund {
  id: string
  orderId: string
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** Pending until the payment processor has made the refund, which can take days. */
  status: 'pending' | 'succeeded' | 'failed'
  /** Whether you asked for the refund here, or made it in the payment processor’s dashboard. */
  origin: 'api' | 'dashboard'
  reason?: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
}

export interface Transfer {
  id: string
  /** `fee_refund`: the share of the fee that came back with a refund or a lost dispute. `fee_again`: that share once more, since the refund failed or the dispute’s money came back. `held_loss`: what a bank took of a payment beside the sale that had been sent back. */
  kind:
    | 'sale'
    | 'fee'
    | 'refund'
    | 'fee_refund'
    | 'refund_failed'
    | 'fee_again'
    | 'dispute_hold'
    | 'dispute_release'
    | 'dispute_return'
    | 'held_loss'
    | 'held_loss_back'
  orderId: string
  /** What it does to the balance, in minor units: below zero, it takes. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  /** What your account held in this currency after it, in minor units. A sale and its fee are booked at once, so both say what was held after both. Absent where only one order’s transfers are asked for. */
  balance?: number
}

export interface WithdrawnFile {
  id: string
  name: string
  /** One line: the reason that the mail to buyers gives. */
  reason: string
  /** ISO 8601 in UTC with milliseconds. */
  withdrawnAt: string
}

export interface Api {
  /** What your account holds, in each currency */
  'GET /api/balance': {
    query: Record<string, never>
    body: undefined
    answer: Balance
  }
  /** How an order stands */
  'GET /api/checkout/{}/status': {
    query: {
      /** The order's address: with it the answer is complete. */
      email?: string
      /** 1: ask the payment processor now, if it was not just asked. */
      sync?: string
      /** To be sent with the address when the status is asked for: then wrong addresses that others try do not lock this buyer out. It opens nothing without the address. */
      token?: string
    }
    body: undefined
    answer: OrderStatus
  }
  /** Your discount codes */
  'GET /api/discounts': {
    query: {
      /** The code applies to this product only. Without it, to all your products. */
      productId?: string
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
    }
    body: undefined
    answer: {
      items: Discount[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** Your orders */
  'GET /api/orders': {
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
      /** The inclusive start: 2026-11-01, or 2026-11-01T09:30:00Z. A day begins at midnight UTC. */
      from?: string
      /** The exclusive end, in the form of `from`. */
      to?: string
      /** As `Accept: text/csv`, for a link: all of them, for a spreadsheet. */
      format?: 'csv'
      status?:
        | 'pending'
        | 'processing'
        | 'paid'
        | 'partially_refunded'
        | 'refunded'
        | 'disputed'
        | 'charged_back'
        | 'expired'
        | 'needs_review'
      rail?: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet'
      productId?: string
      /** The whole address of a buyer. */
      email?: string
      /** As it is typed: the beginning of an address or of an order’s id, or a part of a product’s name. */
      q?: string
    }
    body: undefined
    answer: {
      items: Order[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** One of your orders, with all that happened to it */
  'GET /api/orders/{}': {
    query: Record<string, never>
    body: undefined
    answer: OrderDetail
  }
  /** Your products, newest first */
  'GET /api/products': {
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
      /** Only an active product is for sale. Buyers of an archived product keep the files. */
      status?: 'draft' | 'active' | 'archived'
      /** A part of the name. Case does not matter. */
      q?: string
    }
    body: undefined
    answer: {
      items: Product[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** One of your products */
  'GET /api/products/{}': {
    query: Record<string, never>
    body: undefined
    answer: Product
  }
  /** A product that is for sale */
  'GET /api/products/{}/public': {
    query: {
      /** A seller’s code; case does not matter. */
      discountCode?: string
    }
    body: undefined
    answer: PublicProduct
  }
  /** What your balance is made of */
  'GET /api/transfers': {
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
      /** The inclusive start: 2026-11-01, or 2026-11-01T09:30:00Z. A day begins at midnight UTC. */
      from?: string
      /** The exclusive end, in the form of `from`. */
      to?: string
      /** As `Accept: text/csv`, for a link: all of them, for a spreadsheet. */
      format?: 'csv'
      currency?: string
      orderId?: string
    }
    body: undefined
    answer: {
      items: Transfer[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** Change a product */
  'PATCH /api/products/{}': {
    query: Record<string, never>
    body: ProductChange
    answer: Product
  }
  /** Rename a file, or change its place */
  'PATCH /api/products/{}/files/{}': {
    query: Record<string, never>
    body: {
      /** The name that all buyers see, also earlier ones, and the name of the downloaded file. */
      name?: string
      /** Its place among the files of the product: 1 is the first. A place beyond the end is the last. */
      position?: number
    }
    answer: File
  }
  /** Create an order */
  'POST /api/checkout': {
    query: Record<string, never>
    body: NewOrder
    answer: CreatedOrder
  }
  /** Create a discount code */
  'POST /api/discounts': {
    query: Record<string, never>
    body: NewDiscount
    answer: Discount
  }
  /** Refund an order, all of it or a part */
  'POST /api/orders/{}/refunds': {
    query: Record<string, never>
    body: NewRefund
    answer: Refund
  }
  /** Create a product */
  'POST /api/products': {
    query: Record<string, never>
    body: NewProduct
    answer: Product
  }
  /** Add a file to a product */
  'POST /api/products/{}/files': {
    query: {
      /** The name that buyers see, and the name of the downloaded file. */
      name: string
      /** Hex. If present, the server checks it. */
      sha256?: string
      /** The file that this one replaces. Buyers of the old file keep it. */
      replaces?: string
    }
    body: unknown
    answer: {
      id: string
      name: string
      /** Bytes. */
      size: number
      /** Hex, computed by the server. */
      sha256: string
      /** Detected from the content, not from the name. */
      contentType: string
      /** ISO 8601 in UTC with milliseconds. */
      createdAt: string
    }
  }
}

/** Why the service refuses. */
export type RefusalCode =
  | 'amount_not_payable'
  | 'amount_too_small'
  | 'bad_request'
  | 'body_too_large'
  | 'cannot_take_payment'
  | 'card_number_refused'
  | 'changed_meanwhile'
  | 'checksum_mismatch'
  | 'database_unavailable'
  | 'discount_code_taken'
  | 'discount_not_valid'
  | 'file_not_found'
  | 'file_too_large'
  | 'file_withdrawn'
  | 'idempotency_key_reused'
  | 'internal_error'
  | 'length_required'
  | 'malformed_body'
  | 'not_signed_in'
  | 'order_not_found'
  | 'order_not_refundable'
  | 'origin_not_allowed'
  | 'payment_closed'
  | 'processor_unavailable'
  | 'product_has_no_files'
  | 'product_not_found'
  | 'quota_exceeded'
  | 'rate_limited'
  | 'refund_too_large'
  | 'session_conflict'
  | 'storage_full'
  | 'storage_unavailable'
  | 'unsupported_media_type'
  | 'validation_failed'
