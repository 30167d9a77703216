import { Type } from 'typebox'
import { idempotencyHeaders } from '../kit/idempotency.ts'
import { idPattern } from '../kit/ids.ts'
import { LARGEST_AMOUNT } from '../kit/money.ts'
import { Amount, Currency, NO_NUL, Time } from '../kit/schema.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { GivenConsent } from '../orders/consents/consents.ts'
import { Download } from '../orders/links.ts'
import { ListedInvoice } from '../orders/invoice-links.ts'
import { WithdrawnFiles } from '../products/schema.ts'
import { OnStatement } from '../orders/paid-by.ts'
import { PaymentReturned } from '../orders/returned-money.ts'
import { STATES } from '../orders/states.ts'
import { BrandFields } from '../sellers/brand.ts'
import { COUNTRY, OrderTaxView } from '../taxes/schema.ts'
import { BuyerTaxIdText, ChosenCurrency, DiscountCode, Rail } from './product-schema.ts'

// The schemas of the checkout. The routes' validation and types, the API's description and the pages' types all come from here.

/** PostgreSQL stores no NUL in a text, and a seller's own id has no line breaks. */
const NO_CONTROLS = '^[^\\u0000-\\u001f\\u007f]*$'
const Status = Type.Enum([...STATES], { description: 'The state of the order.' })
export const Email = Type.String({
  pattern: EMAIL_PATTERN,
  maxLength: EMAIL_LONGEST,
  description: "The buyer's address.",
})
const OrderId = Type.String({ pattern: idPattern('ord') })

const Url = (description: string) =>
  Type.Optional(Type.String({ maxLength: 2000, description, examples: ['https://shop.example/thanks'] }))
/** A seller's own site or program adds these to an order. */
const IntegrationFields = {
  clientReferenceId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: NO_CONTROLS,
      description: 'Your own id of the order, such as a cart or a user. Only the seller sees it.',
      examples: ['cart-1042'],
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: 20,
      propertyNames: { pattern: '^[A-Za-z0-9_.-]{1,40}$' },
      additionalProperties: Type.String({ maxLength: 500, pattern: NO_NUL }),
      description: 'Up to 20 texts of your own, 4 kB in all. Only the seller sees them.',
      examples: [{ plan: 'team' }],
    }),
  ),
  successUrl: Url(
    'Where the hosted page goes on after the payment, with `order` in the query. It lies on a site of the seller.',
  ),
  cancelUrl: Url('Where the hosted page leads back to. It lies on a site of the seller.'),
}

export const CheckoutHeaders = idempotencyHeaders(
  'A random text, such as a UUID. The same key and body give the same order for 24 hours. A key belongs to one product and one address; with others it is a different key.',
)
export const Checkout = Type.Object({
  productId: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The product to buy. The server sets its price.',
  }),
  email: Email,
  currency: Type.Optional(ChosenCurrency),
  chosenAmount: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LARGEST_AMOUNT,
      description:
        'The price that the buyer chose, for a product with `payWhatYouWant`. The default is its lowest price.',
    }),
  ),
  discountCode: Type.Optional(DiscountCode),
  consents: Type.Optional(
    Type.Array(GivenConsent, {
      maxItems: 10,
      description:
        'What the buyer has agreed to, of `consents` of the product. Without one of them: 422 `consent_required`.',
    }),
  ),
  country: Type.Optional(
    Type.String({
      pattern: COUNTRY,
      description:
        'The buyer’s country (ISO 3166-1 alpha-2), as the buyer says. A product with `tax` needs it: without it, and without a proxy that names it, 422 `country_required`.',
      examples: ['DE'],
    }),
  ),
  taxId: Type.Optional(BuyerTaxIdText),
  countryConfirmed: Type.Optional(
    Type.Boolean({
      description:
        'The buyer stays with `country`, though the connection comes from another one. Without it that is 422 `country_unconfirmed`.',
    }),
  ),
  locale: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$',
      maxLength: 44,
      description:
        'The language of the mails to the buyer, such as `de`. By default, and for one that the service does not speak, that of `Accept-Language`, else English.',
      examples: ['de'],
    }),
  ),
  ...IntegrationFields,
})

const StatusToken = Type.String({
  maxLength: 100,
  description:
    'Send it with the address when you request the status. Then wrong addresses that others try do not lock this buyer out. Without the address it opens nothing.',
})

