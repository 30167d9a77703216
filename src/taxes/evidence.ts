import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../kit/database.ts'

/** So many rows at once end well within a statement's time limit. */
const FORGET_AT_ONCE = 2000

/**
 * The part of a statement that keeps the place evidence. `made` has the new orders with their `tax_treatment`; `places` has
 * `id, declared, seen, is_confirmed`. Only a contradiction can be confirmed.
 */
export const keptEvidence = (made: RawBuilder<unknown>, places: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  insert into place_evidence (order_id, source, country)
  select m.id, e.source, e.country
  from ${made} m join ${places} w on w.id = m.id
  cross join lateral (values ('declared', w.declared), ('proxy', w.seen),
    ('confirmed', case when w.is_confirmed and w.declared <> w.seen then w.declared end))
    as e(source, country)
  where m.tax_treatment is not null and e.country is not null`

/** Removes evidence and tax ids after ten years. The database refuses to remove them earlier. */
export async function sweepEvidence(db: Db): Promise<void> {
  for (let forgotten = FORGET_AT_ONCE; forgotten === FORGET_AT_ONCE;) {
    const { rows } = await sql`
      delete from place_evidence where (order_id, source) in (
        select order_id, source from place_evidence where noted_at < now() - interval '10 years' limit ${FORGET_AT_ONCE})
      returning source`.execute(db)
    forgotten = rows.length
  }
  for (let forgotten = FORGET_AT_ONCE; forgotten === FORGET_AT_ONCE;) {
    const { rows } = await sql`
      delete from buyer_tax_ids where order_id in (
        select order_id from buyer_tax_ids where noted_at < now() - interval '10 years' limit ${FORGET_AT_ONCE})
      returning order_id`.execute(db)
    forgotten = rows.length
  }
}
