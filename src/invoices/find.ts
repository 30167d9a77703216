import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Invoice } from './document.ts'

const COLUMNS = sql`
  i.id, i.seller_id as "sellerId", i.order_id as "orderId", i.kind, i.reason, i.number, i.issued_at as "issuedAt",
  i.amount_minor as "amountMinor", i.currency, i.tax_minor as "taxMinor", i.data, f.number as "refersToNumber", f.issued_at as "refersToAt"`

type Row = Omit<Invoice, 'refersTo'> & { refersToNumber: string | null; refersToAt: Date | null }

const withReference = ({ refersToNumber, refersToAt, ...row }: Row): Invoice => ({
  ...row,
  refersTo: refersToNumber && refersToAt ? { number: refersToNumber, issuedAt: refersToAt } : null,
})

/** A document, of a seller if one is named. Refuses `invoice_not_found`. */
export async function findInvoice(db: Db, id: string, sellerId?: string): Promise<Invoice> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from invoices i left join invoices f on f.id = i.refers_to
    where i.id = ${id} and (${sellerId ?? null}::text is null or i.seller_id = ${sellerId ?? null})`.execute(db)
  if (!rows[0]) throw new Refusal('invoice_not_found', 'There is no such invoice.')
  return withReference(rows[0])
}

export interface InvoiceFilter {
  orderId?: string | undefined
  kind?: string | undefined
  year?: string | undefined
}

export type ListedRow = Invoice & { taxIdState: 'valid' | 'invalid' | 'unavailable' | 'unchecked' | null }

/** A seller's documents, newest first. */
export async function listInvoices(
  db: Db,
  sellerId: string,
  { orderId, kind, year }: InvoiceFilter,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListedRow[]> {
  const is = (column: string, value: string | undefined) =>
    value === undefined ? sql`` : sql` and ${sql.ref(`i.${column}`)} = ${value}`
  const { rows } = await sql<Row & Pick<ListedRow, 'taxIdState'>>`
    select ${COLUMNS}, coalesce(c.state, b.verdict) as "taxIdState"
    from invoices i left join invoices f on f.id = i.refers_to
      left join buyer_tax_ids b on b.order_id = i.order_id and b.tax_id = coalesce(i.data->'buyer'->'details'->'taxId'->>'id', i.data->'buyer'->'taxId'->>'id')
      -- the correction that brought the id has the check, and later documents repeat the id
      left join lateral (
        select c.state from invoices d join tax_id_checks c on c.invoice_id = d.id
        where d.order_id = i.order_id and c.tax_id = i.data->'buyer'->'details'->'taxId'->>'id'
          and (d.id = i.id or b.verdict is distinct from 'valid')
        order by d.id = i.id desc, d.id desc limit 1) c on true
    where i.seller_id = ${sellerId}${is('order_id', orderId)}${is('kind', kind)}${is('year', year)}
      ${after === undefined ? sql`` : sql` and i.id < ${after}`}
    order by i.id desc limit ${limit}`.execute(db)
  return rows.map(({ taxIdState, ...row }) => ({ ...withReference(row), taxIdState }))
}
