import { sql } from 'kysely'
import { inOrder } from '../products/find.ts'
import type { WithdrawnFile } from '../products/schema.ts'

/**
 * The files `f` that belong to an order `o`: those the product had when the order was made, and those added since. A file that the
 * seller removes while the bank still works on the payment, which can take days, is delivered all the same.
 */
export const isFileOfOrder = sql<boolean>`f.product_id = o.product_id and (f.removed_at is null or f.removed_at > o.created_at)`

/** The files of the order that a buyer can download: all except recalled ones. */
export const isBoughtFile = sql<boolean>`${isFileOfOrder} and not exists (
  select from withdrawn_files w where w.seller_id = o.seller_id and w.sha256 = f.sha256)`

/** The recalled files of a paid order. Null where there are none, which is nearly always. */
export const recalledFiles = sql<WithdrawnFile[] | null>`case when o.paid_at is not null then (
  select json_agg(json_build_object('id', f.id, 'name', f.name, 'reason', w.reason, 'withdrawnAt', w.withdrawn_at) order by ${inOrder})
  from withdrawn_files w join files f on f.sha256 = w.sha256
  where w.seller_id = o.seller_id and ${isFileOfOrder}) end`
