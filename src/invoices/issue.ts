import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Tx } from '../kit/database.ts'
import { newId } from '../kit/ids.ts'
import { share } from '../kit/money.ts'
import type { Rail } from '../processors/rails.ts'
import {
  type BuyerDetails,
  type InvoiceData,
  type InvoiceSeller,
  KIND_OF,
  type Reason,
  type TaxId,
} from './document.ts'

/** Money of an order that moved, for which a document is due. */
export interface DueDocument {
  orderId: string
  reason: Exclude<Reason, 'buyer_details'>
  /** Minor units of the order's currency. All credit notes of an order together are never more than its invoices. */
  amountMinor: number
  /** The entry in the books. */
  cause: string
}

interface Found {
  id: string
  sellerId: string
  prefix: string
  isOn: boolean
  seller: InvoiceSeller
  productName: string
  email: string
  locale: string | null
  amountMinor: number
  currency: string
  /** When the books got the sale. */
  paidAt: Date
  rail: Rail | null
  taxMinor: number | null
  taxRate: string | null
  taxCountry: string | null
  taxTreatment: NonNullable<InvoiceData['tax']>['treatment'] | null
  declaredCountry: string | null
  /** The invoice of the sale. */
  saleId: string | null
  /** Invoices less credit notes. */
  netMinor: number
  buyer: BuyerDetails | null
  /** The VAT numbers that the order pins when a business orders. */
  business: { taxId: TaxId; sellerTaxId: TaxId | null } | null
}

interface Draft {
  id: string
  sellerId: string
  orderId: string
  prefix: string
  reason: Reason
  cause: string
  refersTo: string | null
  amountMinor: number
  currency: string
  taxMinor: number | null
  data: InvoiceData
}

/**
 * Issues the invoice of each sale and a credit note for money that went back, for sellers who have switched invoices on. The caller has
 * locked and moved the orders. It comes last in a transaction, because the seller's numbers are locked from here to the commit. An
 * order that was sold without an invoice gets no credit note, and one with an invoice gets it also after the switch is off.
 */
export async function issueInvoices(tx: Tx, due: readonly DueDocument[]): Promise<void> {
  if (due.length === 0) return
  const orders = new Map(
    (await findOrders(tx, [...new Set(due.map(({ orderId }) => orderId))])).map((one) => [one.id, one]),
  )
  // ids of one millisecond lie in any order, and lists are in the order of their ids
  const ids = due.map(() => newId('inv')).toSorted()
  const drafts = due.flatMap((one, at) => {
    const order = orders.get(one.orderId)
    return order ? draftOf(order, one, ids[at]!) : []
  })
  await writeDrafts(tx, drafts)
}

/** Invoices less credit notes of the documents `i`. */
export const NET_MINOR = sql<number>`
  coalesce(sum(case i.kind when 'invoice' then i.amount_minor when 'credit_note' then -i.amount_minor end), 0)::bigint`

/** When the books got the sale of `o`, as the tax report counts it. `paid_at` of a bank debit is days before: the bank said yes later. */
const BOOKED_AT = sql`
  coalesce((select min(t.created_at) from transfers t where t.order_id = o.id and t.kind = 'sale'), o.paid_at)`

/** Orders of sellers with a profile, with the id of the sale's invoice and the net amount of all documents. */
async function findOrders(tx: Tx, orderIds: readonly string[]): Promise<Found[]> {
  const { rows } = await sql<Found>`
    select o.id, o.seller_id as "sellerId", p.prefix, p.is_on as "isOn",
      jsonb_build_object('name', p.legal_name, 'address', p.address, 'postcode', p.postcode, 'city', p.city, 'country', p.country,
        'email', coalesce(s.support_email, s.email), 'taxIds', p.tax_ids, 'note', p.note) as seller,
      o.product_name as "productName", o.email, o.locale, o.amount_minor as "amountMinor", o.currency, ${BOOKED_AT} as "paidAt", o.rail,
      o.tax_minor as "taxMinor", o.tax_rate::float8::text as "taxRate", o.tax_country as "taxCountry", o.tax_treatment as "taxTreatment",
      (select e.country from place_evidence e where e.order_id = o.id and e.source = 'declared') as "declaredCountry",
      (select i.id from invoices i where i.order_id = o.id and i.reason = 'sale') as "saleId",
      (select ${NET_MINOR} from invoices i where i.order_id = o.id) as "netMinor",
      (select i.data->'buyer'->'details' from invoices i where i.order_id = o.id and i.kind = 'correction'
        order by i.year desc, i.sequence desc limit 1) as buyer,
      (select jsonb_build_object('taxId', jsonb_build_object('country', b.country, 'id', b.tax_id), 'sellerTaxId',
          case when o.tax_treatment = 'reverse_charge' then jsonb_build_object('country', replace(left(b.seller_tax_id, 2), 'EL', 'GR'), 'id', b.seller_tax_id) end)
        from buyer_tax_ids b where b.order_id = o.id) as business
    from orders o join invoice_profiles p on p.seller_id = o.seller_id join sellers s on s.id = o.seller_id
    where o.id = any(${orderIds})`.execute(tx)
  return rows
}

