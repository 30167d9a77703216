import { Type } from 'typebox'
import { idempotencyHeaders } from '../kit/idempotency.ts'
import { idPattern } from '../kit/ids.ts'
import { LARGEST_AMOUNT } from '../kit/money.ts'
import { Amount, Currency, NO_NUL, NextCursor, PageQuery, Time } from '../kit/schema.ts'

// A product as its seller sees it. The descriptions here tell clients which values a field may have; fields.ts checks them.

export const PRODUCT_STATES = ['draft', 'active', 'archived'] as const
const MOST_PRICES = 12

const Status = Type.Enum([...PRODUCT_STATES], {
  description: 'Only an active product is for sale. Buyers of an archived product keep the files.',
})
const MinorUnits = (description: string) => Type.Integer({ minimum: 0, maximum: LARGEST_AMOUNT, description })
const Name = Type.String({ description: 'One line of 1 to 200 characters. We trim it.' })
const Description = Type.String({ description: 'Plain text of up to 5,000 characters. Line breaks stay.' })
const DefaultAmount = MinorUnits(
  'The price in integer minor units. 0 is free. With `payWhatYouWant` it is the lowest price.',
)
const NewCurrency = Type.String({ description: 'ISO 4217, upper case. Existing orders keep their currency.' })
const PayWhatYouWant = Type.Boolean({ description: 'The buyer chooses the price, from `amount` up.' })
const SuggestedAmount = Type.Union([Type.Integer({ minimum: 1, maximum: LARGEST_AMOUNT }), Type.Null()], {
  description: 'With `payWhatYouWant`: the price that the page suggests, not below `amount`. Null removes it.',
})
const StatementSuffix = Type.String({
  description:
    'The part of the statement descriptor after the service’s prefix and "* ". At least 2 of A-Z, 0-9, space, point and hyphen; it has a letter, and begins with a letter or a digit. The whole descriptor has at most 22 characters. By default we make it from the product’s first name. An order cuts a longer one at a word.',
})

const MostMinor = { minimum: 0, maximum: LARGEST_AMOUNT }
export const Price = Type.Object(
  {
    currency: Type.String({ description: 'ISO 4217, upper case. A product has at most one price in a currency.' }),
    amount: Type.Integer({
      ...MostMinor,
      description: 'Integer minor units. With `payWhatYouWant` it is the amount that the page begins with.',
    }),
    minimum: Type.Optional(
      Type.Integer({
        ...MostMinor,
        description: 'With `payWhatYouWant`: the lowest price, not above `amount`. By default it is `amount`.',
      }),
    ),
  },
  { description: 'A price in one currency.' },
)
export type Price = Type.Static<typeof Price>
const NewPrices = Type.Array(Price, {
  minItems: 1,
  maxItems: MOST_PRICES,
  description:
    'All prices, the default one first. It replaces `amount`, `currency` and `suggestedAmount`, which are the default price. Nothing is converted: a buyer pays one of these prices.',
})
const Prices = Type.Array(Price, { description: 'All prices, each in another currency. The first is the default.' })

export const NewProductBody = Type.Object(
  {
    name: Name,
    description: Type.Optional(Description),
    amount: Type.Optional(DefaultAmount),
    currency: Type.Optional(NewCurrency),
    prices: Type.Optional(NewPrices),
    status: Type.Optional(
      Type.Enum(['draft', 'active'], {
        description:
          'Only `draft`, which is the default: a new product has no files, and a product without files is not for sale.',
      }),
    ),
    payWhatYouWant: Type.Optional(PayWhatYouWant),
    suggestedAmount: Type.Optional(SuggestedAmount),
    statementSuffix: Type.Optional(StatementSuffix),
  },
  {
    description: 'It needs `amount` and `currency`, or `prices`.',
    examples: [
      { name: 'The Quiet Shop', description: 'A short field guide.', amount: 1900, currency: 'USD' },
      {
        name: 'The Quiet Shop',
        prices: [
          { currency: 'USD', amount: 1900 },
          { currency: 'INR', amount: 49_900 },
        ],
      },
    ],
  },
)
export const NewProductHeaders = idempotencyHeaders(
  'A random text, such as a UUID. The same key and body always give the same product, so a repeat makes no second one.',
)
export type NewProductBody = Type.Static<typeof NewProductBody>

export const ProductChange = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    amount: Type.Optional(DefaultAmount),
    currency: Type.Optional(NewCurrency),
    prices: Type.Optional(NewPrices),
    status: Type.Optional(Status),
    payWhatYouWant: Type.Optional(PayWhatYouWant),
    suggestedAmount: Type.Optional(SuggestedAmount),
    statementSuffix: Type.Optional(StatementSuffix),
  },
  { examples: [{ amount: 2400 }, { status: 'active' }, { amount: 500, payWhatYouWant: true, suggestedAmount: 1500 }] },
)
export type ProductChange = Type.Static<typeof ProductChange>

