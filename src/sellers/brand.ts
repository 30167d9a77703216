import { sql } from 'kysely'
import { Type } from 'typebox'
import { type Db, inTransaction } from '../kit/database.ts'
import { newId } from '../kit/ids.ts'
import { type Theme, themeOf } from './accent.ts'

/** How a seller's pages and mails look to buyers, as it is stored. */
export interface Brand {
  /** `#0a6248` */
  accent?: string
  logoId?: string
  websiteUrl?: string
  termsUrl?: string
  privacyUrl?: string
  refundPolicy?: string
  /** Buyers agree to get the files within the withdrawal period. */
  asksConsent?: boolean
}

const Link = (description: string) => Type.Optional(Type.String({ description }))

/** The parts of a brand that buyers see. */
export const BrandFields = {
  logoUrl: Link('The seller’s logo, at most 400 × 160 pixels.'),
  theme: Type.Optional(
    Type.Object(
      { accent: Type.String(), accentDeep: Type.String(), onAccent: Type.String() },
      {
        description:
          'CSS colours for light and dark pages, made of the seller’s accent so that everybody can read them.',
      },
    ),
  ),
  websiteUrl: Link('The seller’s own site.'),
  termsUrl: Link('The seller’s terms.'),
  privacyUrl: Link('The seller’s privacy notice.'),
  refundPolicy: Type.Optional(Type.String({ description: 'The seller’s refund policy, plain text.' })),
}
export interface BrandView {
  logoUrl?: string
  theme?: Theme
  websiteUrl?: string
  termsUrl?: string
  privacyUrl?: string
  refundPolicy?: string
}

export function brandView(baseUrl: string, { accent, logoId, asksConsent: _, ...links }: Brand): BrandView {
  return { ...links, ...(logoId && { logoUrl: logoUrl(baseUrl, logoId) }), ...(accent && { theme: themeOf(accent) }) }
}

/** Whether the seller `s` asks buyers for their consent. */
export const asksConsent = sql<boolean>`coalesce((s.brand->>'asksConsent')::boolean, false)`

export const logoUrl = (baseUrl: string, logoId: string): string => `${baseUrl}/api/logos/${logoId}`

export async function findBrand(db: Db, sellerId: string): Promise<Brand> {
  const { rows } = await sql<{ brand: Brand }>`select brand from sellers where id = ${sellerId}`.execute(db)
  return rows[0]?.brand ?? {}
}

/** A change of a brand: null removes a part, and absent parts stay. */
export type BrandChange = { [Part in keyof Omit<Brand, 'logoId'>]?: Brand[Part] | null | undefined }

export async function changeBrand(db: Db, sellerId: string, change: BrandChange): Promise<Brand> {
  const { rows } = await sql<{ brand: Brand }>`
    update sellers set brand = jsonb_strip_nulls(brand || ${JSON.stringify(change)}::jsonb) where id = ${sellerId}
    returning brand`.execute(db)
  return rows[0]?.brand ?? {}
}

/** Mails may show the last of them. */
const LOGOS_KEPT = 10

/** Gives the seller another logo. Earlier ones stay readable, up to a number. */
export const setLogo = (db: Db, sellerId: string, webp: Buffer): Promise<Brand> =>
  inTransaction(db, async (tx) => {
    const id = newId('logo')
    // the update locks the seller, so that uploads of one seller come one after the other
    const { rows } = await sql<{ brand: Brand }>`
      update sellers set brand = brand || jsonb_build_object('logoId', ${id}::text) where id = ${sellerId}
      returning brand`.execute(tx)
    await sql`insert into logos (id, seller_id, webp) values (${id}, ${sellerId}, ${webp})`.execute(tx)
    await sql`
      delete from logos where seller_id = ${sellerId} and id not in (
        select id from logos where seller_id = ${sellerId} order by id desc limit ${LOGOS_KEPT})`.execute(tx)
    return rows[0]?.brand ?? {}
  })

export async function removeLogo(db: Db, sellerId: string): Promise<void> {
  await sql`update sellers set brand = brand - 'logoId' where id = ${sellerId}`.execute(db)
}

export async function readLogo(db: Db, logoId: string): Promise<Buffer | undefined> {
  const { rows } = await sql<{ webp: Buffer }>`select webp from logos where id = ${logoId}`.execute(db)
  return rows[0]?.webp
}
