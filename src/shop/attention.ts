import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { leftMinor } from '../orders/returned-money.ts'
import { waitsForSomebody } from '../orders/states.ts'
import { hasFiles } from '../products/off-sale.ts'
import { MISSING_RATES } from '../taxes/profile.ts'
import { ATTENTION } from './schema.ts'

export interface Matter {
  what: (typeof ATTENTION)[number]
  orderId: string | null
  productId: string | null
  name: string | null
  email: string | null
  at: Date
}

const MOST_SHOWN = 20
/** The seller has seen older failed refunds, or no longer needs them. */
const REFUND_DAYS = 60
/** The seller only needs to notice a recall, and has nothing to do. */
const RECALLED_DAYS = 14

/**
 * Lists everything that waits for a seller, by weight. Disputes and withdrawals come oldest first, because the oldest one's answer is due
 * first; others come newest first. `payable` tells whether a processor of this service takes a currency.
 */
export async function attentionOf(db: Db, sellerId: string, payable: (currency: string) => boolean): Promise<Matter[]> {
  const unpayable = await unpayableOf(db, sellerId, payable)
  const { rows } = await sql<Matter>`
    select w.what, w.order_id as "orderId", w.product_id as "productId", w.name, w.email, w.at from (
      (select o.state as what, o.id as order_id, o.product_id, o.product_name as name, o.email,
          coalesce((select max(e.at) from order_events e where e.order_id = o.id and e.what = o.state), o.created_at) as at
        from orders o where o.seller_id = ${sellerId} and o.state in ('needs_review', 'disputed')
          and ${waitsForSomebody}
          -- money that went back waits for no decision
          and (o.state = 'disputed' or exists (
            select from captures c where c.order_id = o.id and c.purpose = 'mismatch' and ${leftMinor} > 0)))
      union all
      (select 'receipt_bounced', o.id, o.product_id, o.product_name, o.email, o.receipt_bounced_at
        from orders o where o.seller_id = ${sellerId} and o.receipt_bounced_at is not null
          and ${waitsForSomebody})
      union all
      (select 'refund_failed', o.id, o.product_id, o.product_name, o.email, r.created_at
        from refunds r join orders o on o.id = r.order_id
          -- the operator sends a payment back that is not the sale: the seller's refund would return the price
          join captures c on c.processor = r.processor and c.processor_capture_id = r.processor_capture_id and c.purpose = 'sale'
        -- nor does it count when the operator has accepted the payment after all
        where r.state = 'failed' and r.reason <> 'duplicate' and r.created_at > now() - make_interval(days => ${REFUND_DAYS}) and o.seller_id = ${sellerId}
          and o.state in ('paid', 'partially_refunded')
          and not exists (
            select from refunds n where n.order_id = r.order_id and n.processor_capture_id = r.processor_capture_id
              and n.created_at > r.created_at and n.state <> 'failed')
        order by r.created_at desc limit ${MOST_SHOWN})
      union all
      -- the seller's 14 days run from the first statement
      (select 'withdrawn', o.id, o.product_id, o.product_name, o.email, min(w.received_at)
        from withdrawal_orders wo join withdrawals w on w.id = wo.withdrawal_id join orders o on o.id = wo.order_id
        where wo.seller_id = ${sellerId} and wo.done_at is null and o.state not in ('refunded', 'charged_back')
          -- before the payment there is nothing to refund
          and o.paid_at is not null
        group by o.id)
      union all
      (select 'file_withdrawn', null, p.id, p.name, null, max(w.withdrawn_at)
        from withdrawn_files w join products p on p.seller_id = w.seller_id
          join files f on f.product_id = p.id and f.sha256 = w.sha256
        where w.seller_id = ${sellerId} and w.withdrawn_at > now() - make_interval(days => ${RECALLED_DAYS})
        group by p.id)
      union all
      (select 'no_files', null, p.id, p.name, null, coalesce(p.off_sale_since, p.updated_at)
        from products p where p.seller_id = ${sellerId} and not ${hasFiles}
          and (p.status = 'active' or (p.status = 'draft' and p.off_sale_since is not null))
        order by coalesce(p.off_sale_since, p.updated_at) desc limit ${MOST_SHOWN})
      union all
      (select 'no_payments', null, p.id, p.name, null, p.updated_at
        from products p where p.seller_id = ${sellerId} and p.status = 'active' and p.currency = any(${unpayable})
          and (p.price_minor > 0 or p.pay_what_you_want)
          -- where a further price is payable, the page begins with it
          and not exists (
            select from product_prices pp where pp.product_id = p.id and not pp.currency = any(${unpayable}))
        order by p.updated_at desc limit ${MOST_SHOWN})
      union all
      (select 'tax_rate_missing', null, null, string_agg(m.country, ', ' order by m.country), null, f.updated_at
        from tax_profiles f cross join lateral (${MISSING_RATES}) m where f.seller_id = ${sellerId} group by f.updated_at)
      union all
      (select 'price_not_offered', null, p.id, p.name, null, p.updated_at
        from products p where p.seller_id = ${sellerId} and p.status = 'active' and exists (
          select from product_prices pp where pp.product_id = p.id
            and (pp.currency = any(${unpayable}) or p.currency = any(${unpayable})))
          and (not p.currency = any(${unpayable}) or exists (
            select from product_prices pp where pp.product_id = p.id and not pp.currency = any(${unpayable})))
        order by p.updated_at desc limit ${MOST_SHOWN})) as w (what, order_id, product_id, name, email, at)
    order by array_position(${[...ATTENTION]}::text[], w.what::text), case when w.what in ('disputed', 'withdrawn') then w.at end,
      w.at desc, w.order_id, w.product_id limit ${MOST_SHOWN}`.execute(db)
  return rows
}

/** The currencies of a seller's products that no processor takes. */
async function unpayableOf(db: Db, sellerId: string, payable: (currency: string) => boolean): Promise<string[]> {
  const { rows: sold } = await sql<{ currency: string }>`
    select currency from products where seller_id = ${sellerId} and status = 'active'
    union
    select pp.currency from products p join product_prices pp on pp.product_id = p.id
    where p.seller_id = ${sellerId} and p.status = 'active'`.execute(db)
  return sold.map(({ currency }) => currency).filter((currency) => !payable(currency))
}
