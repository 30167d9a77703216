import { Type } from 'typebox'
import { type Brand as StoredBrand, BrandFields, brandView } from '../../sellers/brand.ts'

export const TAG = ['Brand']

const Accent = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', examples: ['#0a6248'], description: 'The accent colour.' })
const Link = (description: string) =>
  Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 500, examples: ['https://shop.example/terms'] }), Type.Null()], {
      description: `${description} An https address. Null removes it.`,
    }),
  )

/** A brand as its seller sees it. */
export const Brand = Type.Object({
  ...BrandFields,
  accent: Type.Optional(Accent),
  asksConsent: Type.Boolean({
    description: 'Buyers of paid products agree to get the files within the withdrawal period.',
  }),
})
export type Brand = Type.Static<typeof Brand>

export const BrandChange = Type.Object(
  {
    accent: Type.Optional(Type.Union([Accent, Type.Null()], { description: 'Null: our own colour.' })),
    websiteUrl: Link('Your own site.'),
    termsUrl: Link('Your terms.'),
    privacyUrl: Link('What you do with personal data.'),
    refundPolicy: Type.Optional(
      Type.Union(
        [
          Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f]*$' }),
          Type.Null(),
        ],
        { description: 'Plain text with line breaks. Null removes it.' },
      ),
    ),
    asksConsent: Type.Optional(
      Type.Boolean({
        description:
          'Buyers of paid products must agree to get the files at once, and so lose the right of withdrawal. For sellers to consumers in the EU.',
      }),
    ),
  },
  { minProperties: 1 },
)
export type BrandChange = Type.Static<typeof BrandChange>

export const ownBrand = (baseUrl: string, brand: StoredBrand): Brand => ({
  ...brandView(baseUrl, brand),
  ...(brand.accent && { accent: brand.accent }),
  asksConsent: brand.asksConsent ?? false,
})
