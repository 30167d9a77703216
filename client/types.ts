// Written by `npm run client-types` from the schemas of the routes.

export interface ApiKey {
  id: string
  name: string
  /** `till_live_`, or `till_test_` where the service takes no real payments. */
  prefix: string
  /** The last four characters of the newest secret. */
  lastFour: string
  status: 'active' | 'expired' | 'revoked'
  scopes: (
    | 'products:read'
    | 'products:write'
    | 'files:read'
    | 'files:write'
    | 'discounts:read'
    | 'discounts:write'
    | 'orders:read'
    | 'orders:write'
    | 'refunds:read'
    | 'refunds:write'
    | 'balance:read'
    | 'balance:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'exports:read'
    | 'exports:write'
    | 'keys:read'
    | 'keys:write'
  )[]
  /** The products that the key is bound to. Null: all of yours. */
  productIds: string[] | null
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  /** Null: never. */
  expiresAt: string | null
  /** Null: the key was not revoked. */
  revokedAt: string | null
  /** To the hour. Null: never used. */
  lastUsedAt: string | null
  /** The first request of that hour, such as `GET /api/orders`. */
  lastUsedRoute: string | null
  /** The key that made this one. Null: you made it yourself. */
  madeBy: string | null
  /** Older secrets that still work. */
  replaced: {
    lastFour: string
    /** ISO 8601 in UTC with milliseconds. */
    endsAt: string
  }[]
}

export interface Attention {
  /** At most 20, in the order of the values of `what`: disputes first, because a bank waits for an answer. Disputes come oldest first, others newest first. */
  items: {
    what:
      | 'disputed'
      | 'needs_review'
      | 'refund_failed'
      | 'withdrawn'
      | 'receipt_bounced'
      | 'no_files'
      | 'no_payments'
      | 'tax_rate_missing'
      | 'price_not_offered'
      | 'file_withdrawn'
    orderId?: string
    productId?: string
    /** The product’s name; for `tax_rate_missing` the countries. */
    name?: string
    /** The buyer’s address. */
    email?: string
    /** ISO 8601 in UTC with milliseconds. */
    at: string
  }[]
}

export interface Balance {
  items: {
    /** ISO 4217, upper case. */
    currency: string
    /** sales − fees − refunds − disputes − payouts + adjustments, in minor units. */
    balance: number
    /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
    sales: number
    /** All fees, without the parts that came back. */
    fees: number
    /** All refunds, without those that failed afterwards. */
    refunds: number
    /** Money that banks hold or have taken back. */
    disputes: number
    /** Money sent to your bank, without what came back. */
    payouts: number
    /** Corrections by the operator of the service. */
    adjustments: number
    /** The part of the balance that the next payout can take. Negative: refunds after a payout, which the next sales make up for. */
    available: number
    /** The rest of the balance: its holding period has not ended. */
    pending: number
    /** When how much of `pending` becomes available, the first day first. */
    pendingBy: {
      /** A day of UTC, such as 2026-11-23. */
      on: string
      amount: number
    }[]
    /** The part of the balance that refunds under way will take. It is neither available nor pending, and no payout has it. */
    refunding: number
    /** Payouts that have left the balance, and that your bank has not confirmed yet. */
    onTheWay: number
  }[]
}

export interface Brand {
  /** The seller’s logo, at most 400 × 160 pixels. */
  logoUrl?: string
  /** CSS colours for light and dark pages, made of the seller’s accent so that everybody can read them. */
  theme?: {
    accent: string
    accentDeep: string
    onAccent: string
  }
  /** The seller’s own site. */
  websiteUrl?: string
  /** The seller’s terms. */
  termsUrl?: string
  /** The seller’s privacy notice. */
  privacyUrl?: string
  /** The seller’s refund policy, plain text. */
  refundPolicy?: string
  /** The accent colour. */
  accent?: string
  /** Buyers of paid products agree to get the files within the withdrawal period. */
  asksConsent: boolean
}

export interface CreatedOrder {
  orderId: string
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** The discount of the code. The full price is this plus `amount`; where prices are without tax, it is this plus `amount` minus the tax. */
  discountAmount?: number
  /** ISO 4217, upper case. */
  currency: string
  /** Present where the seller has a tax profile and the order costs something. */
  tax?: {
    /** The tax within `amount`, in minor units. */
    amount: number
    /** Percent, such as 19 or 8.875. */
    rate: number
    /** The country that gets the tax. For `outside` and `reverse_charge`: the buyer’s country. */
    country: string
    /** Why this rate. `domestic`: of the seller’s country. `oss`: of the buyer’s country, by the EU’s one-stop-shop. `reverse_charge`: the buyer owes the tax. `outside`: the seller owes no tax for this country. `exempt`: the seller charges no tax. */
    treatment: 'domestic' | 'oss' | 'reverse_charge' | 'outside' | 'exempt'
    /** The tax id with which a business orders. */
    buyerTaxId?: {
      /** The country of the id. */
      country: string
      /** In capitals, without spaces, such as `FR40303265045`. */
      id: string
      /** `valid`: the EU’s register (VIES) knows it. `unchecked`: VIES was not asked, and the tax is as without the id. */
      verdict: 'valid' | 'unchecked'
      /** ISO 8601 in UTC with milliseconds. */
      checkedAt: string
    }
  }
  /** The line that the bank prints for a card payment: 5 to 22 characters. */
  statementDescriptor: string
  /** Present where the line on the buyer’s statement is not `statementDescriptor`, because the processor or the bank chooses it. */
  onStatement?: false
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
  /** For the payment form. Present only when payments are live. */
  clientSecret?: string
  publishableKey?: string
  processor?: string
  /** For the address to which a bank sends the buyer back: as `token` of the status it tells where the order leads on to, and nothing else. */
  returnToken: string
  /** The seller’s connected account, where the payment form pays. */
  account?: string
  /** Send it with the address when you request the status. Then wrong addresses that others try do not lock this buyer out. Without the address it opens nothing. */
  statusToken: string
  /** The hosted page of this order: send the buyer there to pay it. The part behind the “#” is a secret of the order. It pays the order and opens no files. */
  payUrl: string
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
  /** A fixed discount in all its currencies. The first is `amountOff`. */
  amounts?: {
    /** ISO 4217, upper case. */
    currency: string
    /** Integer minor units. A discount that is less than the price is rounded down: in currencies with three decimals to ten minor units, in ariary (MGA) to 5000. */
    amount: number
  }[]
  limit?: number
  /** Orders that use the code and have not expired, paid or not. An order that was paid with another amount no longer counts once all of that money has gone back. */
  uses: number
  /** ISO 8601 in UTC with milliseconds. */
  startsAt?: string
  /** ISO 8601 in UTC with milliseconds. */
  expiresAt?: string
  active: boolean
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
}

