import { Type } from 'typebox'
import { CsvFormat } from '../kit/csv.ts'
import { Currency, Time } from '../kit/schema.ts'
import { CATEGORY } from './rates.ts'
import { TREATMENTS } from './sale-tax.ts'

/** The form of a country's code. The route checks whether there is such a country. */
export const COUNTRY = '^[A-Z]{2}$'
/** The form of a tax id: letters and digits, with the signs that people put between them. */
const TAX_ID = '^[A-Za-z0-9][A-Za-z0-9 ./-]{2,38}[A-Za-z0-9]$'

export const Country = Type.String({
  pattern: COUNTRY,
  description: 'ISO 3166-1 alpha-2, such as DE. The United Kingdom is GB, Greece is GR.',
  examples: ['DE'],
})
const Rate = Type.Number({ description: 'Percent, such as 19 or 8.875.' })
export const TreatmentField = Type.Enum([...TREATMENTS], {
  description:
    'Why this rate. `domestic`: of the seller’s country. `oss`: of the buyer’s country, by the EU’s one-stop-shop. `reverse_charge`: the buyer owes the tax. `outside`: the seller owes no tax for this country. `exempt`: the seller charges no tax.',
})

const fields = {
  country: Country,
  taxIds: Type.Array(Type.String({ pattern: TAX_ID }), {
    maxItems: 10,
    description: 'Your own tax ids, such as DE136695976. VAT numbers are checked by their check digits.',
  }),
  oss: Type.Boolean({ description: 'You pay the tax of other EU countries through the one-stop-shop.' }),
  exempt: Type.Boolean({ description: 'You charge no tax, for example as a small business.' }),
  prices: Type.Enum(['inclusive', 'exclusive'], {
    description: '`inclusive`: your prices contain the tax. `exclusive`: the tax comes on top.',
  }),
  category: Type.String({
    pattern: CATEGORY,
    description: 'Which of a country’s rates applies to what you sell: `standard`, or another that the operator has loaded.', // oxfmt-ignore
  }),
}
/** A seller's statements about tax. */
export const TaxProfile = Type.Object(fields)
export const ProfileChange = Type.Object({
  country: fields.country,
  taxIds: Type.Optional(fields.taxIds),
  oss: Type.Optional(fields.oss),
  exempt: Type.Optional(fields.exempt),
  prices: fields.prices,
  category: Type.Optional(fields.category),
})
export const ProfileView = Type.Object({
  profile: Type.Union([TaxProfile, Type.Null()], {
    description: 'Null: you have none, and nothing is said about tax.',
  }),
  missingRates: Type.Array(Type.String(), {
    description: 'Countries whose rate of your category the operator has not loaded. Buyers there cannot buy from you.',
  }),
})
export type ProfileView = Type.Static<typeof ProfileView>

/** The tax id with which a business ordered. */
export const BuyerTaxIdView = Type.Object(
  {
    country: Type.String({ description: 'The country of the id.' }),
    id: Type.String({ description: 'In capitals, without spaces, such as `FR40303265045`.' }),
    verdict: Type.Enum(['valid', 'unchecked'], {
      description:
        '`valid`: the EU’s register (VIES) knows it. `unchecked`: VIES was not asked, and the tax is as without the id.',
    }),
    checkedAt: Time,
  },
  { description: 'The tax id with which a business orders.' },
)

/** The tax of an order. */
export const OrderTaxView = Type.Object(
  {
    amount: Type.Integer({ description: 'The tax within `amount`, in minor units.' }),
    rate: Rate,
    country: Type.String({
      description: 'The country that gets the tax. For `outside` and `reverse_charge`: the buyer’s country.',
    }),
    treatment: TreatmentField,
    buyerTaxId: Type.Optional(BuyerTaxIdView),
  },
  { description: 'Present where the seller has a tax profile and the order costs something.' },
)

/** The tax of a product's price, for a buyer in `buyerCountry`. */
export const PriceTax = Type.Object(
  {
    prices: fields.prices,
    buyerCountry: Type.Optional(Type.String({ description: 'Of the query, else of the proxy’s header.' })),
    takesTaxId: Type.Optional(
      Type.Boolean({
        description: 'A business in `buyerCountry` owes the tax itself, if VIES knows its VAT number: see `taxId`.',
      }),
    ),
    seenCountry: Type.Optional(
      Type.String({
        description: 'As the proxy says. With another `country`, an order needs `countryConfirmed`.',
      }),
    ),
    rate: Type.Optional(Rate),
    country: Type.Optional(
      Type.String({
        description: 'The country that gets the tax. For `outside` and `reverse_charge`: the buyer’s country.',
      }),
    ),
    treatment: Type.Optional(TreatmentField),
    buyerTaxId: Type.Optional(BuyerTaxIdView),
    amount: Type.Optional(Type.Integer({ description: 'The tax on the price without a discount, in minor units.' })),
  },
  {
    description:
      'Present where the seller has a tax profile. An order then needs the buyer’s `country`, and its `amount` is with tax. The fields from `rate` on are absent where the buyer’s country or its rate is not known.',
  },
)

const sums = {
  orders: Type.Integer({ description: 'Orders paid in the period.' }),
  gross: Type.Integer({ description: 'What buyers paid in the period, in minor units.' }),
  tax: Type.Integer({ description: 'The tax within it.' }),
  net: Type.Integer({ description: 'gross − tax.' }),
  returnedGross: Type.Integer({
    description: 'What went back in the period by refunds and lost disputes, also of orders paid before.',
  }),
  returnedTax: Type.Integer({ description: 'The tax within it.' }),
  dueNet: Type.Integer({ description: 'net, less what went back.' }),
  dueTax: Type.Integer({ description: 'tax, less what went back.' }),
}
export const Report = Type.Object({
  period: Type.String(),
  from: Type.String({ description: 'The first day, of UTC.' }),
  to: Type.String({ description: 'The last day, of UTC.' }),
  items: Type.Array(
    Type.Object({
      country: Type.String(),
      rate: Rate,
      treatment: TreatmentField,
      currency: Currency,
      ...sums,
    }),
  ),
})
export type Report = Type.Static<typeof Report>
export const ReportQuery = Type.Object({
  period: Type.String({
    pattern: '^[12]\\d{3}(-Q[1-4]|-(0[1-9]|1[0-2]))?$',
    description: 'A year, a quarter or a month: 2026, 2026-Q4, 2026-10. Days are days of UTC.',
    examples: ['2026-Q4'],
  }),
  format: CsvFormat,
})
