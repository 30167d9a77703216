import { Type } from 'typebox'

// A seller in India tells the processor these, in the forms that Razorpay takes
// (https://razorpay.com/docs/api/payments/route/create-linked-account).

const line = (
  least: number,
  most: number,
  description: string,
  example: string,
  pattern = '^[^\\u0000-\\u001f\\u007f]*$',
) => Type.String({ minLength: least, maxLength: most, pattern, description, examples: [example] })

const BUSINESS_TYPES = [
  'individual',
  'proprietorship',
  'partnership',
  'llp',
  'private_limited',
  'public_limited',
  'trust',
  'society',
  'ngo',
] as const
const SELLS = ['texts', 'courses', 'software', 'games'] as const

export const Business = Type.Object({
  legalName: line(4, 200, 'The name of the business, or of the person, as it stands at the tax office.', 'Zoe Books'),
  businessType: Type.Enum([...BUSINESS_TYPES]),
  sells: Type.Enum([...SELLS], { description: 'What the products are, mostly.' }),
  contactName: line(4, 255, 'The person behind the business: letters and spaces.', 'Zoe Rao', "^[\\p{L} .']+$"),
  phone: Type.String({ pattern: '^\\+?[0-9]{8,15}$', description: 'Digits only.', examples: ['9000090000'] }),
  street1: line(1, 100, 'The registered address.', '1 Residency Road'),
  street2: line(1, 100, 'The second line of the address.', 'Ashok Nagar'),
  city: line(1, 100, 'The city.', 'Bengaluru'),
  state: line(2, 32, 'The state, such as KARNATAKA.', 'KARNATAKA'),
  postalCode: Type.String({ pattern: '^[1-9][0-9]{5}$', description: 'Six digits.', examples: ['560025'] }),
  pan: Type.String({
    pattern: '^[A-Z]{3}P[A-Z][0-9]{4}[A-Z]$',
    description: 'The PAN of the person.',
    examples: ['AAAPA1234A'],
  }),
  businessPan: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}[ABCFGHJLT][A-Z][0-9]{4}[A-Z]$',
      description: 'The PAN of the business, if it has one.',
    }),
  ),
  gst: Type.Optional(
    Type.String({
      pattern: '^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][0-9A-Z]{3}$',
      description: 'The GST number, if there is one.',
    }),
  ),
  account: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description:
        'The bank account that gets the money: its IFSC and its number in one, without spaces. Together, because many account numbers look like the number of a card, and these are refused.',
      examples: ['HDFC0000001123456789012'],
    }),
  ),
  accountNumber: Type.Optional(
    Type.String({
      pattern: '^[0-9A-Za-z]{5,35}$',
      description:
        'Instead of `account`, with `ifsc`: the number alone. One that looks like the number of a card is refused here.',
      examples: ['1234567890'],
    }),
  ),
  ifsc: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{4}0[A-Z0-9]{6}$',
      description: 'Instead of `account`, with `accountNumber`.',
      examples: ['HDFC0000001'],
    }),
  ),
  beneficiaryName: line(3, 120, 'Its holder.', 'Zoe Rao'),
  acceptsTerms: Type.Literal(true, { description: 'You accept the processor’s terms.' }),
})
export type Business = Type.Static<typeof Business>