export interface DiscountChange {
  active?: boolean
  limit?: number | null
  expiresAt?: string | null
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

export interface Event {
  /** The `webhook-id` of all its deliveries. Remember it, so that you act once. */
  id: string
  type:
    | 'order.paid'
    | 'order.processing'
    | 'order.expired'
    | 'order.needs_review'
    | 'order.refunded'
    | 'order.partially_refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.charged_back'
    | 'order.email_changed'
    | 'order.withdrawn'
    | 'refund.failed'
    | 'file.recalled'
    | 'product.published'
    | 'product.archived'
    | 'endpoint.test'
  /** ISO 8601 in UTC with milliseconds. */
  timestamp: string
  /** Of an `order.…` and of `refund.failed`: `order`, as `GET /api/orders` shows it at that moment, and `sequence`, which counts the events of the order from 1; `refund.failed` has also `refund`, with its `id` and `amount`. Of a `product.…`: `product`. Of `file.recalled`: `file`, `product` and `reason`. */
  data: unknown
  /** You asked for it: nothing happened. */
  test?: true
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

export interface Invoice {
  invoiceId: string
  number: string
  /** `correction`: takes the place of the invoice, with what the buyer has added. */
  kind: 'invoice' | 'credit_note' | 'correction'
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** ISO 8601 in UTC with milliseconds. */
  issuedAt: string
  /** The PDF. Whoever has this address can read it. */
  url: string
  orderId: string
  /** `returned`: a refund of a credit note failed, or a bank gave a charged-back amount back. */
  reason: 'sale' | 'refund' | 'chargeback' | 'returned' | 'buyer_details'
  /** The number of the invoice that it is about. */
  refersTo: string | null
  /** The tax within the amount, if the order has one. */
  taxAmount: number | null
  buyer: {
    email: string
    name?: string
    country?: string
    taxId?: string
    /** The answer of VIES, the EU’s register of VAT numbers. `unavailable`: VIES has not answered yet, and the service asks again. `unchecked`: the service does not ask VIES about this id. */
    taxIdState?: 'valid' | 'invalid' | 'unavailable' | 'unchecked'
  }
}

export interface InvoiceProfile {
  /** New sales get an invoice. */
  on: boolean
  /** The full legal name. */
  name: string
  address: string[]
  /** Empty where there is none. */
  postcode: string
  /** The city. */
  city: string
  /** ISO 3166-1, two letters. `XI` is Northern Ireland, in tax ids only. */
  country: string
  /** VAT numbers, GSTIN and the like, checked by their digits. */
  taxIds: {
    /** ISO 3166-1, two letters. `XI` is Northern Ireland, in tax ids only. */
    country: string
    /** As it is written on letters; spaces and dots do not matter. */
    id: string
  }[]
  /** Stands below the sums, such as the reason why no tax is charged. */
  note?: string
}

export interface ListedInvoice {
  invoiceId: string
  number: string
  /** `correction`: takes the place of the invoice, with what the buyer has added. */
  kind: 'invoice' | 'credit_note' | 'correction'
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** ISO 8601 in UTC with milliseconds. */
  issuedAt: string
  /** The PDF. Whoever has this address can read it. */
  url: string
}

export interface NewDiscount {
  /** The code as buyers type it: letters, digits and hyphens. Case does not matter. */
  code: string
  /** The code applies to this product only. Without it, to all your products. */
  productId?: string
  /** The discount is rounded down to the minor unit. A discount that is less than the price is rounded down: in currencies with three decimals to ten minor units, in ariary (MGA) to 5000. */
  percentOff?: number
  /** Integer minor units of `currency`. A discount that is less than the price is rounded down: in currencies with three decimals to ten minor units, in ariary (MGA) to 5000. */
  amountOff?: number
  /** Required with `amountOff`. The code applies only to prices in this currency. */
  currency?: string
  /** In place of `amountOff` and `currency`: the discount in each currency, once. The code applies only to prices in these currencies. */
  amounts?: {
    /** ISO 4217, upper case. */
    currency: string
    /** Integer minor units. A discount that is less than the price is rounded down: in currencies with three decimals to ten minor units, in ariary (MGA) to 5000. */
    amount: number
  }[]
  /** The most orders that can use the code. An order that expires unpaid gives its use back. */
  limit?: number
  /** ISO 8601 with an offset. */
  startsAt?: string
  /** ISO 8601 with an offset. */
  expiresAt?: string
}

export interface NewOrder {
  /** The product to buy. The server sets its price. */
  productId: string
  /** The buyer's address. */
  email: string
  /** The currency of one of the product’s `prices`. By default that of its default price. */
  currency?: string
  /** The price that the buyer chose, for a product with `payWhatYouWant`. The default is its lowest price. */
  chosenAmount?: number
  /** A seller’s discount code. Case does not matter. */
  discountCode?: string
  /** What the buyer has agreed to, of `consents` of the product. Without one of them: 422 `consent_required`. */
  consents?: {
    textId: string
    /** The language in which the buyer read it. */
    locale:
      | 'en'
      | 'de'
      | 'fr'
      | 'es'
      | 'it'
      | 'pt-BR'
      | 'nl'
      | 'pl'
      | 'tr'
      | 'ja'
      | 'ko'
      | 'zh-Hans'
      | 'hi'
      | 'id'
      | 'ar'
      | 'he'
  }[]
  /** The buyer’s country (ISO 3166-1 alpha-2), as the buyer says. A product with `tax` needs it: without it, and without a proxy that names it, 422 `country_required`. */
  country?: string
  /** The tax id of a buyer who buys for a business, of `country`. Where the seller has a tax profile it may change the tax: a business in another EU country than the seller’s owes the tax itself. A wrong id is 422 `tax_id_invalid`, one that VIES does not know 422 `tax_id_not_registered`, and while VIES does not answer it is 503 `tax_id_check_unavailable`. */
  taxId?: string
  /** The buyer stays with `country`, though the connection comes from another one. Without it that is 422 `country_unconfirmed`. */
  countryConfirmed?: boolean
  /** The language of the mails to the buyer, such as `de`. By default, and for one that the service does not speak, that of `Accept-Language`, else English. */
  locale?: string
  /** Your own id of the order, such as a cart or a user. Only the seller sees it. */
  clientReferenceId?: string
  /** Up to 20 texts of your own, 4 kB in all. Only the seller sees them. */
  metadata?: Record<string, string>
  /** Where the hosted page goes on after the payment, with `order` in the query. It lies on a site of the seller. */
  successUrl?: string
  /** Where the hosted page leads back to. It lies on a site of the seller. */
  cancelUrl?: string
}

export interface NewPayoutDetails {
  /** `iban`: an account with an IBAN. `upi`: a UPI id. `india_account`: an Indian account with its IFSC. `other`: the lines that the bank needs, for accounts elsewhere. */
  kind: 'iban' | 'upi' | 'india_account' | 'other'
  /** The holder of the account, as the bank knows it. */
  name: string
  /** With `other`: the country of the account, in two letters. */
  country?: string
  /** With `iban`. Best without spaces. */
  iban?: string
  /** With `iban`, where the bank has one. */
  bic?: string
  /** With `upi`. */
  upiId?: string
  /** With `india_account`: the IFSC and the account number in one. Together, because many account numbers look like the number of a card, and these are refused. */
  account?: string
  /** With `other`: what the bank needs, such as its name, its codes and the account number. */
  lines?: string[]
}

export interface NewProduct {
  /** One line of 1 to 200 characters. We trim it. */
  name: string
  /** Plain text of up to 5,000 characters. Line breaks stay. */
  description?: string
  /** The price in integer minor units. 0 is free. With `payWhatYouWant` it is the lowest price. */
  amount?: number
  /** ISO 4217, upper case. Existing orders keep their currency. */
  currency?: string
  /** All prices, the default one first. It replaces `amount`, `currency` and `suggestedAmount`, which are the default price. Nothing is converted: a buyer pays one of these prices. */
  prices?: {
    /** ISO 4217, upper case. A product has at most one price in a currency. */
    currency: string
    /** Integer minor units. With `payWhatYouWant` it is the amount that the page begins with. */
    amount: number
    /** With `payWhatYouWant`: the lowest price, not above `amount`. By default it is `amount`. */
    minimum?: number
  }[]
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
  /** Integer minor units of the order’s currency. The default is all that is left. */
  amount?: number
  /** A note for yourself. The buyer does not see it. */
  reason?: string
}

export interface NewWebhookEndpoint {
  /** Where we post. It begins with https:// and leads to the public internet. */
  url: string
  /** The types of events to send, or `["*"]` for all, also those of later releases. */
  events: (
    | 'order.paid'
    | 'order.processing'
    | 'order.expired'
    | 'order.needs_review'
    | 'order.refunded'
    | 'order.partially_refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.charged_back'
    | 'order.email_changed'
    | 'order.withdrawn'
    | 'refund.failed'
    | 'file.recalled'
    | 'product.published'
    | 'product.archived'
    | 'endpoint.test'
    | '*'
  )[]
  description?: string
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
  /** Our fee in minor units. Null: the order was not paid, so there is no fee. */
  fee: number | null
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  refundedAmount: number
  /** The part of the price that a bank took back by a lost dispute, without refunds. */
  chargedBackAmount?: number
  /** The discount of the code. */
  discountAmount?: number
  discountCode?: string
  rail: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet' | null
  product: {
    id: string
    /** The name when the order was made. */
    name: string
  }
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  paidAt: string | null
  /** Present while the order is `processing` and the bank has said no after all. The buyer has got a mail and can pay again. */
  paymentFailed?: boolean
  /** The value given when the order was made. */
  clientReferenceId?: string
  /** The value given when the order was made. */
  metadata?: Record<string, string>
  /** `bounced`: the mail server refused the address. `held`: not mailed, because too many mails about free orders had been sent. `none`: the order is not paid. */
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
  /** Our fee in minor units. Null: the order was not paid, so there is no fee. */
  fee: number | null
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  refundedAmount: number
  /** The part of the price that a bank took back by a lost dispute, without refunds. */
  chargedBackAmount?: number
  /** The discount of the code. */
  discountAmount?: number
  discountCode?: string
  rail: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet' | null
  product: {
    id: string
    /** The name when the order was made. */
    name: string
  }
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  paidAt: string | null
  /** Present while the order is `processing` and the bank has said no after all. The buyer has got a mail and can pay again. */
  paymentFailed?: boolean
  /** The value given when the order was made. */
  clientReferenceId?: string
  /** The value given when the order was made. */
  metadata?: Record<string, string>
  /** `bounced`: the mail server refused the address. `held`: not mailed, because too many mails about free orders had been sent. `none`: the order is not paid. */
  receipt: 'sent' | 'bounced' | 'held' | 'none'
  /** Present where the seller has a tax profile and the order costs something. */
  tax?: {
    /** The tax within `amount`, in minor units. */
    amount: number
    /** Percent, such as 19 or 8.875. */
    rate: number
    /** The country that gets the tax. For `outside` and `reverse_charge`: the buyer’s country. */
    country: string
    /** Why this rate. `domestic`: of the seller’s country. `oss`: of the buyer’s country, by the EU’s one-stop-shop. `reverse_charge`: the buyer owes the tax. `outside`: the seller owes no tax for this country. `exempt`: the seller charges no tax. */
    treatment: 'domestic' | 'oss' | 'reverse_charge' | 'outside' | 'exempt'
    /** The tax id with which a business orders. */
    buyerTaxId?: {
      /** The country of the id. */
      country: string
      /** In capitals, without spaces, such as `FR40303265045`. */
      id: string
      /** `valid`: the EU’s register (VIES) knows it. `unchecked`: VIES was not asked, and the tax is as without the id. */
      verdict: 'valid' | 'unchecked'
      /** ISO 8601 in UTC with milliseconds. */
      checkedAt: string
    }
  }
  /** The line on the buyer’s bank statement. */
  statementDescriptor: string
  /** Present where the line on the buyer’s statement is not `statementDescriptor`, because the processor or the bank chooses it. */
  onStatement?: false
  /** The sum of the order’s transfers so far, in minor units, without what only moves between your balance and your own account. */
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
  /** What the buyer agreed to before the order. */
  consents: {
    textId: string
    locale:
      | 'en'
      | 'de'
      | 'fr'
      | 'es'
      | 'it'
      | 'pt-BR'
      | 'nl'
      | 'pl'
      | 'tr'
      | 'ja'
      | 'ko'
      | 'zh-Hans'
      | 'hi'
      | 'id'
      | 'ar'
      | 'he'
    text: string
    /** Of the text in UTF-8. */
    sha256: string
    /** ISO 8601 in UTC with milliseconds. */
    at: string
  }[]
  /** Statements of withdrawal that may be about this order, the newest first. */
  withdrawals: {
    withdrawalId: string
    /** ISO 8601 in UTC with milliseconds. */
    receivedAt: string
    name: string
    /** What the buyer wrote to identify the contract. */
    contract: string
    email: string
    /** It has the number of this order. */
    named: boolean
    /** It has the address of this order. Otherwise somebody else may have made it: ask the buyer. */
    hasAddress: boolean
    daysAfterPayment: number | null
    /** When you said that nothing is left to do. */
    doneAt: string | null
  }[]
  /** Present when the reader of `pendingEmail` has confirmed it and the old mailbox can still keep the order. */
  emailMove?: {
    /** Three days after the mail server of the old mailbox accepted our question. Null: it has not accepted it yet, or the order needs consent. */
    movesAt: string | null
    /** The old mailbox has kept the order before, so the order moves only with that mailbox’s consent. */
    needsConsent: boolean
  }
  /** The new address for the order, which its owner has yet to confirm. */
  pendingEmail?: string
  /** Where the hosted page goes on after the payment. */
  successUrl?: string
  /** Where the hosted page leads back to. */
  cancelUrl?: string
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
  /** The buyer has the files: the order is paid, and the money has not gone back. */
  paid: boolean
  /** Present while the order is `pending` or `processing`: whether the buyer can pay now. False while a bank works on a payment, because the buyer could pay twice. True again after that bank has said no. */
  canPay?: boolean
  /** Present when the order is `needs_review` and all of the money is back or on its way back. The buyer can make a new order. */
  paymentReturned?: boolean
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** Empty until the order is paid, and without the matching address. */
  downloads: Download[]
  /** The files that the operator has recalled. No buyer can download them. */
  withdrawnFiles?: WithdrawnFile[]
  /** Milliseconds until the client should read the status again. Null: nothing will change by itself. */
  nextPollMs: number | null
  /** With `sync=1`: whether this request synced with the processor. */
  synced?: boolean
  statementDescriptor?: string
  /** Present where the line on the buyer’s statement is not `statementDescriptor`, because the processor or the bank chooses it. */
  onStatement?: false
  /** Send it with the address when you request the status. Then wrong addresses that others try do not lock this buyer out. Without the address it opens nothing. */
  statusToken?: string
  /** Present only with the matching address. */
  seller?: {
    name: string
    /** Where buyers reach the seller. */
    supportEmail: string
    /** The seller’s logo, at most 400 × 160 pixels. */
    logoUrl?: string
    /** CSS colours for light and dark pages, made of the seller’s accent so that everybody can read them. */
    theme?: {
      accent: string
      accentDeep: string
      onAccent: string
    }
    /** The seller’s own site. */
    websiteUrl?: string
    /** The seller’s terms. */
    termsUrl?: string
    /** The seller’s privacy notice. */
    privacyUrl?: string
    /** The seller’s refund policy, plain text. */
    refundPolicy?: string
  }
  product?: {
    id: string
    name: string
  }
  /** The rail of the payment, from the processor. */
  rail?: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet' | null
  /** ISO 8601 in UTC with milliseconds. */
  createdAt?: string
  paidAt?: string | null
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  refundedAmount?: number
  /** The part of the price that a bank took back by a lost dispute, without refunds. */
  chargedBackAmount?: number
  /** Present when the mail server refused the receipt. The address may be mistyped. */
  receiptBounced?: boolean
  /** Present when we mailed no receipt, because too many mails about free orders were sent. The files are in the response all the same, and the buyer can request the receipt later. */
  receiptHeld?: boolean
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  discountAmount?: number
  /** Present where the seller has a tax profile and the order costs something. */
  tax?: {
    /** The tax within `amount`, in minor units. */
    amount: number
    /** Percent, such as 19 or 8.875. */
    rate: number
    /** The country that gets the tax. For `outside` and `reverse_charge`: the buyer’s country. */
    country: string
    /** Why this rate. `domestic`: of the seller’s country. `oss`: of the buyer’s country, by the EU’s one-stop-shop. `reverse_charge`: the buyer owes the tax. `outside`: the seller owes no tax for this country. `exempt`: the seller charges no tax. */
    treatment: 'domestic' | 'oss' | 'reverse_charge' | 'outside' | 'exempt'
    /** The tax id with which a business orders. */
    buyerTaxId?: {
      /** The country of the id. */
      country: string
      /** In capitals, without spaces, such as `FR40303265045`. */
      id: string
      /** `valid`: the EU’s register (VIES) knows it. `unchecked`: VIES was not asked, and the tax is as without the id. */
      verdict: 'valid' | 'unchecked'
      /** ISO 8601 in UTC with milliseconds. */
      checkedAt: string
    }
  }
  timeline?: {
    /** ISO 8601 in UTC with milliseconds. */
    at: string
    what: string
  }[]
  /** Present when the seller issues invoices: also the credit notes. */
  invoices?: ListedInvoice[]
  /** Until then the buyer can add a company, address and tax id to the invoice. Absent also after money went back. */
  invoiceDetailsUntil?: string
  /** Where to go on after the payment. */
  successUrl?: string
  /** Where to go back to. */
  cancelUrl?: string
}

export interface PayoutAccount {
  /** `none`: not begun. `open`: the processor does not have all your details. `restricted`: it takes no payments for now. `active`: it takes payments and pays you. */
  state: 'none' | 'open' | 'restricted' | 'active'
  /** The data that the processor still needs, in words. */
  missing: string[]
  /** Whether the processor pays your bank. */
  paysOut: boolean
  /** Your products are not for sale until the account is active. */
  blocksSales: boolean
  /** When the processor last told this. */
  readAt: string | null
}

export interface PayoutDetails {
  /** ISO 4217, upper case. */
  currency: string
  /** `iban`: an account with an IBAN. `upi`: a UPI id. `india_account`: an Indian account with its IFSC. `other`: the lines that the bank needs, for accounts elsewhere. */
  kind: 'iban' | 'upi' | 'india_account' | 'other'
  /** The country of the account, in two letters. */
  country: string
  /** Enough to recognise the account. The rest is encrypted and is never shown again. */
  shown: string
  /** ISO 8601 in UTC with milliseconds. */
  changedAt: string
  /** Payouts go there from this moment: 72 hours after the change. */
  payableFrom: string
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
  /** All prices, each in another currency. The first is the default. */
  prices: {
    /** ISO 4217, upper case. A product has at most one price in a currency. */
    currency: string
    /** Integer minor units. With `payWhatYouWant` it is the amount that the page begins with. */
    amount: number
    /** With `payWhatYouWant`: the lowest price, not above `amount`. By default it is `amount`. */
    minimum?: number
  }[]
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
  /** All prices, the default one first. It replaces `amount`, `currency` and `suggestedAmount`, which are the default price. Nothing is converted: a buyer pays one of these prices. */
  prices?: {
    /** ISO 4217, upper case. A product has at most one price in a currency. */
    currency: string
    /** Integer minor units. With `payWhatYouWant` it is the amount that the page begins with. */
    amount: number
    /** With `payWhatYouWant`: the lowest price, not above `amount`. By default it is `amount`. */
    minimum?: number
  }[]
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
  /** The price in minor units. With `payWhatYouWant`: the lowest price. */
  amount: number
  /** ISO 4217, upper case. */
  currency: string
  /** The prices that buyers can pay, each in another currency. The first is the one to show first: in the currency of the buyer’s country, else the default. Send its currency as `currency` of the order. The fields above and below are of the default price, or of the one in the query’s `currency`. */
  prices: {
    /** ISO 4217, upper case. A product has at most one price in a currency. */
    currency: string
    /** Integer minor units. With `payWhatYouWant` it is the amount that the page begins with. */
    amount: number
    /** With `payWhatYouWant`: the lowest price, not above `amount`. By default it is `amount`. */
    minimum?: number
    /** The rails that this product offers: cards first, then by what is usual in the currency and the buyer’s country. */
    rails: ('card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet')[]
    payments: {
      /** Whether buyers can pay now. */
      live: boolean
      /** The processor whose payment form the browser needs. */
      processor?: string
      /** Present where the line on the buyer’s statement is not `statementDescriptor`, because the processor or the bank chooses it. */
      onStatement?: false
      /** The settings with which the browser can show the payment form before there is an order. With a `discountCode` they are those of an order with this code. */
      form?: {
        publishableKey: string
        /** The seller’s connected account, where the payment form pays. */
        account?: string
        /** The form is given the amount in the processor’s own units. So many are one of our minor units. */
        unitsPerMinor: number
        /** The only payment methods, by the processor’s names. */
        allowedMethods?: string[]
        /** The payment methods left out. */
        excludedMethods?: string[]
      }
    }
  }[]
  /** The product is free: an order is paid at once. */
  free: boolean
  /** The buyer chooses the price, as `chosenAmount` of the order. */
  payWhatYouWant: boolean
  /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
  suggestedAmount?: number
  /** Some discount code applies to the product. */
  takesCode?: boolean
  /** What the buyer has to agree to before the order, each in a box that is not ticked beforehand. In the language of `Accept-Language`. */
  consents?: {
    textId: string
    locale:
      | 'en'
      | 'de'
      | 'fr'
      | 'es'
      | 'it'
      | 'pt-BR'
      | 'nl'
      | 'pl'
      | 'tr'
      | 'ja'
      | 'ko'
      | 'zh-Hans'
      | 'hi'
      | 'id'
      | 'ar'
      | 'he'
    text: string
  }[]
  /** Present with a valid `discountCode`. */
  discount?: {
    code: string
    /** Rounded down to the minor unit. A discount that is less than the price is rounded down: in currencies with three decimals to ten minor units, in ariary (MGA) to 5000. */
    percentOff?: number
    /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
    amountOff: number
    /** The price after the discount. */
    amount: number
  }
  /** Present where the seller has a tax profile. An order then needs the buyer’s `country`, and its `amount` is with tax. The fields from `rate` on are absent where the buyer’s country or its rate is not known. */
  tax?: {
    /** `inclusive`: your prices contain the tax. `exclusive`: the tax comes on top. */
    prices: 'inclusive' | 'exclusive'
    /** Of the query, else of the proxy’s header. */
    buyerCountry?: string
    /** A business in `buyerCountry` owes the tax itself, if VIES knows its VAT number: see `taxId`. */
    takesTaxId?: boolean
    /** As the proxy says. With another `country`, an order needs `countryConfirmed`. */
    seenCountry?: string
    /** Percent, such as 19 or 8.875. */
    rate?: number
    /** The country that gets the tax. For `outside` and `reverse_charge`: the buyer’s country. */
    country?: string
    /** Why this rate. `domestic`: of the seller’s country. `oss`: of the buyer’s country, by the EU’s one-stop-shop. `reverse_charge`: the buyer owes the tax. `outside`: the seller owes no tax for this country. `exempt`: the seller charges no tax. */
    treatment?: 'domestic' | 'oss' | 'reverse_charge' | 'outside' | 'exempt'
    /** The tax id with which a business orders. */
    buyerTaxId?: {
      /** The country of the id. */
      country: string
      /** In capitals, without spaces, such as `FR40303265045`. */
      id: string
      /** `valid`: the EU’s register (VIES) knows it. `unchecked`: VIES was not asked, and the tax is as without the id. */
      verdict: 'valid' | 'unchecked'
      /** ISO 8601 in UTC with milliseconds. */
      checkedAt: string
    }
    /** The tax on the price without a discount, in minor units. */
    amount?: number
  }
  /** The largest of `images`, or a picture on another server. */
  imageUrl?: string
  images?: Images
  seller: {
    name: string
    /** Where buyers reach the seller. Absent before the order, unless the seller has set one. */
    supportEmail?: string
    /** The seller’s logo, at most 400 × 160 pixels. */
    logoUrl?: string
    /** CSS colours for light and dark pages, made of the seller’s accent so that everybody can read them. */
    theme?: {
      accent: string
      accentDeep: string
      onAccent: string
    }
    /** The seller’s own site. */
    websiteUrl?: string
    /** The seller’s terms. */
    termsUrl?: string
    /** The seller’s privacy notice. */
    privacyUrl?: string
    /** The seller’s refund policy, plain text. */
    refundPolicy?: string
  }
  /** The rails that this product offers: cards first, then by what is usual in the currency and the buyer’s country. */
  rails: ('card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet')[]
  payments: {
    /** Whether buyers can pay now. */
    live: boolean
    /** The processor whose payment form the browser needs. */
    processor?: string
    /** Present where the line on the buyer’s statement is not `statementDescriptor`, because the processor or the bank chooses it. */
    onStatement?: false
    /** The settings with which the browser can show the payment form before there is an order. With a `discountCode` they are those of an order with this code. */
    form?: {
      publishableKey: string
      /** The seller’s connected account, where the payment form pays. */
      account?: string
      /** The form is given the amount in the processor’s own units. So many are one of our minor units. */
      unitsPerMinor: number
      /** The only payment methods, by the processor’s names. */
      allowedMethods?: string[]
      /** The payment methods left out. */
      excludedMethods?: string[]
    }
  }
  /** The line that the bank will print for a card payment. */
  statementDescriptor?: string
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
  /** `api`: you requested the refund here. `dashboard`: it was made in the payment processor’s dashboard. */
  origin: 'api' | 'dashboard'
  reason?: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
}

export interface Site {
  host: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
}

export interface Stats {
  /** ISO 8601 in UTC with milliseconds. */
  from: string
  /** ISO 8601 in UTC with milliseconds. */
  to: string
  interval: 'hour' | 'day' | 'week' | 'month'
  timeZone: string
  items: {
    /** ISO 4217, upper case. */
    currency: string
    orders: number
    /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
    amount: number
    /** The fees of these orders, without the parts that came back. */
    fees: number
    /** The money of these orders that went back, by refunds and lost disputes. */
    refunded: number
    /** amount − fees − refunded. */
    net: number
    /** All intervals, also those without orders. */
    buckets: {
      /** ISO 8601 in UTC with milliseconds. */
      at: string
      orders: number
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
    }[]
    rails: {
      rail: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet' | null
      orders: number
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
    }[]
    /** The five products with the highest sums. */
    products: {
      id: string
      name: string
      orders: number
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
    }[]
  }[]
}

export interface TaxProfile {
  /** ISO 3166-1 alpha-2, such as DE. The United Kingdom is GB, Greece is GR. */
  country: string
  /** Your own tax ids, such as DE136695976. VAT numbers are checked by their check digits. */
  taxIds: string[]
  /** You pay the tax of other EU countries through the one-stop-shop. */
  oss: boolean
  /** You charge no tax, for example as a small business. */
  exempt: boolean
  /** `inclusive`: your prices contain the tax. `exclusive`: the tax comes on top. */
  prices: 'inclusive' | 'exclusive'
  /** Which of a country’s rates applies to what you sell: `standard`, or another that the operator has loaded. */
  category: string
}

export interface Transfer {
  id: string
  /** `fee_refund`: the share of the fee that came back with a refund or a lost dispute. `fee_again`: that share again, because the refund failed or the dispute’s money came back. `held_loss`: the amount that a bank took of a payment that was not the sale and had been sent back already. `payout_failed`: the bank refused a payout. `payout_reversed`: a payout came back after it had arrived. `adjustment`: a correction by the operator of the service. */
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
    | 'passed_on'
    | 'passed_back'
    | 'payout'
    | 'payout_failed'
    | 'payout_reversed'
    | 'adjustment'
  /** Null for payouts and adjustments. */
  orderId: string | null
  /** The payout, for transfers of payouts. */
  payoutId?: string
  /** The change of the balance in minor units, negative when money leaves it. */
  amount: number
  /** The money is at your own account at the processor, and in no balance here. */
  isDirect?: boolean
  /** ISO 4217, upper case. */
  currency: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  /** The balance in this currency after the transfer, in minor units. A sale and its fee are booked together, so both have the balance after both. Absent with `orderId`. */
  balance?: number
}

export interface WebhookDelivery {
  eventId: string
  type:
    | 'order.paid'
    | 'order.processing'
    | 'order.expired'
    | 'order.needs_review'
    | 'order.refunded'
    | 'order.partially_refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.charged_back'
    | 'order.email_changed'
    | 'order.withdrawn'
    | 'refund.failed'
    | 'file.recalled'
    | 'product.published'
    | 'product.archived'
    | 'endpoint.test'
  orderId?: string
  /** `failed`: ten tries have failed. A replay sends it again, and so does resuming the endpoint if the last try was part of its outage. */
  status: 'waiting' | 'delivered' | 'failed'
  tries: number
  /** ISO 8601 in UTC with milliseconds. */
  nextTryAt?: string
  lastTry?: {
    /** ISO 8601 in UTC with milliseconds. */
    at: string
    tookMs: number
    /** The receiver’s status, if it answered. */
    status?: number
    /** Absent after a success. `blocked`: the address leads to a private network. `status`: an answer other than 2xx. `secret`: the endpoint needs a new secret. */
    error?: 'dns' | 'tls' | 'timeout' | 'refused' | 'blocked' | 'status' | 'secret'
  }
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
}

export interface WebhookDeliveryDetail {
  eventId: string
  type:
    | 'order.paid'
    | 'order.processing'
    | 'order.expired'
    | 'order.needs_review'
    | 'order.refunded'
    | 'order.partially_refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.charged_back'
    | 'order.email_changed'
    | 'order.withdrawn'
    | 'refund.failed'
    | 'file.recalled'
    | 'product.published'
    | 'product.archived'
    | 'endpoint.test'
  orderId?: string
  /** `failed`: ten tries have failed. A replay sends it again, and so does resuming the endpoint if the last try was part of its outage. */
  status: 'waiting' | 'delivered' | 'failed'
  tries: number
  /** ISO 8601 in UTC with milliseconds. */
  nextTryAt?: string
  lastTry?: {
    /** ISO 8601 in UTC with milliseconds. */
    at: string
    tookMs: number
    /** The receiver’s status, if it answered. */
    status?: number
    /** Absent after a success. `blocked`: the address leads to a private network. `status`: an answer other than 2xx. `secret`: the endpoint needs a new secret. */
    error?: 'dns' | 'tls' | 'timeout' | 'refused' | 'blocked' | 'status' | 'secret'
  }
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  event: Event
  /** The last 50 tries, newest first. */
  log: {
    number: number
    /** ISO 8601 in UTC with milliseconds. */
    at: string
    tookMs: number
    /** The receiver’s status, if it answered. */
    status?: number
    /** Absent after a success. `blocked`: the address leads to a private network. `status`: an answer other than 2xx. `secret`: the endpoint needs a new secret. */
    error?: 'dns' | 'tls' | 'timeout' | 'refused' | 'blocked' | 'status' | 'secret'
    /** The first 2 kB of the answer, or what went wrong. */
    answer: string
  }[]
}

export interface WebhookEndpoint {
  id: string
  url: string
  events: (
    | 'order.paid'
    | 'order.processing'
    | 'order.expired'
    | 'order.needs_review'
    | 'order.refunded'
    | 'order.partially_refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.charged_back'
    | 'order.email_changed'
    | 'order.withdrawn'
    | 'refund.failed'
    | 'file.recalled'
    | 'product.published'
    | 'product.archived'
    | 'endpoint.test'
    | '*'
  )[]
  description: string
  /** `failing`: no try has succeeded since `failingSince`; we go on trying. `paused`: nothing is sent until you resume it, and events wait. */
  status: 'active' | 'failing' | 'paused'
  /** `failing`: for 72 hours. `gone`: the receiver answered 410. */
  pausedBecause?: 'failing' | 'gone'
  /** ISO 8601 in UTC with milliseconds. */
  failingSince?: string
  /** The receiver has answered 429 or 503 and asked us by Retry-After to wait until then. A test or a replay ends the wait. */
  heldUntil?: string
  /** Deliveries that wait for a try. Counted up to 1000. */
  waiting: number
  /** Deliveries of the last 30 days whose tries have all failed. Counted up to 1000. */
  failed: number
  /** Until then the secret before the rotation signs too. */
  oldSecretUntil?: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  /** The key that made the endpoint, or changed its address last. The endpoint stays when the key ends: remove it if you do not know it. */
  madeByKey?: {
    id: string
    /** Absent when the key ended long ago. */
    name?: string
    /** The key was revoked, or has expired. */
    ended: boolean
  }
}

export interface WebhookEndpointChange {
  /** Where we post. It begins with https:// and leads to the public internet. */
  url?: string
  /** The types of events to send, or `["*"]` for all, also those of later releases. */
  events?: (
    | 'order.paid'
    | 'order.processing'
    | 'order.expired'
    | 'order.needs_review'
    | 'order.refunded'
    | 'order.partially_refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.charged_back'
    | 'order.email_changed'
    | 'order.withdrawn'
    | 'refund.failed'
    | 'file.recalled'
    | 'product.published'
    | 'product.archived'
    | 'endpoint.test'
    | '*'
  )[]
  description?: string
}

export interface WebhookEndpointCreated {
  id: string
  url: string
  events: (
    | 'order.paid'
    | 'order.processing'
    | 'order.expired'
    | 'order.needs_review'
    | 'order.refunded'
    | 'order.partially_refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.charged_back'
    | 'order.email_changed'
    | 'order.withdrawn'
    | 'refund.failed'
    | 'file.recalled'
    | 'product.published'
    | 'product.archived'
    | 'endpoint.test'
    | '*'
  )[]
  description: string
  /** `failing`: no try has succeeded since `failingSince`; we go on trying. `paused`: nothing is sent until you resume it, and events wait. */
  status: 'active' | 'failing' | 'paused'
  /** `failing`: for 72 hours. `gone`: the receiver answered 410. */
  pausedBecause?: 'failing' | 'gone'
  /** ISO 8601 in UTC with milliseconds. */
  failingSince?: string
  /** The receiver has answered 429 or 503 and asked us by Retry-After to wait until then. A test or a replay ends the wait. */
  heldUntil?: string
  /** Deliveries that wait for a try. Counted up to 1000. */
  waiting: number
  /** Deliveries of the last 30 days whose tries have all failed. Counted up to 1000. */
  failed: number
  /** Until then the secret before the rotation signs too. */
  oldSecretUntil?: string
  /** ISO 8601 in UTC with milliseconds. */
  createdAt: string
  /** The key that made the endpoint, or changed its address last. The endpoint stays when the key ends: remove it if you do not know it. */
  madeByKey?: {
    id: string
    /** Absent when the key ended long ago. */
    name?: string
    /** The key was revoked, or has expired. */
    ended: boolean
  }
  /** Shown only now. The key of the signatures, `whsec_` and base64. */
  secret: string
}

export interface WithdrawnFile {
  id: string
  name: string
  /** One line: the reason that the mail to buyers gives. */
  reason: string
  /** ISO 8601 in UTC with milliseconds. */
  withdrawnAt: string
}

/** A body that the client sends as it is. Only Node takes iterables itself, so the client makes a stream of them. */
export type Bytes = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export interface Api {
  /** Remove the shop’s logo */
  'DELETE /api/brand/logo': { answer: undefined }
  /** Delete a discount code */
  'DELETE /api/discounts/{discountId}': {
    params: {
      /** The id of the discount. */
      discountId: string
    }
    answer: undefined
  }
  /** Revoke a key */
  'DELETE /api/keys/{keyId}': {
    params: {
      /** The id of the key. */
      keyId: string
    }
    answer: undefined
  }
  /** Remove where the money of a currency goes */
  'DELETE /api/payout-details/{currency}': {
    params: {
      /** ISO 4217, upper case. */
      currency: string
    }
    answer: undefined
  }
  /** Archive a product */
  'DELETE /api/products/{productId}': {
    params: {
      /** The id of the product. */
      productId: string
    }
    answer: undefined
  }
  /** Remove a file from a product */
  'DELETE /api/products/{productId}/files/{fileId}': {
    params: {
      /** The id of the product. */
      productId: string
      /** The id of the file. */
      fileId: string
    }
    answer: undefined
  }
  /** Remove a product’s picture */
  'DELETE /api/products/{productId}/image': {
    params: {
      /** The id of the product. */
      productId: string
    }
    answer: undefined
  }
  /** Remove a site of yours */
  'DELETE /api/sites/{host}': {
    params: {
      /** A host with an optional port. `*.shop.example` has all names below `shop.example`. */
      host: string
    }
    answer: undefined
  }
  /** Remove your tax profile */
  'DELETE /api/tax/profile': {
    answer: {
      /** Null: you have none, and nothing is said about tax. */
      profile: TaxProfile | null
      /** Countries whose rate of your category the operator has not loaded. Buyers there cannot buy from you. */
      missingRates: string[]
    }
  }
  /** Remove an endpoint */
  'DELETE /api/webhook-endpoints/{endpointId}': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    answer: undefined
  }
  /** What your keys have changed */
  'GET /api/activity': {
    query: {
      /** Only what this key has changed. */
      keyId?: string
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
    }
    answer: {
      items: {
        /** ISO 8601 in UTC with milliseconds. */
        at: string
        keyId: string
        keyName: string
        lastFour: string
        method: string
        path: string
        /** The status of the answer. Null: it is not known, because the service ended before it. */
        status: number | null
      }[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** Everything that needs your attention */
  'GET /api/attention': { answer: Attention }
  /** Your balance in each currency */
  'GET /api/balance': { answer: Balance }
  /** Your balance, day by day */
  'GET /api/balance/history': {
    query: {
      /** How many days: 1 to 366, 30 by default. */
      days?: string
    }
    answer: {
      items: {
        /** ISO 4217, upper case. */
        currency: string
        /** The oldest day first. */
        days: {
          /** A day of UTC, such as 2026-11-23. */
          on: string
          /** At the end of the day, in minor units. On the last day: now. */
          balance: number
        }[]
      }[]
    }
  }
  /** How your shop looks to buyers */
  'GET /api/brand': { answer: Brand }
  /** The status of an order */
  'GET /api/checkout/{orderId}/status': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    query: {
      /** The order’s address. The response is complete only with it. */
      email?: string
      /** 1: sync with the processor now, unless that has just happened. */
      sync?: string
      /** 1: while the order waits for its payment, answer when there is news, or after 2 seconds. */
      wait?: string
      /** Send it with the address when you request the status. Then wrong addresses that others try do not lock this buyer out. Without the address it opens nothing. */
      token?: string
    }
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
    answer: {
      items: Discount[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** What happened, oldest first */
  'GET /api/events': {
    query: {
      /** The id of the last event that you have. Without it: the oldest. */
      after?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
    }
    answer: {
      items: Event[]
      /** Ask again at once, with the id of the last item as `after`. */
      hasMore: boolean
    }
  }
  /** Your details on your invoices */
  'GET /api/invoice-profile': {
    answer: {
      profile: InvoiceProfile | null
      /** The first characters of each of your invoice numbers. No other seller has the same. */
      prefix: string | null
    }
  }
  /** Your invoices and credit notes */
  'GET /api/invoices': {
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
      /** Those of one order. */
      orderId?: string
      /** Those of one kind. */
      kind?: 'invoice' | 'credit_note' | 'correction'
      /** Of the number (UTC). */
      year?: string
      /** The same as `Accept: text/csv`, for a link. */
      format?: 'csv'
    }
    answer: {
      items: Invoice[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** Your API keys */
  'GET /api/keys': {
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
    }
    answer: {
      items: ApiKey[]
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
      /** The same as `Accept: text/csv`, for a link. */
      format?: 'csv'
      /** Only orders in this state. */
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
      /** Only orders paid on this rail. */
      rail?: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet'
      /** Only orders of this product. */
      productId?: string
      /** The whole address of a buyer. */
      email?: string
      /** The `clientReferenceId` with which the order was made. */
      clientReferenceId?: string
      /** A search text: the beginning of an address or of an order’s id, the short number of an order (`K4QW-6KFZ`), or a part of a product’s name. */
      q?: string
    }
    answer: {
      items: Order[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** One of your orders, with its history */
  'GET /api/orders/{orderId}': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    answer: OrderDetail
  }
  /** The refunds of an order */
  'GET /api/orders/{orderId}/refunds': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    answer: {
      items: Refund[]
    }
  }
  /** The mails of a service without a mail server, newest first */
  'GET /api/outbox': {
    query: {
      /** Only mails to this address. */
      to?: string
    }
    answer: {
      id: string
      to: string
      subject: string
      text: string
      html: string
      /** ISO 8601 in UTC with milliseconds. */
      sentAt: string
    }[]
  }
  /** Where your money goes */
  'GET /api/payout-details': {
    answer: {
      items: PayoutDetails[]
    }
  }
  /** Your payouts */
  'GET /api/payouts': {
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
      /** The same as `Accept: text/csv`, for a link. */
      format?: 'csv'
      /** Only payouts in this currency. */
      currency?: string
      /** Only payouts in this state. */
      status?: 'approved' | 'sent' | 'paid' | 'failed' | 'reversed'
    }
    answer: {
      items: {
        payoutId: string
        /** `approved`: the amount is reserved, and the operator sends it next. `sent`: given to the bank. `paid`: the bank confirmed it. `failed`: the bank refused it, the operator never sent it (then there is no `sentAt`), or it was `cancelled`. `reversed`: it came back after it had been paid. After the last two the money is in your balance again: at the processor, if a processor paid it. */
        status: 'approved' | 'sent' | 'paid' | 'failed' | 'reversed'
        /** `manual`: the operator paid by bank. Otherwise the processor that the value names paid from your own account there. */
        by: 'manual' | 'stripe-connect' | 'razorpay-route'
        /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
        amount: number
        /** ISO 4217, upper case. */
        currency: string
        /** Where it goes, masked. */
        destination: string
        /** The reference on your bank statement, or the id at the processor for a payout by a processor. */
        reference: string
        /** The number by which your bank shows a payout by a processor: the UTR in India, elsewhere the trace id. Absent while it is not known. */
        bankReference?: string
        /** ISO 8601 in UTC with milliseconds. */
        createdAt: string
        /** ISO 8601 in UTC with milliseconds. */
        sentAt?: string
        /** ISO 8601 in UTC with milliseconds. */
        paidAt?: string
        /** When it failed or came back. ISO 8601 in UTC. */
        endedAt?: string
        /** Why it failed or came back. Absent where the processor does not say why. */
        failure?: string
        /** True: it was cancelled at the processor, and no bank refused it. Otherwise absent. */
        cancelled?: boolean
      }[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** Your account at the processor */
  'GET /api/payouts/account': { answer: PayoutAccount }
  /** Your next payouts */
  'GET /api/payouts/next': {
    answer: {
      /** `manual`: the operator of the service pays by bank. Otherwise the processor pays. */
      by: 'manual' | 'stripe-connect' | 'razorpay-route'
      schedule: 'weekly' | 'monthly'
      /** How many days the money of a sale waits. */
      holdDays: number
      /** The day (UTC) on which the next payouts are proposed, such as 2026-11-30. */
      runOn: string
      items: {
        /** ISO 4217, upper case. */
        currency: string
        /** The amount that will be available when that day begins if nothing else happens, in minor units. Money that becomes available on the day, before the payouts are proposed, comes on top. */
        expected: number
        /** The smallest payout, in minor units. */
        minimum: number
        /** Why nothing would be paid on that day. Null: it would be. `negative_balance`: the amount that can be paid out is below zero, also where pending sales make the balance positive. */
        blocked:
          | 'negative_balance'
          | 'nothing_available'
          | 'below_minimum'
          | 'suspended'
          | 'awaiting_approval'
          | 'no_details'
          | 'details_changed'
          | 'account_refused'
          | null
        /** Your payout details of this currency can be paid from this moment. ISO 8601 in UTC. */
        payableFrom?: string
      }[]
    }
  }
  /** A payout, with its orders */
  'GET /api/payouts/{payoutId}': {
    params: {
      /** The id of the payout. */
      payoutId: string
    }
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
      /** The same as `Accept: text/csv`, for a link. */
      format?: 'csv'
    }
    answer: {
      payoutId: string
      /** `approved`: the amount is reserved, and the operator sends it next. `sent`: given to the bank. `paid`: the bank confirmed it. `failed`: the bank refused it, the operator never sent it (then there is no `sentAt`), or it was `cancelled`. `reversed`: it came back after it had been paid. After the last two the money is in your balance again: at the processor, if a processor paid it. */
      status: 'approved' | 'sent' | 'paid' | 'failed' | 'reversed'
      /** `manual`: the operator paid by bank. Otherwise the processor that the value names paid from your own account there. */
      by: 'manual' | 'stripe-connect' | 'razorpay-route'
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
      /** ISO 4217, upper case. */
      currency: string
      /** Where it goes, masked. */
      destination: string
      /** The reference on your bank statement, or the id at the processor for a payout by a processor. */
      reference: string
      /** The number by which your bank shows a payout by a processor: the UTR in India, elsewhere the trace id. Absent while it is not known. */
      bankReference?: string
      /** ISO 8601 in UTC with milliseconds. */
      createdAt: string
      /** ISO 8601 in UTC with milliseconds. */
      sentAt?: string
      /** ISO 8601 in UTC with milliseconds. */
      paidAt?: string
      /** When it failed or came back. ISO 8601 in UTC. */
      endedAt?: string
      /** Why it failed or came back. Absent where the processor does not say why. */
      failure?: string
      /** True: it was cancelled at the processor, and no bank refused it. Otherwise absent. */
      cancelled?: boolean
      /** The end of the payout before. Null: this is the first one in its currency, or a processor paid it and does not say where it begins. */
      from: string | null
      /** The payout has the money that was available at this moment. Of a payout by a processor: when it was made. ISO 8601 in UTC. */
      until: string
      /** The rest that earlier payouts did not pay. Negative where they could not cover a debt, in minor units. */
      carried: number
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      sales: number
      /** Without the shares that came back, and with the processor’s own fees where a processor paid it, in minor units. */
      fees: number
      /** Negative, in minor units. */
      refunds: number
      /** Disputed money: negative when a bank holds or takes it, positive when a bank gives it back, in minor units. */
      disputes: number
      /** Adjustments by the operator, and payouts that came back to your balance. Of a payout by a processor: its movements that belong to no order here, summed by kind, such as payments from elsewhere, and `at` is the latest of them. */
      others: {
        /** ISO 8601 in UTC with milliseconds. */
        at: string
        what: string
        /** Negative where money was taken, in minor units. */
        amount: number
      }[]
      /** What stays for the next payout. `carried + sales + fees + refunds + disputes + others = amount + left`, in minor units. */
      left: number
      orderCount: number
      /** A page of the orders with money in this payout, in the order in which they were made. A refund can be in a later payout than its sale. */
      orders: {
        orderId: string
        /** ISO 8601 in UTC with milliseconds. */
        soldAt: string
        /** The name when the order was made. */
        product: string
        /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
        sale: number
        /** Negative where the fee was taken, positive where a share of it came back, in minor units. */
        fee: number
        /** Negative, in minor units. */
        refunds: number
        /** Disputed money: negative when a bank holds or takes it, positive when a bank gives it back, in minor units. */
        disputes: number
        /** The sum, in minor units. */
        net: number
      }[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
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
    answer: {
      items: Product[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** One of your products */
  'GET /api/products/{productId}': {
    params: {
      /** The id of the product. */
      productId: string
    }
    answer: Product
  }
  /** A product that is for sale */
  'GET /api/products/{productId}/public': {
    params: {
      /** The id of the product. */
      productId: string
    }
    query: {
      /** A seller’s discount code. Case does not matter. */
      discountCode?: string
      /** The currency of one of the product’s `prices`. By default that of its default price. */
      currency?: string
      /** The buyer’s country, for `tax` and the first of `prices`: ISO 3166-1 alpha-2. */
      country?: string
      /** The tax id of a buyer who buys for a business, of `country`. Where the seller has a tax profile it may change the tax: a business in another EU country than the seller’s owes the tax itself. A wrong id is 422 `tax_id_invalid`, one that VIES does not know 422 `tax_id_not_registered`, and while VIES does not answer it is 503 `tax_id_check_unavailable`. */
      taxId?: string
    }
    answer: PublicProduct
  }
  /** Your own sites */
  'GET /api/sites': {
    answer: {
      items: Site[]
    }
  }
  /** Statistics of your sales */
  'GET /api/stats': {
    query: {
      /** The inclusive start: 2026-11-01, or 2026-11-01T09:30:00Z. A day begins at midnight UTC. */
      from?: string
      /** The exclusive end, in the form of `from`. */
      to?: string
      /** The length of one interval. The default is a day. */
      interval?: 'hour' | 'day' | 'week' | 'month'
      /** The time zone of days, weeks and months: an IANA name such as Europe/Vienna. */
      timeZone?: string
    }
    answer: Stats
  }
  /** Your tax profile */
  'GET /api/tax/profile': {
    answer: {
      /** Null: you have none, and nothing is said about tax. */
      profile: TaxProfile | null
      /** Countries whose rate of your category the operator has not loaded. Buyers there cannot buy from you. */
      missingRates: string[]
    }
  }
  /** The tax of a year, a quarter or a month */
  'GET /api/tax/report': {
    query: {
      /** A year, a quarter or a month: 2026, 2026-Q4, 2026-10. Days are days of UTC. */
      period: string
      /** The same as `Accept: text/csv`, for a link. */
      format?: 'csv'
    }
    answer: {
      period: string
      /** The first day, of UTC. */
      from: string
      /** The last day, of UTC. */
      to: string
      items: {
        country: string
        /** Percent, such as 19 or 8.875. */
        rate: number
        /** Why this rate. `domestic`: of the seller’s country. `oss`: of the buyer’s country, by the EU’s one-stop-shop. `reverse_charge`: the buyer owes the tax. `outside`: the seller owes no tax for this country. `exempt`: the seller charges no tax. */
        treatment: 'domestic' | 'oss' | 'reverse_charge' | 'outside' | 'exempt'
        /** ISO 4217, upper case. */
        currency: string
        /** Orders paid in the period. */
        orders: number
        /** What buyers paid in the period, in minor units. */
        gross: number
        /** The tax within it. */
        tax: number
        /** gross − tax. */
        net: number
        /** What went back in the period by refunds and lost disputes, also of orders paid before. */
        returnedGross: number
        /** The tax within it. */
        returnedTax: number
        /** net, less what went back. */
        dueNet: number
        /** tax, less what went back. */
        dueTax: number
      }[]
    }
  }
  /** The transfers of your account */
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
      /** The same as `Accept: text/csv`, for a link. */
      format?: 'csv'
      /** Only transfers in this currency. */
      currency?: string
      /** Only the transfers of this order. */
      orderId?: string
    }
    answer: {
      items: Transfer[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** Your endpoints */
  'GET /api/webhook-endpoints': {
    answer: {
      items: WebhookEndpoint[]
    }
  }
  /** One of your endpoints */
  'GET /api/webhook-endpoints/{endpointId}': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    answer: WebhookEndpoint
  }
  /** What was sent to an endpoint */
  'GET /api/webhook-endpoints/{endpointId}/deliveries': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    query: {
      /** The `nextCursor` of the page before. */
      cursor?: string
      /** The size of a page: 1 to 100, 25 by default. */
      limit?: string
      /** Only those. */
      status?: 'waiting' | 'delivered' | 'failed'
    }
    answer: {
      items: WebhookDelivery[]
      /** The `cursor` of the next page, or null on the last page. */
      nextCursor: string | null
    }
  }
  /** One delivery, with its body and its last 50 tries */
  'GET /api/webhook-endpoints/{endpointId}/deliveries/{eventId}': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
      /** The id of the event. */
      eventId: string
    }
    answer: WebhookDeliveryDetail
  }
  /** Change how your shop looks to buyers */
  'PATCH /api/brand': {
    body: {
      /** Null: our own colour. */
      accent?: string | null
      /** Your own site. An https address. Null removes it. */
      websiteUrl?: string | null
      /** Your terms. An https address. Null removes it. */
      termsUrl?: string | null
      /** What you do with personal data. An https address. Null removes it. */
      privacyUrl?: string | null
      /** Plain text with line breaks. Null removes it. */
      refundPolicy?: string | null
      /** Buyers of paid products must agree to get the files at once, and so lose the right of withdrawal. For sellers to consumers in the EU. */
      asksConsent?: boolean
    }
    answer: Brand
  }
  /** Change a discount code */
  'PATCH /api/discounts/{discountId}': {
    params: {
      /** The id of the discount. */
      discountId: string
    }
    body: DiscountChange
    answer: Discount
  }
  /** Change a product */
  'PATCH /api/products/{productId}': {
    params: {
      /** The id of the product. */
      productId: string
    }
    headers: {
      /** The `ETag` of the product that the client read. If the product has changed since, the response is 412 and nothing changes. */
      'if-match'?: string
    }
    body: ProductChange
    answer: Product
  }
  /** Rename a file, or change its place */
  'PATCH /api/products/{productId}/files/{fileId}': {
    params: {
      /** The id of the product. */
      productId: string
      /** The id of the file. */
      fileId: string
    }
    body: {
      /** The name that all buyers see, also earlier ones, and the name of the downloaded file. */
      name?: string
      /** Its place among the files of the product: 1 is the first. A place beyond the end is the last. */
      position?: number
    }
    answer: File
  }
  /** Change an endpoint */
  'PATCH /api/webhook-endpoints/{endpointId}': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    body: WebhookEndpointChange
    answer: WebhookEndpoint
  }
  /** Create an order */
  'POST /api/checkout': { body: NewOrder; answer: CreatedOrder }
  /** Confirm the right address of an order */
  'POST /api/checkout/{orderId}/email': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: {
      /** The buyer’s address. We trim it and convert it to lower case. */
      email: string
      /** The six digits. */
      code: string
    }
    answer: {
      moved: boolean
      /** The old mailbox has kept the order before, so the order moves only with that mailbox’s consent. */
      needsConsent: boolean
    }
  }
  /** Let an order move to its new address at once */
  'POST /api/checkout/{orderId}/email/consent': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: {
      /** From the link in the mail. */
      token: string
      /** The six digits. */
      code: string
    }
    answer: Record<string, never>
  }
  /** Keep an order at the address it has */
  'POST /api/checkout/{orderId}/email/keep': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: {
      /** From the link in the mail. */
      token: string
    }
    answer: Record<string, never>
  }
  /** Start the payment of an order by its link */
  'POST /api/checkout/{orderId}/payment': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: {
      /** The part of `payUrl` behind “#p=”. */
      token: string
    }
    answer: {
      orderId: string
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount: number
      /** The discount of the code. The full price is this plus `amount`; where prices are without tax, it is this plus `amount` minus the tax. */
      discountAmount?: number
      /** ISO 4217, upper case. */
      currency: string
      /** Present where the seller has a tax profile and the order costs something. */
      tax?: {
        /** The tax within `amount`, in minor units. */
        amount: number
        /** Percent, such as 19 or 8.875. */
        rate: number
        /** The country that gets the tax. For `outside` and `reverse_charge`: the buyer’s country. */
        country: string
        /** Why this rate. `domestic`: of the seller’s country. `oss`: of the buyer’s country, by the EU’s one-stop-shop. `reverse_charge`: the buyer owes the tax. `outside`: the seller owes no tax for this country. `exempt`: the seller charges no tax. */
        treatment: 'domestic' | 'oss' | 'reverse_charge' | 'outside' | 'exempt'
        /** The tax id with which a business orders. */
        buyerTaxId?: {
          /** The country of the id. */
          country: string
          /** In capitals, without spaces, such as `FR40303265045`. */
          id: string
          /** `valid`: the EU’s register (VIES) knows it. `unchecked`: VIES was not asked, and the tax is as without the id. */
          verdict: 'valid' | 'unchecked'
          /** ISO 8601 in UTC with milliseconds. */
          checkedAt: string
        }
      }
      /** The line that the bank prints for a card payment: 5 to 22 characters. */
      statementDescriptor: string
      /** Present where the line on the buyer’s statement is not `statementDescriptor`, because the processor or the bank chooses it. */
      onStatement?: false
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
      /** For the payment form. Present only when payments are live. */
      clientSecret?: string
      publishableKey?: string
      processor?: string
      /** For the address to which a bank sends the buyer back: as `token` of the status it tells where the order leads on to, and nothing else. */
      returnToken: string
      /** The seller’s connected account, where the payment form pays. */
      account?: string
      /** The product of the order. */
      productId: string
      /** The order’s address with most of its letters left out. */
      emailHint: string
    }
  }
  /** Send the receipt again */
  'POST /api/checkout/{orderId}/receipt': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: {
      /** The buyer's address. */
      email: string
      /** Send it with the address when you request the status. Then wrong addresses that others try do not lock this buyer out. Without the address it opens nothing. */
      token?: string
    }
    answer: Record<string, never>
  }
  /** Create a discount code */
  'POST /api/discounts': { body: NewDiscount; answer: Discount }
  /** Make an API key */
  'POST /api/keys': {
    body: {
      /** Where the key is used. */
      name: string
      /** What the key may do. `write` does not include `read`. `files:read`, `balance:write`, `exports:write` open nothing yet. */
      scopes: (
        | 'products:read'
        | 'products:write'
        | 'files:read'
        | 'files:write'
        | 'discounts:read'
        | 'discounts:write'
        | 'orders:read'
        | 'orders:write'
        | 'refunds:read'
        | 'refunds:write'
        | 'balance:read'
        | 'balance:write'
        | 'webhooks:read'
        | 'webhooks:write'
        | 'exports:read'
        | 'exports:write'
        | 'keys:read'
        | 'keys:write'
      )[]
      /** When the key ends. Without it: after 90 days. Null: never. */
      expiresAt?: string | null
      /** Binds the key to these products, their files, codes and orders. Without it the key is for all of your products. */
      productIds?: string[]
    }
    answer: {
      key: ApiKey
      /** The key itself. Only this answer has it: we store a hash of it. */
      secret: string
    }
  }
  /** Give a key a new secret */
  'POST /api/keys/{keyId}/roll': {
    params: {
      /** The id of the key. */
      keyId: string
    }
    body: {
      /** How long the old secret works beside the new one. 0 ends it at once. */
      overlapHours: number
    }
    answer: {
      key: ApiKey
      /** The key itself. Only this answer has it: we store a hash of it. */
      secret: string
    }
  }
  /** Correct a buyer’s mistyped address */
  'POST /api/orders/{orderId}/email': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: {
      /** The buyer’s address. We trim it and convert it to lower case. */
      email: string
    }
    answer: {
      /** The buyer’s address. We trim it and convert it to lower case. */
      email: string
    }
  }
  /** Send the buyer the receipt again */
  'POST /api/orders/{orderId}/receipt': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    answer: Record<string, never>
  }
  /** Refund an order, all of it or a part */
  'POST /api/orders/{orderId}/refunds': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: NewRefund
    answer: Refund
  }
  /** Nothing is left to do about a withdrawal */
  'POST /api/orders/{orderId}/withdrawals/done': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    answer: {
      changed: boolean
    }
  }
  /** Open or complete your account at the processor */
  'POST /api/payouts/account': {
    answer: {
      url: string
    }
  }
  /** Create a product */
  'POST /api/products': { body: NewProduct; answer: Product }
  /** Add a file to a product */
  'POST /api/products/{productId}/files': {
    params: {
      /** The id of the product. */
      productId: string
    }
    query: {
      /** The name that buyers see, and the name of the downloaded file. */
      name: string
      /** Hex. If present, the server checks it. */
      sha256?: string
      /** The file that this one replaces. Buyers of the old file keep it. */
      replaces?: string
    }
    body: Bytes
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
  /** Pay, in the sandbox */
  'POST /api/sandbox/confirm': {
    body: {
      clientSecret: string
      rail: 'card' | 'debit' | 'bank_transfer' | 'upi' | 'apple_pay' | 'google_pay' | 'wallet'
      scenario?:
        | 'success'
        | 'decline'
        | 'delayed'
        | 'delayed_decline'
        | 'lost_webhook'
        | 'repeated_webhook'
        | 'reordered_webhook'
        | 'late_success'
        | 'wrong_amount'
        | 'double_capture'
        | 'slow_refund'
        | 'failed_refund'
        | 'bounced_refund'
    }
    answer: {
      status: 'captured' | 'processing'
    }
  }
  /** Dispute a payment, and let the bank decide */
  'POST /api/sandbox/dispute': {
    body: {
      clientSecret: string
      outcome: 'open' | 'won' | 'lost'
    }
    answer: {
      outcome: string
    }
  }
  /** Send money back, as in the processor’s dashboard */
  'POST /api/sandbox/refund': {
    body: {
      clientSecret: string
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      amount?: number
    }
    answer: {
      /** Integer minor units of the currency: 1900 with USD is $19.00, 500 with JPY is ¥500. */
      refundedAmount: number
    }
  }
  /** Have events sent to your program */
  'POST /api/webhook-endpoints': { body: NewWebhookEndpoint; answer: WebhookEndpointCreated }
  /** Send a delivery again */
  'POST /api/webhook-endpoints/{endpointId}/deliveries/{eventId}/replay': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
      /** The id of the event. */
      eventId: string
    }
    answer: Record<string, never>
  }
  /** Send again everything since a time */
  'POST /api/webhook-endpoints/{endpointId}/replay': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    body: {
      /** A day or a moment of the last 30 days, such as 2026-11-01T09:30:00Z. */
      since: string
      /** `failed`: what was tried and has not arrived, also what waits for its next try; the default. `all`: every event since then, also those delivered and those from before the endpoint. */
      status?: 'failed' | 'all'
    }
    answer: {
      count: number
    }
  }
  /** Send again to a paused endpoint */
  'POST /api/webhook-endpoints/{endpointId}/resume': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    answer: WebhookEndpoint
  }
  /** Give an endpoint a new secret */
  'POST /api/webhook-endpoints/{endpointId}/secret': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    body: {
      /** How long the old secret signs too: 24 by default. */
      overlapHours?: number
    }
    answer: {
      /** Shown only now. The key of the signatures, `whsec_` and base64. */
      secret: string
      /** ISO 8601 in UTC with milliseconds. */
      oldSecretUntil?: string
    }
  }
  /** Send a test event */
  'POST /api/webhook-endpoints/{endpointId}/test': {
    params: {
      /** The id of the endpoint. */
      endpointId: string
    }
    body: {
      /** `endpoint.test` by default. */
      type?:
        | 'order.paid'
        | 'order.processing'
        | 'order.expired'
        | 'order.needs_review'
        | 'order.refunded'
        | 'order.partially_refunded'
        | 'order.disputed'
        | 'order.dispute_won'
        | 'order.charged_back'
        | 'order.email_changed'
        | 'order.withdrawn'
        | 'refund.failed'
        | 'file.recalled'
        | 'product.published'
        | 'product.archived'
        | 'endpoint.test'
      /** What networks do: `late` comes after 30 seconds, `twice` comes two times with one id, `reordered` sends the second event of an order before the first. */
      weather?: 'fair' | 'late' | 'twice' | 'reordered'
    }
    answer: {
      eventIds: string[]
    }
  }
  /** Withdraw from a contract */
  'POST /api/withdrawals': {
    body: {
      /** A random text, new for each statement. A repeat with the same key is the same statement. */
      key: string
      /** The buyer’s name. */
      name: string
      /** What identifies the contract: the number of the order, or what was bought and when. */
      contract: string
      /** The buyer’s address. We trim it and convert it to lower case. */
      email: string
    }
    answer: {
      withdrawalId: string
      /** To the second, UTC (ISO 8601). */
      receivedAt: string
      name: string
      contract: string
      /** Where the acknowledgement goes. */
      email: string
    }
  }
  /** Give the shop a logo */
  'PUT /api/brand/logo': { body: Bytes; answer: Brand }
  /** Add a company, address and tax id to the invoice */
  'PUT /api/checkout/{orderId}/invoice-details': {
    params: {
      /** The id of the order. */
      orderId: string
    }
    body: {
      /** The address of the order. */
      email: string
      /** The `statusToken` of the status. */
      token?: string
      /** The company, or the person. */
      name: string
      address: string[]
      /** Empty where there is none. */
      postcode: string
      /** The city. */
      city: string
      /** ISO 3166-1, two letters. `XI` is Northern Ireland, in tax ids only. */
      country: string
      /** The tax id in that country. */
      taxId?: string
    }
    answer: {
      invoices: ListedInvoice[]
    }
  }
  /** Switch invoices on or off, and say what stands on them */
  'PUT /api/invoice-profile': {
    body: InvoiceProfile
    answer: {
      profile: InvoiceProfile | null
      /** The first characters of each of your invoice numbers. No other seller has the same. */
      prefix: string | null
    }
  }
  /** Set where the money of a currency goes */
  'PUT /api/payout-details/{currency}': {
    params: {
      /** ISO 4217, upper case. */
      currency: string
    }
    body: NewPayoutDetails
    answer: PayoutDetails
  }
  /** Tell the processor about your business */
  'PUT /api/payouts/account': {
    body: {
      /** The name of the business, or of the person, as it stands at the tax office. */
      legalName: string
      businessType:
        | 'individual'
        | 'proprietorship'
        | 'partnership'
        | 'llp'
        | 'private_limited'
        | 'public_limited'
        | 'trust'
        | 'society'
        | 'ngo'
      /** What the products are, mostly. */
      sells: 'texts' | 'courses' | 'software' | 'games'
      /** The person behind the business: letters and spaces. */
      contactName: string
      /** Digits only. */
      phone: string
      /** The registered address. */
      street1: string
      /** The second line of the address. */
      street2: string
      /** The city. */
      city: string
      /** The state, such as KARNATAKA. */
      state: string
      /** Six digits. */
      postalCode: string
      /** The PAN of the person. */
      pan: string
      /** The PAN of the business, if it has one. */
      businessPan?: string
      /** The GST number, if there is one. */
      gst?: string
      /** The bank account that gets the money: its IFSC and its number in one, without spaces. Together, because many account numbers look like the number of a card, and these are refused. */
      account?: string
      /** Instead of `account`, with `ifsc`: the number alone. One that looks like the number of a card is refused here. */
      accountNumber?: string
      /** Instead of `account`, with `accountNumber`. */
      ifsc?: string
      /** Its holder. */
      beneficiaryName: string
      /** You accept the processor’s terms. */
      acceptsTerms: true
    }
    answer: PayoutAccount
  }
  /** Give a product a picture */
  'PUT /api/products/{productId}/image': {
    params: {
      /** The id of the product. */
      productId: string
    }
    body: Bytes
    answer: Product
  }
  /** Add a site of yours */
  'PUT /api/sites/{host}': {
    params: {
      /** A host with an optional port. `*.shop.example` has all names below `shop.example`. */
      host: string
    }
    answer: Site
  }
  /** Save your tax profile */
  'PUT /api/tax/profile': {
    body: {
      /** ISO 3166-1 alpha-2, such as DE. The United Kingdom is GB, Greece is GR. */
      country: string
      /** Your own tax ids, such as DE136695976. VAT numbers are checked by their check digits. */
      taxIds?: string[]
      /** You pay the tax of other EU countries through the one-stop-shop. */
      oss?: boolean
      /** You charge no tax, for example as a small business. */
      exempt?: boolean
      /** `inclusive`: your prices contain the tax. `exclusive`: the tax comes on top. */
      prices: 'inclusive' | 'exclusive'
      /** Which of a country’s rates applies to what you sell: `standard`, or another that the operator has loaded. */
      category?: string
    }
    answer: {
      /** Null: you have none, and nothing is said about tax. */
      profile: TaxProfile | null
      /** Countries whose rate of your category the operator has not loaded. Buyers there cannot buy from you. */
      missingRates: string[]
    }
  }
}