const Payment = {
  orderId: Type.String(),
  amount: Amount,
  discountAmount: Type.Optional(
    Type.Integer({
      description:
        'The discount of the code. The full price is this plus `amount`; where prices are without tax, it is this plus `amount` minus the tax.',
    }),
  ),
  currency: Currency,
  tax: Type.Optional(OrderTaxView),
  statementDescriptor: Type.String({
    description: 'The line that the bank prints for a card payment: 5 to 22 characters.',
  }),
  onStatement: OnStatement,
  status: Status,
  clientSecret: Type.Optional(
    Type.String({ description: 'For the payment form. Present only when payments are live.' }),
  ),
  publishableKey: Type.Optional(Type.String()),
  processor: Type.Optional(Type.String()),
  returnToken: Type.String({
    description:
      'For the address to which a bank sends the buyer back: as `token` of the status it tells where the order leads on to, and nothing else.',
    examples: ['b3JkXzAx.c2lnbmF0dXJl'],
  }),
  account: Type.Optional(Type.String({ description: 'The seller’s connected account, where the payment form pays.' })),
}
export const Created = Type.Object({
  ...Payment,
  statusToken: StatusToken,
  payUrl: Type.String({
    description:
      'The hosted page of this order: send the buyer there to pay it. The part behind the “#” is a secret of the order. It pays the order and opens no files.',
    examples: ['https://shop.example/pay/?product=prod_…&order=ord_…#p=…'],
  }),
})
export type Created = Type.Static<typeof Created>

const PayToken = Type.String({ minLength: 1, maxLength: 100, description: 'The part of `payUrl` behind “#p=”.' })
export const PayOrder = Type.Object({ token: PayToken })
export const Payable = Type.Object({
  ...Payment,
  productId: Type.String({ description: 'The product of the order.' }),
  emailHint: Type.String({
    description: 'The order’s address with most of its letters left out.',
    examples: ['b…@example.com'],
  }),
})
export type Payable = Type.Static<typeof Payable>

export const StatusParams = Type.Object({ orderId: OrderId })
const flag = (description: string) => Type.Optional(Type.String({ maxLength: 10, description }))

export const StatusQuery = Type.Object({
  email: Type.Optional(
    Type.String({ maxLength: 320, description: 'The order’s address. The response is complete only with it.' }),
  ),
  sync: flag('1: sync with the processor now, unless that has just happened.'),
  wait: flag('1: while the order waits for its payment, answer when there is news, or after 2 seconds.'),
  token: Type.Optional(StatusToken),
})

const Seller = Type.Object(
  {
    name: Type.String(),
    supportEmail: Type.String({ description: 'Where buyers reach the seller.' }),
    ...BrandFields,
  },
  { description: 'Present only with the matching address.' },
)

export const OrderStatus = Type.Object({
  orderId: Type.String(),
  status: Status,
  paid: Type.Boolean({ description: 'The buyer has the files: the order is paid, and the money has not gone back.' }),
  canPay: Type.Optional(
    Type.Boolean({
      description:
        'Present while the order is `pending` or `processing`: whether the buyer can pay now. False while a bank works on a payment, because the buyer could pay twice. True again after that bank has said no.',
    }),
  ),
  paymentReturned: PaymentReturned,
  amount: Amount,
  currency: Currency,
  downloads: Type.Array(Download, { description: 'Empty until the order is paid, and without the matching address.' }),
  withdrawnFiles: WithdrawnFiles,
  nextPollMs: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Milliseconds until the client should read the status again. Null: nothing will change by itself.',
  }),
  synced: Type.Optional(
    Type.Boolean({ description: 'With `sync=1`: whether this request synced with the processor.' }),
  ),
  statementDescriptor: Type.Optional(Type.String()),
  onStatement: OnStatement,
  statusToken: Type.Optional(StatusToken),
  seller: Type.Optional(Seller),
  product: Type.Optional(Type.Object({ id: Type.String(), name: Type.String() })),
  rail: Type.Optional(Type.Union([Rail, Type.Null()], { description: 'The rail of the payment, from the processor.' })),
  createdAt: Type.Optional(Time),
  paidAt: Type.Optional(Type.Union([Time, Type.Null()])),
  refundedAmount: Type.Optional(Amount),
  chargedBackAmount: Type.Optional(
    Type.Integer({ description: 'The part of the price that a bank took back by a lost dispute, without refunds.' }),
  ),
  receiptBounced: Type.Optional(
    Type.Boolean({ description: 'Present when the mail server refused the receipt. The address may be mistyped.' }),
  ),
  receiptHeld: Type.Optional(
    Type.Boolean({
      description:
        'Present when we mailed no receipt, because too many mails about free orders were sent. The files are in the response all the same, and the buyer can request the receipt later.',
    }),
  ),
  discountAmount: Type.Optional(Amount),
  tax: Type.Optional(OrderTaxView),
  timeline: Type.Optional(Type.Array(Type.Object({ at: Time, what: Type.String() }))),
  invoices: Type.Optional(
    Type.Array(ListedInvoice, { description: 'Present when the seller issues invoices: also the credit notes.' }),
  ),
  invoiceDetailsUntil: Type.Optional(
    Type.String({
      description:
        'Until then the buyer can add a company, address and tax id to the invoice. Absent also after money went back.',
    }),
  ),
  successUrl: Type.Optional(Type.String({ description: 'Where to go on after the payment.' })),
  cancelUrl: Type.Optional(Type.String({ description: 'Where to go back to.' })),
})
export type OrderStatus = Type.Static<typeof OrderStatus>

export const ReceiptRequest = Type.Object({ email: Email, token: Type.Optional(StatusToken) })
