import { Type } from 'typebox'
import { Amount, Currency } from '../kit/schema.ts'
import { AskedConsent } from '../orders/consents/consents.ts'
import { DISCOUNT_STEPS } from '../orders/discounts/schema.ts'
import { OnStatement } from '../orders/paid-by.ts'
import { RAILS } from '../processors/rails.ts'
import { ImageUrl, ImageUrls, Price } from '../products/schema.ts'
import { BrandFields } from '../sellers/brand.ts'
import { COUNTRY, PriceTax } from '../taxes/schema.ts'

// The schemas of a product that is for sale. Those of orders are in schema.ts.

export const Rail = Type.Enum([...RAILS])
export const ProductParams = Type.Object({ productId: Type.String({ maxLength: 100 }) })
export const DiscountCode = Type.String({
  maxLength: 100,
  description: 'A seller’s discount code. Case does not matter.',
})
export const ChosenCurrency = Type.String({
  pattern: '^[A-Z]{3}$',
  description: 'The currency of one of the product’s `prices`. By default that of its default price.',
})
export const BuyerTaxIdText = Type.String({
  minLength: 1,
  maxLength: 40,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description:
    'The tax id of a buyer who buys for a business, of `country`. Where the seller has a tax profile it may change the tax: a business in another EU country than the seller’s owes the tax itself. A wrong id is 422 `tax_id_invalid`, one that VIES does not know 422 `tax_id_not_registered`, and while VIES does not answer it is 503 `tax_id_check_unavailable`.',
  examples: ['FR40303265045'],
})
export const ProductQuery = Type.Object({
  discountCode: Type.Optional(DiscountCode),
  currency: Type.Optional(ChosenCurrency),
  country: Type.Optional(
    Type.String({
      pattern: COUNTRY,
      description: 'The buyer’s country, for `tax` and the first of `prices`: ISO 3166-1 alpha-2.',
      examples: ['DE'],
    }),
  ),
  taxId: Type.Optional(BuyerTaxIdText),
})

const Rails = Type.Array(Rail, {
  description:
    'The rails that this product offers: cards first, then by what is usual in the currency and the buyer’s country.',
})
const Payments = Type.Object({
  live: Type.Boolean({ description: 'Whether buyers can pay now.' }),
  processor: Type.Optional(Type.String({ description: 'The processor whose payment form the browser needs.' })),
  onStatement: OnStatement,
  form: Type.Optional(
    Type.Object(
      {
        publishableKey: Type.String(),
        account: Type.Optional(
          Type.String({ description: 'The seller’s connected account, where the payment form pays.' }),
        ),
        unitsPerMinor: Type.Number({
          description: 'The form is given the amount in the processor’s own units. So many are one of our minor units.',
        }),
        allowedMethods: Type.Optional(
          Type.Array(Type.String(), { description: 'The only payment methods, by the processor’s names.' }),
        ),
        excludedMethods: Type.Optional(Type.Array(Type.String(), { description: 'The payment methods left out.' })),
      },
      {
        description:
          'The settings with which the browser can show the payment form before there is an order. With a `discountCode` they are those of an order with this code.',
      },
    ),
  ),
})
/** A price, its rails, and the settings with which the browser shows the payment form. */
export const PriceView = Type.Object({ ...Price.properties, rails: Rails, payments: Payments })
export type PriceView = Type.Static<typeof PriceView>

export const ProductView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  amount: Type.Integer({ description: 'The price in minor units. With `payWhatYouWant`: the lowest price.' }),
  currency: Currency,
  prices: Type.Array(PriceView, {
    description:
      'The prices that buyers can pay, each in another currency. The first is the one to show first: in the currency of the buyer’s country, else the default. Send its currency as `currency` of the order. The fields above and below are of the default price, or of the one in the query’s `currency`.',
  }),
  free: Type.Boolean({ description: 'The product is free: an order is paid at once.' }),
  payWhatYouWant: Type.Boolean({ description: 'The buyer chooses the price, as `chosenAmount` of the order.' }),
  suggestedAmount: Type.Optional(Amount),
  takesCode: Type.Optional(Type.Boolean({ description: 'Some discount code applies to the product.' })),
  consents: Type.Optional(
    Type.Array(AskedConsent, {
      description:
        'What the buyer has to agree to before the order, each in a box that is not ticked beforehand. In the language of `Accept-Language`.',
    }),
  ),
  discount: Type.Optional(
    Type.Object(
      {
        code: Type.String(),
        percentOff: Type.Optional(Type.Integer({ description: `Rounded down to the minor unit. ${DISCOUNT_STEPS}` })),
        amountOff: Amount,
        amount: Type.Integer({ description: 'The price after the discount.' }),
      },
      { description: 'Present with a valid `discountCode`.' },
    ),
  ),
  tax: Type.Optional(PriceTax),
  imageUrl: Type.Optional(ImageUrl),
  images: Type.Optional(ImageUrls),
  seller: Type.Object({
    name: Type.String(),
    supportEmail: Type.Optional(
      Type.String({
        description: 'Where buyers reach the seller. Absent before the order, unless the seller has set one.',
      }),
    ),
    ...BrandFields,
  }),
  rails: Rails,
  payments: Payments,
  statementDescriptor: Type.Optional(
    Type.String({ description: 'The line that the bank will print for a card payment.' }),
  ),
})
export type ProductView = Type.Static<typeof ProductView>
