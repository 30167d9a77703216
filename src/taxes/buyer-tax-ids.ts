import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { isForSale } from '../products/off-sale.ts'
import { checkTaxId, isEu } from '../tax-ids/check.ts'
import { type TypedTaxId, cleanTaxId } from '../tax-ids/typed.ts'
import type { AskRegister, RegisterAnswer } from '../tax-ids/vies.ts'
import { vatArea } from './sale-tax.ts'

/** VIES is often away for minutes. */
const VIES_RETRY_SECONDS = 60

/** The tax id with which a buyer orders as a business. */
export interface BuyerTaxId extends TypedTaxId {
  /** `valid`: VIES said so. `unchecked`: VIES was not asked, and the tax is as without the id. */
  verdict: 'valid' | 'unchecked'
  /** VIES's proof that the seller has asked. */
  consultation: string | null
  /** The seller's own VAT number. Null: the seller has none in the tax profile. */
  sellerTaxId: string | null
  /** ISO 8601. */
  checkedAt: string
}

export interface Business {
  productId: string
  /** The buyer's country (ISO 3166-1), which the id belongs to. */
  country: string | undefined
  /** As the buyer typed it. */
  taxId: string
}

export type CheckBuyerTaxId = (business: Business) => Promise<BuyerTaxId>

/**
 * Checks a buyer's tax id by its digits, and asks VIES where the buyer would owe the tax by it. Only "valid" takes the tax off. An answer
 * that VIES does not give is not "invalid", and takes no tax off either: the buyer tries again, or orders without the id and with tax.
 * Refuses `country_required`, `tax_id_invalid`, `tax_id_not_registered` and `tax_id_check_unavailable`.
 */
export const buyerTaxIdChecker =
  (db: Db, ask: AskRegister): CheckBuyerTaxId =>
  async ({ productId, country, taxId }) => {
    if (country === undefined)
      throw new Refusal('country_required', 'A tax id belongs to a country. Please say which one you are in.')
    const { rows } = await sql<Profile>`
      select ${vatArea(sql`${country}::text`)} as "buyerCountry", f.seller_id as "sellerId", ${vatArea(sql`f.country`)} as "sellerCountry",
        f.tax_ids as "taxIds", f.is_exempt as "isExempt",
        coalesce(f.tax_ids, '{}') || array(select one->>'id' from invoice_profiles i, jsonb_array_elements(i.tax_ids) one where i.seller_id = p.seller_id) as "ownIds"
      from (select) one left join products p on p.id = ${productId} and ${isForSale} left join tax_profiles f on f.seller_id = p.seller_id`.execute(
      db,
    )
    const profile = rows[0]!
    const typed = cleanTaxId({ country: profile.buyerCountry, id: taxId })
    refuseOwnId(profile, typed)
    const sellerTaxId = vatNumberOf(profile)
    const unchecked = {
      ...typed,
      verdict: 'unchecked' as const,
      consultation: null,
      sellerTaxId,
      checkedAt: new Date().toISOString(),
    }
    if (!sellerTaxId || !canOweTax(profile)) return unchecked
    const valid = await askOnce(db, ask, { ...profile, sellerTaxId }, typed)
    return valid ? { ...unchecked, ...valid, verdict: 'valid' } : unchecked
  }

/** A seller and a buyer, by their VAT areas. */
export interface TaxPair {
  /** Null: not known. */
  buyerCountry: string | null
  sellerCountry: string
  taxIds: string[]
  isExempt: boolean
  /** All ids of the seller, which stand on the invoices for everybody to read. */
  ownIds: string[]
}

/** A seller can be registered in several countries. With such a number anybody else would buy without tax. */
function refuseOwnId({ ownIds }: Profile, { country, id }: TypedTaxId): void {
  const numbers = ownIds.map((one) => checkTaxId(country, one))
  if (numbers.some((one) => one.ok && one.normalized === id))
    throw new Refusal('tax_id_invalid', 'This is the seller’s own tax id. Use that of your business.')
}

