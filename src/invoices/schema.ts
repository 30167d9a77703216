import { Type } from 'typebox'
import { CsvFormat } from '../kit/csv.ts'
import { idPattern } from '../kit/ids.ts'
import { NextCursor, PageQuery } from '../kit/schema.ts'
import { listedFields } from '../orders/invoice-links.ts'

const Country = Type.String({
  pattern: '^[A-Za-z]{2}$',
  description: 'ISO 3166-1, two letters. `XI` is Northern Ireland, in tax ids only.',
  examples: ['DE'],
})
/** In characters, before and after the text is cleaned. The table of profiles has the same limits. */
export const LONGEST = { name: 200, addressLine: 100, postcode: 20, city: 100, note: 500 } as const
const Line = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })

const addressFields = {
  address: Type.Array(Line(LONGEST.addressLine, 'Street and number, or another line above the city.'), {
    minItems: 1,
    maxItems: 5,
  }),
  postcode: Type.String({ maxLength: LONGEST.postcode, description: 'Empty where there is none.' }),
  city: Line(LONGEST.city, 'The city.'),
  country: Country,
}
const TaxId = Type.Object({
  country: Country,
  id: Line(40, 'As it is written on letters; spaces and dots do not matter.'),
})

export const InvoiceProfile = Type.Object({
  on: Type.Boolean({ description: 'New sales get an invoice.' }),
  name: Line(LONGEST.name, 'The full legal name.'),
  ...addressFields,
  taxIds: Type.Array(TaxId, { maxItems: 5, description: 'VAT numbers, GSTIN and the like, checked by their digits.' }),
  note: Type.Optional(
    Type.String({
      maxLength: LONGEST.note,
      description: 'Stands below the sums, such as the reason why no tax is charged.',
    }),
  ),
})
export type InvoiceProfile = Type.Static<typeof InvoiceProfile>
export const OwnProfile = Type.Object({
  profile: Type.Union([InvoiceProfile, Type.Null()]),
  prefix: Type.Union([Type.String(), Type.Null()], {
    description: 'The first characters of each of your invoice numbers. No other seller has the same.',
  }),
})
export type OwnProfile = Type.Static<typeof OwnProfile>

export const InvoiceDetails = Type.Object({
  email: Type.String({ minLength: 3, maxLength: 254, description: 'The address of the order.' }),
  token: Type.Optional(Type.String({ maxLength: 200, description: 'The `statusToken` of the status.' })),
  name: Line(LONGEST.name, 'The company, or the person.'),
  ...addressFields,
  taxId: Type.Optional(Type.String({ maxLength: 40, description: 'The tax id in that country.' })),
})
export type InvoiceDetails = Type.Static<typeof InvoiceDetails>

export const TAX_ID_STATES = ['valid', 'invalid', 'unavailable', 'unchecked'] as const

export const Invoice = Type.Object({
  ...listedFields,
  orderId: Type.String(),
  reason: Type.Enum(['sale', 'refund', 'chargeback', 'returned', 'buyer_details'], {
    description: '`returned`: a refund of a credit note failed, or a bank gave a charged-back amount back.',
  }),
  refersTo: Type.Union([Type.String(), Type.Null()], { description: 'The number of the invoice that it is about.' }),
  taxAmount: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The tax within the amount, if the order has one.',
  }),
  buyer: Type.Object({
    email: Type.String(),
    name: Type.Optional(Type.String()),
    country: Type.Optional(Type.String()),
    taxId: Type.Optional(Type.String()),
    taxIdState: Type.Optional(
      Type.Enum([...TAX_ID_STATES], {
        description:
          'The answer of VIES, the EU’s register of VAT numbers. `unavailable`: VIES has not answered yet, and the service asks again. `unchecked`: the service does not ask VIES about this id.',
      }),
    ),
  }),
})
export type Invoice = Type.Static<typeof Invoice>
export const Invoices = Type.Object({ items: Type.Array(Invoice), nextCursor: NextCursor })

export const InvoicesQuery = Type.Object({
  ...PageQuery,
  orderId: Type.Optional(Type.String({ pattern: idPattern('ord'), description: 'Those of one order.' })),
  kind: Type.Optional(Type.Enum(['invoice', 'credit_note', 'correction'], { description: 'Those of one kind.' })),
  year: Type.Optional(Type.String({ pattern: '^20[0-9]{2}$', description: 'Of the number (UTC).' })),
  format: CsvFormat,
})
export const InvoiceParams = Type.Object({
  invoiceId: Type.String({ pattern: idPattern('inv'), description: 'The `invoiceId` of a list.' }),
})
export const InvoiceToken = Type.Object({ token: Type.String({ maxLength: 100, description: 'From the link.' }) })
