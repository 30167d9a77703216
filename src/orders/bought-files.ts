import { sql } from 'kysely'

/**
 * The files `f` that an order `o` opens: what the product had when the order was made, and what was added since. Counted from
 * the order's making and not from its payment, which can take a bank days: what was promised then is what is delivered.
 */
export const isBoughtFile = sql<boolean>`f.product_id = o.product_id and (f.removed_at is null or f.removed_at > o.created_at)`
