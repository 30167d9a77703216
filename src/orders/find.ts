import { sql } from 'kysely'
import { batched } from '../kit/batch.ts'
import { compiledOnce } from '../kit/compiled.ts'
import { type Db, isDatabaseOutage } from '../kit/database.ts'
import { genericPlanArray } from '../kit/plans.ts'
import { type OrderInvoice, invoicesOfOrder } from './invoice-links.ts'
import { isBoughtFile, isFileOfOrder, recalledFiles } from './bought-files.ts'
import type { WithdrawnFile } from '../products/schema.ts'
import type { Brand } from '../sellers/brand.ts'
import { chargedBackMinor, isFullRefundPending, isPaymentReturned } from './returned-money.ts'
import { type OrderTax, taxOfOrder } from './new-order.ts'
import type { State } from './states.ts'
import { paidBy } from './paid-by.ts'
import type { Rail } from '../processors/rails.ts'
import type { PaidBy } from '../processors/statement-line.ts'

/** The wrong addresses that were tried for an order lately, and the time until they are forgotten. */
export interface WrongEmails {
  count: number
  secondsLeft: number
}

/** The limit's key for wrong addresses that were tried with an order. */
export const wrongEmailKey = (orderId: string): string => `wrong_email:${orderId}`

export interface OrderFile {
  id: string
  name: string
  size: number
  sha256: string
  contentType: string
  /** The place that the seller gave the file. Files without one come last. */
  position?: number | null
}

/** An order as its page shows it. The caller decides which parts the client may see. */
export interface OrderView {
  id: string
  email: string
  state: State
  amountMinor: number
  /** The discount. */
  discountMinor: number
  currency: string
  tax: OrderTax | null
  refundedMinor: number
  /** The money that banks took back. */
  chargedBackMinor: number
  statementDescriptor: string
  paidBy: PaidBy | null
  productId: string
  productName: string
  sellerName: string
  /** Where buyers reach the seller. */
  supportEmail: string
  brand: Brand
  rail: Rail | null
  createdAt: Date
  paidAt: Date | null
  /** The database's time of this reading. */
  readAt: Date
  /** A bank has the buyer's "yes" and has not answered: another payment now could be a second one. */
  bankAtWork: boolean
  /** The payment did not match the price, and all of it is back or on its way back. */
  paymentReturned: boolean
  /** The mail server refused the order's address when the receipt was sent. */
  receiptBounced: boolean
  /** No receipt was mailed, because too many mails about free orders had been sent. */
  receiptHeld: boolean
  /** Where the buyer goes on after the payment, and goes back to, on the seller's own site. */
  successUrl: string | null
  cancelUrl: string | null
  /** All of the money is on its way back, so the buyer has no files any more, unless the refund fails. */
  fullRefundPending: boolean
  wrongEmails: WrongEmails | null
  events: { id: number; at: string; what: string }[]
  /** The files that the product had when the order was made, and those added since. */
  files: OrderFile[]
  recalled: WithdrawnFile[] | null
  /** Null: the seller has issued none. */
  invoices: OrderInvoice[] | null
}

export type FindOrder = (id: string) => Promise<OrderView | undefined>

const readOrders = compiledOnce<{ ids: readonly string[] }, OrderView>(
  (given) => sql`
    select o.id, o.email, o.state, o.amount_minor as "amountMinor", o.discount_minor as "discountMinor", o.currency, ${taxOfOrder(sql`o`)} as tax, o.refunded_minor as "refundedMinor",
      ${chargedBackMinor} as "chargedBackMinor",
      o.statement_descriptor as "statementDescriptor", ${paidBy} as "paidBy", o.product_id as "productId", o.product_name as "productName", o.rail,
      s.name as "sellerName", coalesce(s.support_email, s.email) as "supportEmail", s.brand,
      o.created_at as "createdAt", o.paid_at as "paidAt", now() as "readAt", o.success_url as "successUrl", o.cancel_url as "cancelUrl",
      case when o.state = 'processing' then
        exists (select from payments p where p.order_id = o.id and p.state = 'processing')
        else false end as "bankAtWork", ${isPaymentReturned} as "paymentReturned",
      (select json_build_object('count', l.count, 'secondsLeft', ceil(extract(epoch from l.until - now())))
        from limits l where l.key = ${wrongEmailKey('')} || o.id and l.until > now()) as "wrongEmails",
      (select coalesce(json_agg(e), '[]') from (
        select id, at, what from order_events where order_id = o.id) e) as events,
      o.receipt_bounced_at is not null as "receiptBounced", o.receipt_held_at is not null as "receiptHeld", known.full_refund_pending as "fullRefundPending",
      case when o.state in ('paid', 'partially_refunded') and not known.full_refund_pending then
        (select coalesce(json_agg(files), '[]') from (
          select f.id, f.name, f.size_bytes as size, f.sha256, f.content_type as "contentType", f.position
          from files f where ${isFileOfOrder} and (not known.some_recalled or ${isBoughtFile})) files)
        else '[]' end as files,
      case when known.some_recalled then ${recalledFiles} end as recalled, ${invoicesOfOrder} as invoices
    from orders o join sellers s on s.id = o.seller_id,
      -- "offset 0" keeps PostgreSQL from computing both again for each use, which takes a third more time for the whole statement
      lateral (select ${isFullRefundPending} as full_refund_pending,
        exists (select from withdrawn_files w where w.seller_id = o.seller_id) as some_recalled offset 0) known
    where o.id = any(${genericPlanArray(given('ids'), 'text')}::text[])`,
)

/** Finds orders by id. Orders that are requested at the same moment share one statement. */
export function orderFinder(db: Db): FindOrder {
  return batched(
    async (ids: readonly string[]) => {
      const rows = await readOrders(db, { ids })
      // sorted here, because a sort for each order would be a tenth of the database's work
      for (const { events, files } of rows) {
        events.sort((a, b) => a.id - b.id)
        files.sort((a, b) => (a.position ?? Infinity) - (b.position ?? Infinity) || (a.id < b.id ? -1 : 1))
      }
      const byId = new Map(rows.map((order) => [order.id, order]))
      return ids.map((id) => byId.get(id))
    },
    { most: 64, atOnce: 2, isOutage: isDatabaseOutage },
  )
}