interface Profile extends TaxPair {
  buyerCountry: string
  sellerId: string
}

/** Whether a business there owes the tax itself, if VIES knows its number. As `taxOnSale` decides it. */
export function canOweTax(pair: TaxPair): boolean {
  const { buyerCountry, sellerCountry, isExempt } = pair
  if (isExempt || buyerCountry === null || buyerCountry === sellerCountry) return false
  return isEu(buyerCountry) && isEu(sellerCountry) && vatNumberOf(pair) !== null
}

/** Without a VAT number of the seller there is no invoice with reverse charge (Directive 2006/112/EC, Article 226). */
function vatNumberOf({ sellerCountry, taxIds }: TaxPair): string | null {
  if (!isEu(sellerCountry ?? '')) return null
  const numbers = taxIds.map((id) => checkTaxId(sellerCountry, id))
  return numbers.find((one) => one.ok)?.normalized ?? null
}

/** Undefined: VIES is switched off. */
async function askOnce(
  db: Db,
  ask: AskRegister,
  { sellerId, sellerCountry, sellerTaxId }: Profile & { sellerTaxId: string },
  { country, id }: TypedTaxId,
): Promise<Pick<BuyerTaxId, 'consultation' | 'checkedAt'> | undefined> {
  const { rows } = await sql<{ consultation: string | null; checkedAt: Date }>`
    select consultation, answered_at as "checkedAt" from vies_answers
    where seller_id = ${sellerId} and country = ${country} and tax_id = ${id} and answered_at > now() - interval '1 day'`.execute(
    db,
  )
  if (rows[0]) return { ...rows[0], checkedAt: rows[0].checkedAt.toISOString() }
  const answer = await ask({ country, taxId: id }, { sellerId, country: sellerCountry, taxId: sellerTaxId })
  if (answer.state === 'unchecked') return undefined
  refuseUnlessValid(answer, id)
  const consultation = answer.consultation ?? null
  await sql`
    insert into vies_answers (seller_id, country, tax_id, consultation) values (${sellerId}, ${country}, ${id}, ${consultation})
    on conflict (seller_id, country, tax_id) do update set consultation = excluded.consultation, answered_at = now()`.execute(
    db,
  )
  return { consultation, checkedAt: new Date().toISOString() }
}

function refuseUnlessValid({ state }: RegisterAnswer, id: string): void {
  if (state === 'invalid')
    throw new Refusal('tax_id_not_registered', `The EU’s register (VIES) does not know ${id}. Correct it, or order without it.`) // oxfmt-ignore
  if (state === 'unavailable')
    throw new Refusal('tax_id_check_unavailable', 'The EU’s register of VAT numbers (VIES) does not answer. Try again later, or order without the number: the price then has the tax.', { retryAfterSeconds: VIES_RETRY_SECONDS }) // oxfmt-ignore
}

/** The part of a statement that keeps the tax ids of the new orders `made`. `wanted` has `id` and `buyer_tax_id`. */
export const keptTaxIds = (made: RawBuilder<unknown>, wanted: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  insert into buyer_tax_ids (order_id, country, tax_id, verdict, consultation, seller_tax_id, checked_at)
  select m.id, b.country, b.id, b.verdict, b.consultation, b."sellerTaxId", b."checkedAt"
  from ${made} m join ${wanted} w on w.id = m.id
  cross join lateral jsonb_to_record(w.buyer_tax_id) as b(country text, id text, verdict text, consultation text, "sellerTaxId" text,
    "checkedAt" timestamptz)
  where m.tax_treatment is not null and w.buyer_tax_id is not null`

/** An answer counts for a day. */
export async function forgetViesAnswers(db: Db): Promise<void> {
  await sql`delete from vies_answers where answered_at < now() - interval '1 day'`.execute(db)
}