export const ProductFile = Type.Object({
  id: Type.String(),
  name: Type.String(),
  size: Type.Integer({ description: 'Bytes.' }),
  sha256: Type.String({ description: 'Hex.' }),
  contentType: Type.String(),
  createdAt: Time,
})

export const FileChange = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: NO_NUL,
        description: 'The name that all buyers see, also earlier ones, and the name of the downloaded file.',
      }),
    ),
    position: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 500,
        description: 'Its place among the files of the product: 1 is the first. A place beyond the end is the last.',
      }),
    ),
  },
  { examples: [{ name: 'Second edition.pdf' }, { position: 1 }] },
)

export const WithdrawnFile = Type.Object({
  id: Type.String(),
  name: Type.String(),
  reason: Type.String({ description: 'One line: the reason that the mail to buyers gives.' }),
  withdrawnAt: Time,
})
export type WithdrawnFile = Type.Static<typeof WithdrawnFile>
/** The field of a response. It is absent when no file was recalled. */
export const WithdrawnFiles = Type.Optional(
  Type.Array(WithdrawnFile, {
    description: 'The files that the operator has recalled. No buyer can download them.',
  }),
)
/** Converts the rows' times, which the database writes in its own format. */
export const recalledFilesOf = (files: readonly WithdrawnFile[] | null): { withdrawnFiles?: WithdrawnFile[] } =>
  files
    ? { withdrawnFiles: files.map((file) => ({ ...file, withdrawnAt: new Date(file.withdrawnAt).toISOString() })) }
    : {}

/** The addresses of a product's picture in all sizes. */
export const ImageUrls = Type.Object(
  {
    '320': Type.String(),
    '640': Type.String(),
    '1280': Type.String(),
    preview: Type.String({ description: 'A JPEG of 1200 by 630, for link previews and mails.' }),
  },
  { description: 'WebP pictures of at most that width. The picture at an address never changes.' },
)
export const ImageUrl = Type.String({ description: 'The largest of `images`, or a picture on another server.' })

export const Product = Type.Object(
  {
    id: Type.String(),
    sellerId: Type.String(),
    name: Type.String(),
    description: Type.String(),
    status: Status,
    amount: Amount,
    currency: Currency,
    prices: Prices,
    payWhatYouWant: PayWhatYouWant,
    suggestedAmount: Type.Optional(Amount),
    statementSuffix: Type.String(),
    files: Type.Array(ProductFile, { description: 'In the order in which buyers see them.' }),
    withdrawnFiles: WithdrawnFiles,
    imageUrl: Type.Optional(ImageUrl),
    images: Type.Optional(ImageUrls),
    payUrl: Type.String({ description: 'The hosted page where buyers pay, once the product is active.' }),
    createdAt: Time,
    updatedAt: Time,
  },
  {
    examples: [
      {
        id: 'prod_01kakd3v5xq4m8s2t6w0y9r7bn',
        sellerId: 'sel_01kakd1c0g3h5j7k9m2n4p6q8r',
        name: 'The Quiet Shop',
        description: 'A short field guide.',
        status: 'active',
        amount: 1900,
        currency: 'USD',
        prices: [{ currency: 'USD', amount: 1900 }],
        payWhatYouWant: false,
        statementSuffix: 'THE QUIET SHOP',
        files: [
          {
            id: 'file_01kakd4m2n5p8q1r3s6t9v0w2x',
            name: 'The Quiet Shop.pdf',
            size: 1_048_576,
            sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
            contentType: 'application/pdf',
            createdAt: '2026-11-21T09:30:12.000Z',
          },
        ],
        payUrl: 'https://pay.example.com/pay/?product=prod_01kakd3v5xq4m8s2t6w0y9r7bn',
        createdAt: '2026-11-21T09:30:00.000Z',
        updatedAt: '2026-11-21T09:30:00.000Z',
      },
    ],
  },
)
export type Product = Type.Static<typeof Product>

export const ProductList = Type.Object({ items: Type.Array(Product), nextCursor: NextCursor })
export const ProductQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(Status),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: NO_NUL,
      description: 'A part of the name. Case does not matter.',
    }),
  ),
})

export const OwnProductParams = Type.Object({ productId: Type.String({ pattern: idPattern('prod') }) })
export const OwnFileParams = Type.Object({
  productId: Type.String({ pattern: idPattern('prod') }),
  fileId: Type.String({ pattern: idPattern('file') }),
})
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'The `ETag` of the product that the client read. If the product has changed since, the response is 412 and nothing changes.',
    }),
  ),
})
