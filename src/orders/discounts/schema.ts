import { Type } from 'typebox'
import { CURRENCIES } from '../../kit/currencies.ts'
import { idPattern } from '../../kit/ids.ts'
import { MomentAsked, wrongField } from '../../kit/moment.ts'
import { LARGEST_AMOUNT } from '../../kit/money.ts'
import { Amount, Time } from '../../kit/schema.ts'
import type { AmountOff as AmountOffRow } from './discounts.ts'

export const ProductId = Type.String({
  pattern: idPattern('prod'),
  description: 'The code applies to this product only. Without it, to all your products.',
})
const Uses = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description: 'The most orders that can use the code. An order that expires unpaid gives its use back.',
})

/** For the descriptions of discounts: see `stepOf` of money.ts. */
export const DISCOUNT_STEPS =
  'A discount that is less than the price is rounded down: in currencies with three decimals to ten minor units, in ariary (MGA) to 5000.'

const AmountOff = Type.Object({
  currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217, upper case.' }),
  amount: Type.Integer({ minimum: 1, maximum: LARGEST_AMOUNT, description: `Integer minor units. ${DISCOUNT_STEPS}` }),
})

export const NewDiscount = Type.Object(
  {
    code: Type.String({
      pattern: '^\\s*[A-Za-z0-9-]{3,40}\\s*$',
      maxLength: 60,
      description: 'The code as buyers type it: letters, digits and hyphens. Case does not matter.',
    }),
    productId: Type.Optional(ProductId),
    percentOff: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: `The discount is rounded down to the minor unit. ${DISCOUNT_STEPS}`,
      }),
    ),
    amountOff: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LARGEST_AMOUNT,
        description: `Integer minor units of \`currency\`. ${DISCOUNT_STEPS}`,
      }),
    ),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description: 'Required with `amountOff`. The code applies only to prices in this currency.',
      }),
    ),
    amounts: Type.Optional(
      Type.Array(AmountOff, {
        minItems: 1,
        maxItems: 12,
        description:
          'In place of `amountOff` and `currency`: the discount in each currency, once. The code applies only to prices in these currencies.',
      }),
    ),
    limit: Type.Optional(Uses),
    startsAt: Type.Optional(MomentAsked),
    expiresAt: Type.Optional(MomentAsked),
  },
  {
    examples: [
      { code: 'SUMMER', percentOff: 20, limit: 100, expiresAt: '2027-09-01T00:00:00Z' },
      {
        code: 'THANKS',
        amounts: [
          { currency: 'USD', amount: 500 },
          { currency: 'INR', amount: 10_000 },
        ],
      },
    ],
  },
)
export const DiscountChange = Type.Object(
  {
    active: Type.Optional(Type.Boolean()),
    limit: Type.Optional(Type.Union([Uses, Type.Null()])),
    expiresAt: Type.Optional(Type.Union([MomentAsked, Type.Null()])),
  },
  { examples: [{ active: false }, { limit: null }] },
)
export const Discount = Type.Object({
  id: Type.String(),
  code: Type.String({ description: 'The code as the seller typed it.' }),
  productId: Type.Optional(Type.String({ description: 'Absent when the code applies to all products.' })),
  percentOff: Type.Optional(Type.Integer()),
  amountOff: Type.Optional(Amount),
  currency: Type.Optional(Type.String()),
  amounts: Type.Optional(
    Type.Array(AmountOff, { description: 'A fixed discount in all its currencies. The first is `amountOff`.' }),
  ),
  limit: Type.Optional(Type.Integer()),
  uses: Type.Integer({
    description:
      'Orders that use the code and have not expired, paid or not. An order that was paid with another amount no longer counts once all of that money has gone back.',
  }),
  startsAt: Type.Optional(Time),
  expiresAt: Type.Optional(Time),
  active: Type.Boolean(),
  createdAt: Time,
})
export type Discount = Type.Static<typeof Discount>

/** The fixed discount in its currencies; none with a percentage. Refuses `validation_failed`. */
export function amountsOf({
  percentOff,
  amountOff,
  currency,
  amounts,
}: Type.Static<typeof NewDiscount>): AmountOffRow[] {
  if ([percentOff, amountOff, amounts].filter((one) => one !== undefined).length !== 1)
    throw wrongField('percentOff', 'Give one of percentOff, amountOff and amounts, and not two.')
  if ((amountOff === undefined) !== (currency === undefined))
    throw wrongField('currency', 'amountOff needs a currency by ISO 4217, and percentOff must have none.')
  const given = amounts ?? (amountOff !== undefined && currency ? [{ currency, amount: amountOff }] : [])
  for (const [at, one] of given.entries()) {
    const path = amounts ? `amounts.${at}.currency` : 'currency'
    if (!CURRENCIES.has(one.currency)) throw wrongField(path, 'This is no currency by ISO 4217.')
    if (given.findIndex((other) => other.currency === one.currency) < at)
      throw wrongField(path, 'Give one amount in each currency.')
  }
  return given.map(({ currency: of, amount }) => ({ currency: of, amountMinor: amount }))
}
