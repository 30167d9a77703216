import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import { LOCALES, type Locale } from '../../kit/locales.ts'
import { Time } from '../../kit/schema.ts'
import { ASKED, hashOfText, textOf } from './texts.ts'

/** A statement that a buyer has to agree to, in one language. */
export const AskedConsent = Type.Object({
  textId: Type.String(),
  locale: Type.Enum([...LOCALES]),
  text: Type.String(),
})
export type AskedConsent = Type.Static<typeof AskedConsent>

/** A buyer's agreement to a statement. */
export const GivenConsent = Type.Object({
  textId: Type.String({ maxLength: 40, pattern: '^[a-z]+-[0-9]+$', examples: ['immediate-1'] }),
  locale: Type.Enum([...LOCALES], { description: 'The language in which the buyer read it.' }),
})
export type GivenConsent = Type.Static<typeof GivenConsent>

/** The form in which an order keeps it. */
export const KeptConsent = Type.Object({
  ...AskedConsent.properties,
  sha256: Type.String({ description: 'Of the text in UTF-8.' }),
  at: Time,
})
export type KeptConsent = Type.Static<typeof KeptConsent>

/** The statements for a buyer, in a language. */
export const askedIn = (locale: Locale): AskedConsent[] =>
  ASKED.map(({ id, texts }) => ({ textId: id, locale, text: texts[locale] }))

/** Whether everything that is asked now has been agreed to. */
export const isComplete = (given: readonly GivenConsent[] | undefined): boolean =>
  ASKED.every(({ id }) => given?.some(({ textId }) => textId === id) ?? false)

export interface ConsentRow extends GivenConsent {
  orderId: string
  sha256: Buffer
}

/** The rows of an order's consents. Unknown statements are left out. */
export function consentRows(orderId: string, given: readonly GivenConsent[] = []): ConsentRow[] {
  const once = new Map(given.map((one) => [one.textId, one]))
  return [...once.values()].flatMap(({ textId, locale }) => {
    const text = textOf(textId, locale)
    return text === undefined ? [] : [{ orderId, textId, locale, sha256: hashOfText(text) }]
  })
}

/** The part of the SQL query that stores the consents of the orders in `made`. */
export function keptConsents(made: RawBuilder<unknown>, rows: readonly ConsentRow[]): RawBuilder<unknown> {
  const column = <K extends keyof ConsentRow>(name: K) => rows.map((row) => row[name])
  return sql`
    insert into order_consents (order_id, text_id, sha256, locale)
    select m.id, c.text_id, c.sha256, c.locale
    from unnest(${column('orderId')}::text[], ${column('textId')}::text[], ${column('sha256')}::bytea[], ${column('locale')}::text[])
      as c(order_id, text_id, sha256, locale)
    join ${made} m on m.id = c.order_id`
}

/** The consents of an order `o`, as JSON. */
export const consentsOfOrder = sql<StoredConsent[] | null>`(
  select jsonb_agg(jsonb_build_object('textId', c.text_id, 'locale', c.locale, 'sha256', encode(c.sha256, 'hex'), 'at', c.agreed_at)
    order by c.text_id)
  from order_consents c where c.order_id = o.id)`

export interface StoredConsent {
  textId: string
  locale: Locale
  sha256: string
  at: string
}

/** With the texts, for people. */
export const consentsView = (stored: readonly StoredConsent[] | null): KeptConsent[] =>
  (stored ?? []).map(({ at, ...one }) => ({
    ...one,
    text: textOf(one.textId, one.locale) ?? '',
    at: new Date(at).toISOString(),
  }))
