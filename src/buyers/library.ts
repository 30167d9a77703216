import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import type { OrderFile } from '../orders/find.ts'
import type { Brand } from '../sellers/brand.ts'
import { type OrderInvoice, invoicesOfOrder } from '../orders/invoice-links.ts'
import { isBoughtFile, recalledFiles } from '../orders/bought-files.ts'
import { inOrder } from '../products/find.ts'
import type { WithdrawnFile } from '../products/schema.ts'
import { givesFiles } from '../orders/returned-money.ts'
import type { State } from '../orders/states.ts'

export interface Bought {
  id: string
  state: State
  productId: string
  productName: string
  imageId: string | null
  imageUrl: string | null
  sellerName: string
  supportEmail: string
  brand: Brand
  amountMinor: number
  currency: string
  createdAt: Date
  paidAt: Date
  /** The database's time of this reading. */
  readAt: Date
  files: OrderFile[]
  recalled: WithdrawnFile[] | null
  invoices: OrderInvoice[] | null
}

/** The paid orders of an address, of all sellers, newest first. The caller must have checked that the client owns the mailbox. */
export async function listBought(
  db: Db,
  email: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<Bought[]> {
  const conditions: RawBuilder<unknown>[] = [sql`o.email = ${email} and o.paid_at is not null`]
  if (after)
    conditions.push(sql`(o.created_at, o.id) < ((select created_at from orders where id = ${after}), ${after})`)
  const { rows } = await sql<Bought>`
    select o.id, o.state, o.product_id as "productId", o.product_name as "productName", p.image_id as "imageId", p.image_url as "imageUrl",
      s.name as "sellerName", coalesce(s.support_email, s.email) as "supportEmail", s.brand, o.amount_minor as "amountMinor", o.currency, o.created_at as "createdAt", o.paid_at as "paidAt", now() as "readAt",
      case when ${givesFiles} then
        (select coalesce(json_agg(json_build_object('id', f.id, 'name', f.name, 'size', f.size_bytes, 'sha256', f.sha256,
            'contentType', f.content_type) order by ${inOrder}), '[]')
          from files f where ${isBoughtFile})
        else '[]' end as files, ${recalledFiles} as recalled, ${invoicesOfOrder} as invoices
    from (
      select * from orders o where ${sql.join(conditions, sql` and `)}
      order by o.created_at desc, o.id desc limit ${limit}) o
    join products p on p.id = o.product_id join sellers s on s.id = o.seller_id
    order by o.created_at desc, o.id desc`.execute(db)
  return rows
}
