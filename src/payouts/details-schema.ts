import { Type } from 'typebox'
import { Currency, Time } from '../kit/schema.ts'
import { PLAIN_TEXT } from '../sellers/schema.ts'
import { DESTINATION_KINDS } from './destination.ts'

/** SEPA, and many banks elsewhere, take names of this length. */
const LONGEST_NAME = 70
const LONGEST_LINE = 100
const MOST_LINES = 10

const kind = Type.Enum([...DESTINATION_KINDS], {
  description:
    '`iban`: an account with an IBAN. `upi`: a UPI id. `india_account`: an Indian account with its IFSC. `other`: the lines that the bank needs, for accounts elsewhere.',
})

export const DetailsParams = Type.Object({
  currency: Type.String({ minLength: 1, maxLength: 10, description: 'ISO 4217, upper case.', examples: ['EUR'] }),
})

export const NewPayoutDetails = Type.Object({
  kind,
  name: Type.String({
    minLength: 1,
    maxLength: LONGEST_NAME,
    pattern: PLAIN_TEXT,
    description: 'The holder of the account, as the bank knows it.',
  }),
  country: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 2,
      description: 'With `other`: the country of the account, in two letters.',
    }),
  ),
  iban: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description: 'With `iban`. Best without spaces.',
      examples: ['DE89370400440532013000'],
    }),
  ),
  bic: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 20,
      description: 'With `iban`, where the bank has one.',
      examples: ['COBADEFFXXX'],
    }),
  ),
  upiId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 330, description: 'With `upi`.', examples: ['ann.shop@okbank'] }),
  ),
  account: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description:
        'With `india_account`: the IFSC and the account number in one. Together, because many account numbers look like the number of a card, and these are refused.',
      examples: ['HDFC000123450100012345678'],
    }),
  ),
  lines: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_LINE, pattern: PLAIN_TEXT }), {
      minItems: 1,
      maxItems: MOST_LINES,
      description: 'With `other`: what the bank needs, such as its name, its codes and the account number.',
    }),
  ),
})

export const PayoutDetails = Type.Object({
  currency: Currency,
  kind,
  country: Type.String({ description: 'The country of the account, in two letters.' }),
  shown: Type.String({
    description: 'Enough to recognise the account. The rest is encrypted and is never shown again.',
  }),
  changedAt: Time,
  payableFrom: Type.String({ description: 'Payouts go there from this moment: 72 hours after the change.' }),
})
export type PayoutDetails = Type.Static<typeof PayoutDetails>
export const PayoutDetailsList = Type.Object({ items: Type.Array(PayoutDetails) })
