// Written by `npm run client-types` from the schemas of the routes.

export interface Api {
  /** How an order stands */
  'GET /api/checkout/{}/status': {
    query: {
      /** The order's address: with it the answer is complete. */
      email?: string
      /** 1: ask the payment processor now, if it was not just asked. */
      sync?: string
    }
    body: undefined
    answer: {
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
      /** While it is not paid: whether a payment may be made now, since no bank is at work on one. */
      canPay?: boolean
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
      /** ISO 4217, upper case. */
      currency: string
      /** Only once paid, and only with the matching address. */
      downloads: {
        fileId: string
        name: string
        /** Bytes. */
        size: number
        sha256: string
        contentType: string
        /** Good for one hour; ask the status again for a new one. */
        url: string
        /** ISO 8601 in UTC with milliseconds. */
        expiresAt: string
      }[]
      /** When to ask again; null when nothing will change by itself. */
      nextPollMs: number | null
      /** With sync=1: whether the processor was asked just now. */
      synced?: boolean
      statementDescriptor?: string
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
      timeline?: {
        /** ISO 8601 in UTC with milliseconds. */
        at: string
        what: string
      }[]
    }
  }
  /** A product that is for sale */
  'GET /api/products/{}/public': {
    query: Record<string, never>
    body: undefined
    answer: {
      id: string
      name: string
      description: string
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
      /** ISO 4217, upper case. */
      currency: string
      imageUrl?: string
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
  }
  /** Create an order */
  'POST /api/checkout': {
    query: Record<string, never>
    body: {
      /** Which product is bought. Its price is ours to say. */
      productId: string
      /** The buyer's address. */
      email: string
    }
    answer: {
      orderId: string
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
      /** ISO 4217, upper case. */
      currency: string
      /** What the bank statement will say. */
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
    }
  }
  /** Refund an order, all of it or a part */
  'POST /api/orders/{}/refunds': {
    query: Record<string, never>
    body: {
      /** Integer minor units of the order’s currency; all that is left when it is not there. */
      amount?: number
      /** Your own words, for yourself: the buyer does not read them. */
      reason?: string
    }
    answer: {
      id: string
      orderId: string
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
      /** ISO 4217, upper case. */
      currency: string
      /** Pending until the payment processor has done it; that can take days. */
      status: 'pending' | 'succeeded' | 'failed'
      /** Whether it was asked for here, or made in the payment processor’s own dashboard. */
      origin: 'api' | 'dashboard'
      reason?: string
      /** ISO 8601 in UTC with milliseconds. */
      createdAt: string
    }
  }
}

/** Why the service refuses. */
export type RefusalCode =
  | 'amount_not_payable'
  | 'body_too_large'
  | 'card_number_refused'
  | 'database_unavailable'
  | 'idempotency_key_reused'
  | 'internal_error'
  | 'malformed_body'
  | 'not_signed_in'
  | 'order_not_found'
  | 'order_not_refundable'
  | 'origin_not_allowed'
  | 'payment_closed'
  | 'processor_unavailable'
  | 'product_not_found'
  | 'rate_limited'
  | 'refund_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