/** Makes a document that is due, and brings `order` up to date for the next one. */
function draftOf(order: Found, { reason, cause, amountMinor: movedMinor }: DueDocument, id: string): Draft[] {
  const isSale = reason === 'sale'
  if (isSale ? !order.isOn : order.saleId === null) return []
  const before = order.netMinor
  const isInvoice = KIND_OF[reason] === 'invoice'
  // An instance of an earlier release may run beside this one and write no documents. A missing document must not hold up the money.
  const amountMinor = Math.min(movedMinor, isInvoice ? order.amountMinor - before : before)
  if (amountMinor <= 0) return []
  order.netMinor += isInvoice ? amountMinor : -amountMinor
  const refersTo = order.saleId
  if (isSale) order.saleId = id
  const taxMinor = order.taxMinor === null ? null : Math.abs(taxUpTo(order, order.netMinor) - taxUpTo(order, before))
  const { sellerId, prefix, currency } = order
  return [
    {
      id,
      sellerId,
      orderId: order.id,
      prefix,
      reason,
      cause,
      refersTo,
      amountMinor,
      currency,
      taxMinor,
      data: dataOf(order),
    },
  ]
}

/**
 * The tax within the rest of the price, by one running total of the money that went back, as the books have it. So each credit note has
 * the tax of its entry, and those of all the price have exactly its tax.
 */
const taxUpTo = ({ taxMinor, amountMinor }: Found, netMinor: number): number =>
  (taxMinor ?? 0) - share(taxMinor ?? 0, amountMinor - netMinor, amountMinor)

function dataOf(order: Found): InvoiceData {
  const { seller, email, buyer, business, declaredCountry, productName, taxTreatment, taxRate, taxCountry, locale, paidAt, rail } = order // oxfmt-ignore
  return {
    seller: withTaxId(seller, business?.sellerTaxId),
    buyer: {
      email,
      details: buyer,
      ...(declaredCountry && { country: declaredCountry }),
      ...(business && { taxId: business.taxId }),
    },
    line: { name: productName },
    tax: taxTreatment === null ? null : { treatment: taxTreatment, rate: taxRate ?? '0', country: taxCountry },
    locale: locale ?? 'en',
    paidAt: paidAt.toISOString(),
    rail,
  }
}

/** A document with reverse charge begins with the seller's VAT number of the order, which may stand in the tax profile alone. */
const withTaxId = (seller: InvoiceSeller, taxId: TaxId | null | undefined): InvoiceSeller =>
  taxId ? { ...seller, taxIds: [taxId, ...seller.taxIds.filter(({ id }) => id !== taxId.id)] } : seller

/**
 * Issues a corrected invoice with the details that the buyer has added. It has all of the invoice's amounts and a number of its own
 * series, and refers to the invoice. The caller has locked the order. Undefined: the order has no invoice.
 */
export async function issueCorrection(
  tx: Tx,
  orderId: string,
  details: BuyerDetails,
  cause: string,
): Promise<string | undefined> {
  const [order] = await findOrders(tx, [orderId])
  if (!order?.saleId) return undefined
  const { sellerId, prefix, amountMinor, currency, taxMinor, saleId } = order
  const id = newId('inv')
  const draft = { id, sellerId, orderId, prefix, reason: 'buyer_details' as const, cause, refersTo: saleId }
  await writeDrafts(tx, [{ ...draft, amountMinor, currency, taxMinor, data: dataOf({ ...order, buyer: details }) }])
  return id
}

/**
 * Takes the numbers and writes the documents, in one statement. The counters are locked in one order, so transactions that need several
 * never wait for each other in a circle.
 */
async function writeDrafts(tx: Tx, drafts: readonly Draft[]): Promise<void> {
  if (drafts.length === 0) return
  const rows = drafts.map((draft, at) => ({ ...draft, kind: KIND_OF[draft.reason], at }))
  const { rows: written } = await sql`
    with wanted as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as w(id text, "sellerId" text, "orderId" text, prefix text, kind text,
        reason text, cause text, "refersTo" text, "amountMinor" bigint, currency text, "taxMinor" bigint, data jsonb, at integer)),
    needed as (select "sellerId", kind, count(*)::int as many from wanted group by 1, 2),
    taken as (
      insert into invoice_counters as c (seller_id, kind, year, last, last_at)
      select "sellerId", kind, extract(year from now() at time zone 'UTC')::int, many, now() from needed order by 1, 2
      on conflict (seller_id, kind, year) do update set last = c.last + excluded.last, last_at = greatest(c.last_at, excluded.last_at)
      returning seller_id, kind, year, last, last_at),
    numbered as (
      select w.*, t.year, t.last_at, t.last - n.many + row_number() over (partition by w."sellerId", w.kind order by w.at) as sequence
      from wanted w join needed n using ("sellerId", kind) join taken t on t.seller_id = w."sellerId" and t.kind = w.kind)
    insert into invoices (id, seller_id, order_id, kind, reason, cause, refers_to, year, sequence, number, issued_at, amount_minor, currency,
      tax_minor, data)
    select id, "sellerId", "orderId", kind, reason, cause, "refersTo", year, sequence,
      prefix || '-' || year || '-' || case kind when 'credit_note' then 'C' when 'correction' then 'R' else '' end
        || lpad(sequence::text, greatest(6, length(sequence::text)), '0'),
      last_at, "amountMinor", currency, "taxMinor", data
    from numbered
    returning id`.execute(tx)
  assert.equal(written.length, drafts.length)
}
