import { type RawBuilder, sql } from 'kysely'
import { type DueDocument, issueInvoices } from '../invoices/issue.ts'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { post } from '../ledger/post.ts'
import { missingTaxTransfers } from '../ledger/transfers.ts'

/** One batch locks this many orders, and takes the invoice numbers for them. */
const AT_ONCE = 50
/** How long an order is looked at. A release that leaves something out runs beside this one for minutes. */
const DAYS = 100

/**
 * Books the tax and issues the invoices that an earlier release left out while it ran beside this one. Nothing existing changes, so it can
 * run again at any time. Each batch is one transaction, which locks its orders as `settle` does and reads them after that.
 * It looks through the orders of months, so the statements of `db` may take as long as they need.
 */
export async function fillIn(db: Db): Promise<void> {
  await inBatches(db, MISSING_TAX, bookTax)
  await inBatches(db, MISSING_DOCUMENTS, issueDocuments)
}

/** `missing` says of orders `o`, with the sums `b` of their entries, whether something is missing. */
async function inBatches(
  db: Db,
  missing: RawBuilder<boolean>,
  fill: (tx: Tx, orderIds: string[]) => Promise<void>,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const from: string = after
    after = await inTransaction(db, async (tx) => {
      const { rows } = await sql<{ id: string }>`
        select o.id from orders o cross join lateral (${BOOKED}) b
        where o.id > ${from} and ${IS_RECENT} and ${missing} order by o.id limit ${AT_ONCE}`.execute(tx)
      const orderIds = rows.map(({ id }) => id)
      // a second statement takes the locks, so that no payment waits for the long search above
      await sql`select from orders where id = any(${orderIds}) order by id for update`.execute(tx)
      if (orderIds.length > 0) await fill(tx, orderIds)
      return orderIds.at(-1)
    })
  }
}

const IS_RECENT = sql`o.paid_at > now() - make_interval(days => ${DAYS}) and o.amount_minor > 0`

/** The books' figures for an order `o`. Money that was suspended was no sale. */
const BOOKED = sql`
  select max(t.cause) filter (where t.kind = 'sale') as cause, count(*)::int as entries,
    coalesce(sum(t.amount_minor) filter (where t.kind = 'tax'), 0) as tax,
    coalesce(sum(case t.kind when 'tax_refund' then t.amount_minor when 'tax_again' then -t.amount_minor end), 0) as tax_back,
    least(o.amount_minor, greatest(0, coalesce(sum(case
      when t.kind in ('refund', 'dispute_loss') and coalesce(h.debit_account, '') <> 'held' then t.amount_minor
      when t.kind in ('refund_failed', 'dispute_return') and t.credit_account <> 'held' then -t.amount_minor end), 0)))::bigint as returned
  from transfers t left join transfers h on t.kind = 'dispute_loss' and h.kind = 'dispute_hold' and h.cause = t.cause
  where t.order_id = o.id`

/** The tax of the money that went back. */
const TAX_BACK_DUE = sql`share_of(o.tax_minor, b.returned, o.amount_minor)`
/** Another amount than the order's is no omission: the reconciliation reports it. */
const MISSING_TAX = sql<boolean>`(o.tax_minor > 0 and b.cause is not null and b.tax in (0, o.tax_minor)
  and (b.tax = 0 or b.tax_back <> ${TAX_BACK_DUE}))`

async function bookTax(tx: Tx, orderIds: string[]): Promise<void> {
  const { rows } = await sql<{
    orderId: string
    sellerId: string
    currency: string
    cause: string
    taxMinor: number
    backMinor: number
    entries: number
  }>`
    select o.id as "orderId", o.seller_id as "sellerId", o.currency, b.cause, b.entries, (o.tax_minor - b.tax)::bigint as "taxMinor",
      (${TAX_BACK_DUE} - b.tax_back)::bigint as "backMinor"
    from orders o cross join lateral (${BOOKED}) b where o.id = any(${orderIds}) and ${MISSING_TAX}`.execute(tx)
  await post(tx, rows.flatMap(missingTaxTransfers))
}

const NET = sql`(select coalesce(sum(case i.kind when 'invoice' then i.amount_minor when 'credit_note' then -i.amount_minor end), 0)
  from invoices i where i.order_id = o.id)`
/** An order that was paid before its seller switched invoices on has none, and gets none. */
const MISSING_DOCUMENTS = sql<boolean>`(b.cause is not null and case
  when exists (select from invoices i where i.order_id = o.id and i.reason = 'sale') then ${NET} <> o.amount_minor - b.returned
  else exists (select from invoice_profiles p where p.seller_id = o.seller_id and p.is_on and o.paid_at >= p.on_since) end)`

/** In the order of the books: the sale, money that went back, and money that came again. */
async function issueDocuments(tx: Tx, orderIds: string[]): Promise<void> {
  const { rows } = await sql<DueDocument>`
    select t.order_id as "orderId", r.reason, t.amount_minor as "amountMinor", t.cause
    from orders o cross join lateral (${BOOKED}) b join transfers t on t.order_id = o.id
    left join transfers h on t.kind = 'dispute_loss' and h.kind = 'dispute_hold' and h.cause = t.cause
    cross join lateral (select case t.kind when 'sale' then 'sale' when 'refund' then 'refund' when 'dispute_loss' then 'chargeback'
      when 'refund_failed' then 'returned' when 'dispute_return' then 'returned' end as reason) r
    where o.id = any(${orderIds}) and ${MISSING_DOCUMENTS} and r.reason is not null
      and coalesce(h.debit_account, '') <> 'held' and t.credit_account <> 'held'
      and not exists (select from invoices i where i.order_id = o.id and i.reason = r.reason and i.cause = t.cause)
    order by o.id, t.kind <> 'sale', t.created_at, t.kind, t.cause`.execute(tx)
  await issueInvoices(tx, rows)
}
