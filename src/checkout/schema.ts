import { Type } from 'typebox'
import { idPattern } from '../kit/ids.ts'
import { Amount, Currency, Time } from '../kit/schema.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { Download } from '../orders/links.ts'
import { WithdrawnFiles } from '../products/schema.ts'
import { ImageUrl, ImageUrls } from '../products/schema.ts'
import { STATES } from '../orders/states.ts'
import { RAILS } from '../processors/rails.ts'

// The contract of the checkout: the routes' validation, their types, the API's description and the pages' types are all this.

const Rail = Type.Enum([...RAILS])
const Status = Type.Enum([...STATES], { description: 'The state of the order.' })
export const Email = Type.String({
  pattern: EMAIL_PATTERN,
  maxLength: EMAIL_LONGEST,
  description: "The buyer's address.",
})
const OrderId = Type.String({ pattern: idPattern('ord') })

export const ProductParams = Type.Object({ productId: Type.String({ maxLength: 100 }) })
const DiscountCode = Type.String({ maxLength: 100, description: 'A seller’s code; case does not matter.' })
export const ProductQuery = Type.Object({ discountCode: Type.Optional(DiscountCode) })

export const ProductView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  amount: Type.Integer({ description: 'The price in minor units; where payWhatYouWant, the least that may be given.' }),
  currency: Currency,
  free: Type.Boolean({ description: 'It costs nothing: its order is paid at once.' }),
  payWhatYouWant: Type.Boolean({ description: 'The buyer says how much, by the order’s chosenAmount.' }),
  suggestedAmount: Type.Optional(Amount),
  takesCode: Type.Optional(Type.Boolean({ description: 'There are discount codes that are good for it.' })),
  discount: Type.Optional(
    Type.Object(
      {
        code: Type.String(),
        percentOff: Type.Optional(Type.Integer({ description: 'Rounded down to the minor unit.' })),
        amountOff: Amount,
        amount: Type.Integer({ description: 'What is left of the price.' }),
      },
      { description: 'With a valid discountCode.' },
    ),
  ),
  imageUrl: Type.Optional(ImageUrl),
  images: Type.Optional(ImageUrls),
  seller: Type.Object({ name: Type.String() }),
  rails: Type.Array(Rail, { description: 'The ways to pay that are offered for this product.' }),
  payments: Type.Object({
    live: Type.Boolean({ description: 'Whether a payment can be started here now.' }),
    processor: Type.Optional(Type.String({ description: 'Which payment form a browser needs.' })),
  }),
})
export type ProductView = Type.Static<typeof ProductView>

export const CheckoutHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'Random, as a UUID is: with the product and the address it gives the order back. The same key and body give the same order, for 24 hours; for another product or address it is another key.',
    }),
  ),
})
export const Checkout = Type.Object({
  productId: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Which product is bought. Its price is ours to say.',
  }),
  email: Email,
  chosenAmount: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 999_999_999_999,
      description: 'Read only where the product is pay-what-you-want; the least that it may be had for when not there.',
    }),
  ),
  discountCode: Type.Optional(DiscountCode),
})

const StatusToken = Type.String({
  maxLength: 100,
  description:
    'To be sent with the address when the status is asked for: then wrong addresses that others try do not lock this buyer out. It opens nothing without the address.',
})

export const Created = Type.Object({
  orderId: Type.String(),
  amount: Amount,
  discountAmount: Type.Optional(
    Type.Integer({ description: 'The discount of the code. The full price is this and `amount` together.' }),
  ),
  currency: Currency,
  statementDescriptor: Type.String({
    description: 'The line that the bank prints for a card payment: 5 to 22 characters.',
  }),
  status: Status,
  clientSecret: Type.Optional(
    Type.String({ description: 'For the payment form. Present only when card payments are live.' }),
  ),
  publishableKey: Type.Optional(Type.String()),
  processor: Type.Optional(Type.String()),
  statusToken: StatusToken,
})
export type Created = Type.Static<typeof Created>

export const StatusParams = Type.Object({ orderId: OrderId })
export const StatusQuery = Type.Object({
  email: Type.Optional(
    Type.String({ maxLength: 320, description: "The order's address: with it the answer is complete." }),
  ),
  sync: Type.Optional(
    Type.String({ maxLength: 10, description: '1: ask the payment processor now, if it was not just asked.' }),
  ),
  token: Type.Optional(StatusToken),
})

const Seller = Type.Object(
  { name: Type.String(), supportEmail: Type.String({ description: 'Where buyers reach the seller.' }) },
  { description: 'Only with the matching address.' },
)

export const OrderStatus = Type.Object({
  orderId: Type.String(),
  status: Status,
  paid: Type.Boolean({ description: 'The files are the buyer’s: paid, and not paid back.' }),
  canPay: Type.Optional(
    Type.Boolean({
      description:
        'While it is `pending` or `processing`: whether the buyer may pay now. False while a bank is at work on a payment, since another one could be paid twice; true again when that bank has said no.',
    }),
  ),
  amount: Amount,
  currency: Currency,
  downloads: Type.Array(Download, { description: 'Only once paid, and only with the matching address.' }),
  withdrawnFiles: WithdrawnFiles,
  nextPollMs: Type.Union([Type.Integer(), Type.Null()], {
    description: 'When to ask again; null when nothing will change by itself.',
  }),
  synced: Type.Optional(Type.Boolean({ description: 'With sync=1: whether the processor was asked just now.' })),
  statementDescriptor: Type.Optional(Type.String()),
  statusToken: Type.Optional(StatusToken),
  seller: Type.Optional(Seller),
  product: Type.Optional(Type.Object({ id: Type.String(), name: Type.String() })),
  rail: Type.Optional(Type.Union([Rail, Type.Null()], { description: 'How it was paid, as the processor says.' })),
  createdAt: Type.Optional(Time),
  paidAt: Type.Optional(Type.Union([Time, Type.Null()])),
  refundedAmount: Type.Optional(Amount),
  chargedBackAmount: Type.Optional(
    Type.Integer({ description: 'What the bank took back of the price by a lost dispute, beside what was refunded.' }),
  ),
  receiptBounced: Type.Optional(
    Type.Boolean({ description: 'There when the mail server refused the receipt: the address may be mistyped.' }),
  ),
  receiptHeld: Type.Optional(
    Type.Boolean({
      description:
        'There when no receipt was mailed, because too many mails about free orders were sent. The files are here all the same, and the receipt can be asked for later.',
    }),
  ),
  discountAmount: Type.Optional(Amount),
  timeline: Type.Optional(Type.Array(Type.Object({ at: Time, what: Type.String() }))),
})
export type OrderStatus = Type.Static<typeof OrderStatus>

export const ReceiptRequest = Type.Object({ email: Email, token: Type.Optional(StatusToken) })
