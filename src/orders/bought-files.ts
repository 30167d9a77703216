import { sql } from 'kysely'
import { inOrder } from '../products/find.ts'
import type { WithdrawnFile } from '../products/schema.ts'

/**
 * The files `f` that an order `o` is for: what the product had when the order was made, and what was added since. Counted from
 * the order's making and not from its payment, which can take a bank days: what was promised then is what is delivered.
 */
export const isFileOfOrder = sql<boolean>`f.product_id = o.product_id and (f.removed_at is null or f.removed_at > o.created_at)`

/** The files of the order that its links open. A recalled file opens for no buyer, paid or not. */
export const isBoughtFile = sql<boolean>`${isFileOfOrder} and not exists (
  select from withdrawn_files w where w.seller_id = o.seller_id and w.sha256 = f.sha256)`

/** And the others, for who has paid; null where there are none, which is nearly always. */
export const withdrawnFiles = sql<WithdrawnFile[] | null>`case when o.paid_at is not null then (
  select json_agg(json_build_object('id', f.id, 'name', f.name, 'reason', w.reason, 'withdrawnAt', w.withdrawn_at) order by ${inOrder})
  from withdrawn_files w join files f on f.sha256 = w.sha256
  where w.seller_id = o.seller_id and ${isFileOfOrder}) end`
