import { sql } from 'kysely'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { DETAILS_DAYS } from '../orders/invoice-links.ts'
import { viesCountry } from '../tax-ids/check.ts'
import { cleanTaxId } from '../tax-ids/typed.ts'
import type { Address, BuyerDetails, TaxId } from './document.ts'
import { NET_MINOR, issueCorrection } from './issue.ts'
import { cleanAddress, filledText } from './party.ts'
import { LONGEST } from './schema.ts'

/** More corrections of one order are play, and each takes a number of the seller's. */
const MOST_CORRECTIONS = 5

export interface GivenDetails extends Address {
  name: string
  taxId?: string | undefined
}

/**
 * Issues a corrected invoice with the details that the buyer has added: it refers to the invoice and takes its place, which Article 219
 * of the VAT Directive treats as an invoice. The same details again change nothing. Refuses `validation_failed`, `country_unknown`,
 * `tax_id_invalid`, `invoice_not_found`, `invoice_details_over` and `too_many_corrections`.
 */
export function addInvoiceDetails(
  db: Db,
  orderId: string,
  given: GivenDetails,
  { asksVies }: { asksVies: boolean },
): Promise<void> {
  const party = cleanParty(given)
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ inTime: boolean; amountMinor: number; taxId: TaxId | null }>`
      select paid_at > now() - make_interval(days => ${DETAILS_DAYS}) as "inTime", amount_minor as "amountMinor", ${TAX_ID} as "taxId"
      from orders o where id = ${orderId} for update`.execute(tx)
    // the order's id takes the place of what was typed, which then may be anything
    const details: BuyerDetails = { ...party, taxId: rows[0]?.taxId ?? typedTaxId(given) }
    // a statement of its own, after the lock
    const { corrections, last, hasInvoice, netMinor } = await correctionsOf(tx, orderId)
    if (!hasInvoice) throw new Refusal('invoice_not_found', 'This order has no invoice. The seller issues none here.')
    if (last !== null && isSame(last, details)) return
    if (!rows[0]?.inTime)
      throw new Refusal('invoice_details_over', `Details can be added for ${DETAILS_DAYS} days after the payment. Please write to the seller.`) // oxfmt-ignore
    // it would be over the whole price, and the credit note is not to that company
    if (netMinor < rows[0].amountMinor)
      throw new Refusal('invoice_details_over', 'Money of this order went back, so its invoice stays as it is. Please write to the seller.') // oxfmt-ignore
    if (corrections >= MOST_CORRECTIONS)
      throw new Refusal('too_many_corrections', 'This invoice was corrected several times. Please write to the seller.')
    const invoiceId = await issueCorrection(tx, orderId, details, `details:${corrections + 1}`)
    if (invoiceId && details.taxId) await noteTaxId(tx, invoiceId, details.taxId, asksVies)
  })
}

/** An order that has no tax because of a tax id keeps this id. */
const TAX_ID = sql`(
  select jsonb_build_object('country', b.country, 'id', b.tax_id) from buyer_tax_ids b
  where b.order_id = o.id and o.tax_treatment = 'reverse_charge')`

const cleanParty = ({ name, taxId: _, ...address }: GivenDetails): Omit<BuyerDetails, 'taxId'> => ({
  name: filledText('name', name, LONGEST.name),
  ...cleanAddress(address),
})

function typedTaxId({ taxId, country }: GivenDetails): TaxId | null {
  const id = taxId?.trim()
  return id ? cleanTaxId({ country, id }) : null
}

async function correctionsOf(tx: Tx, orderId: string) {
  const { rows } = await sql<{ corrections: number; last: BuyerDetails | null; hasInvoice: boolean; netMinor: number }>`
    select count(*) filter (where kind = 'correction')::int as corrections,
      coalesce(bool_or(reason = 'sale'), false) as "hasInvoice", ${NET_MINOR} as "netMinor",
      (array_agg(data->'buyer'->'details' order by year desc, sequence desc) filter (where kind = 'correction'))[1] as last
    from invoices i where order_id = ${orderId}`.execute(tx)
  return rows[0]!
}

/** The database sorts the fields in its own way. */
const isSame = (a: BuyerDetails, b: BuyerDetails): boolean => textOf(a) === textOf(b)
const textOf = ({ name, address, postcode, city, country, taxId }: BuyerDetails): string =>
  JSON.stringify([name, address, postcode, city, country, taxId?.country, taxId?.id])

/** Without VIES, or in a country that VIES does not know, no check is due. */
async function noteTaxId(
  tx: Tx,
  invoiceId: string,
  { country, id }: { country: string; id: string },
  asksVies: boolean,
) {
  const dueAt = asksVies && viesCountry(country) ? sql`now()` : sql`null`
  await sql`
    insert into tax_id_checks (invoice_id, country, tax_id, due_at) values (${invoiceId}, ${country}, ${id}, ${dueAt})`.execute(
    tx,
  )
}