/** The routes that make one thing for one idempotency key, however often the request comes. */
export const KEYED: ReadonlySet<string> = new Set([
  'POST /api/checkout',
  'POST /api/orders/{orderId}/refunds',
  'POST /api/products',
])

/** Why the service refuses. */
export type RefusalCode =
  | 'account_by_details'
  | 'account_by_link'
  | 'account_details_refused'
  | 'account_not_needed'
  | 'account_number_invalid'
  | 'account_unavailable'
  | 'amount_not_payable'
  | 'amount_too_small'
  | 'approval_awaited'
  | 'bad_request'
  | 'bic_invalid'
  | 'body_too_large'
  | 'cancel_url_not_allowed'
  | 'cannot_take_payment'
  | 'card_number_refused'
  | 'changed_meanwhile'
  | 'checksum_mismatch'
  | 'code_not_found'
  | 'confirmation_not_found'
  | 'confirmation_over'
  | 'consent_required'
  | 'cookie_missing'
  | 'country_required'
  | 'country_unconfirmed'
  | 'country_unknown'
  | 'currency_not_offered'
  | 'currency_not_sold'
  | 'database_unavailable'
  | 'delivery_not_found'
  | 'discount_code_taken'
  | 'discount_not_found'
  | 'discount_not_valid'
  | 'download_link_expired'
  | 'download_link_invalid'
  | 'download_not_available'
  | 'email_change_over'
  | 'email_taken'
  | 'event_not_found'
  | 'file_made_before'
  | 'file_not_found'
  | 'file_too_large'
  | 'file_withdrawn'
  | 'headers_too_large'
  | 'iban_invalid'
  | 'idempotency_key_reused'
  | 'identity_not_found'
  | 'idp_not_configured'
  | 'idp_unavailable'
  | 'ifsc_invalid'
  | 'image_not_readable'
  | 'image_too_large'
  | 'images_busy'
  | 'insufficient_scope'
  | 'internal_error'
  | 'invalid_code'
  | 'invalid_credentials'
  | 'invalid_key'
  | 'invalid_signature'
  | 'invoice_details_over'
  | 'invoice_not_found'
  | 'invoices_busy'
  | 'key_and_session'
  | 'key_bound_to_products'
  | 'key_ended'
  | 'key_expired'
  | 'key_not_accepted'
  | 'key_not_found'
  | 'key_revoked'
  | 'key_too_weak'
  | 'kind_not_for_currency'
  | 'length_required'
  | 'link_not_valid'
  | 'local_only'
  | 'malformed_body'
  | 'method_not_allowed'
  | 'misdirected_request'
  | 'not_found'
  | 'not_signed_in'
  | 'nothing_to_export'
  | 'nothing_to_pay_out'
  | 'order_not_acceptable'
  | 'order_not_found'
  | 'order_not_in_review'
  | 'order_not_paid'
  | 'order_not_refundable'
  | 'origin_not_allowed'
  | 'other_account'
  | 'password_too_common'
  | 'payment_already_captured'
  | 'payment_closed'
  | 'payment_declined'
  | 'payment_in_progress'
  | 'payment_not_captured'
  | 'payment_not_found'
  | 'payment_unknown'
  | 'payout_details_not_found'
  | 'payout_not_found'
  | 'payout_not_movable'
  | 'precondition_failed'
  | 'processor_unavailable'
  | 'product_has_no_files'
  | 'product_not_found'
  | 'quota_exceeded'
  | 'rail_not_offered'
  | 'range_not_satisfiable'
  | 'rate_limited'
  | 'recent_sign_in_required'
  | 'refund_too_large'
  | 'run_changed'
  | 'run_line_not_found'
  | 'run_not_approved'
  | 'run_not_exported'
  | 'run_not_found'
  | 'run_not_proposed'
  | 'secret_missing'
  | 'seller_not_found'
  | 'seller_suspended'
  | 'session_conflict'
  | 'session_not_found'
  | 'shop_not_open'
  | 'shutting_down'
  | 'sign_in_busy'
  | 'site_not_found'
  | 'site_not_valid'
  | 'statement_already_read'
  | 'statement_not_readable'
  | 'statements_busy'
  | 'storage_full'
  | 'storage_unavailable'
  | 'success_url_not_allowed'
  | 'tax_id_check_unavailable'
  | 'tax_id_invalid'
  | 'tax_id_not_registered'
  | 'tax_rate_missing'
  | 'token_required'
  | 'too_many_confirmations'
  | 'too_many_corrections'
  | 'too_many_discounts'
  | 'too_many_endpoints'
  | 'too_many_keys'
  | 'too_many_products'
  | 'too_many_sites'
  | 'tus_version_unsupported'
  | 'unsupported_media_type'
  | 'upi_invalid'
  | 'upload_expired'
  | 'upload_finished'
  | 'upload_in_progress'
  | 'upload_not_found'
  | 'upload_offset_differs'
  | 'uri_too_long'
  | 'url_not_allowed'
  | 'validation_failed'
  | 'webhook_endpoint_not_found'
  | 'wrong_password'
