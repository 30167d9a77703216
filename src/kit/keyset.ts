import { sql } from 'kysely'
import { Refusal } from './errors.ts'
import { type IdPrefix, isId } from './ids.ts'
import { limitOf } from './schema.ts'

// Keyset pagination: each page begins after the last row of the page before, found by that row's time (to the microsecond) and id.
// So rows that are added or changed meanwhile never make a page repeat or skip another row.

export interface Place {
  /** Microseconds since 1970: more than a Date holds. */
  micros: number
  id: string
}

export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

export const cursorOf = ({ micros, id }: Place): string => Buffer.from(`${micros}.${id}`).toString('base64url')

/** The place that a cursor names. Its id must match `idPattern`. Refuses `validation_failed`. */
export function placeOf(cursor: string | undefined, idPattern: string): Place | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, micros, id] = /^(\d{1,16})\.(.+)$/s.exec(text) ?? []
  // only the canonical form, because clients return our cursors unchanged
  const isOurs =
    id !== undefined && new RegExp(idPattern).test(id) && cursorOf({ micros: Number(micros), id }) === cursor
  if (!isOurs || !Number.isSafeInteger(Number(micros))) throw notOurs()
  return { micros: Number(micros), id }
}

const notOurs = () =>
  new Refusal('validation_failed', 'The cursor does not belong to this list.', {
    fields: [{ path: 'cursor', message: 'must be the nextCursor of the page before, unchanged' }],
  })

/** SQL that turns a column's time into `micros`, and back. */
export const microsOf = (column: string) => sql<number>`(extract(epoch from ${sql.ref(column)}) * 1000000)::bigint`
export const timeOf = (micros: number) =>
  sql<Date>`(timestamptz 'epoch' + ${micros}::double precision * interval '1 microsecond')`

/** Makes a page of at most `limit` rows. The caller reads one row more, which tells whether there is another page. */
export function pageOf<Row extends Place, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { items: shown.map(view), nextCursor: last ? cursorOf(last) : null }
}

/** Yields all pages in order. Each page is read when the caller has finished the page before. */
export async function* allPages<Row extends Place>(
  read: (after: Place | undefined, limit: number) => Promise<Row[]>,
  { after, limit }: { after: Place | undefined; limit: number },
): AsyncGenerator<Row[]> {
  for (let rows: Row[] = []; ; after = rows.at(-1)) {
    rows = await read(after, limit)
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
  }
}

/** For a list in order of its ids: the id after which the page begins, and its size. Refuses `validation_failed`. */
export function afterId(
  prefix: IdPrefix,
  { cursor, limit }: { cursor?: string | undefined; limit?: string | undefined },
): { after: string | undefined; limit: number } {
  const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString('latin1')
  if (after !== undefined && !isId(prefix, after)) throw notOurs()
  return { after, limit: limitOf(limit) }
}

/** Makes a page of a list in order of its ids. The caller reads one row more than `limit`. */
export function pageById<Row extends { id: string }>(rows: readonly Row[], limit: number): Page<Row> {
  const items = rows.slice(0, limit)
  return { items, nextCursor: rows.length > limit ? Buffer.from(items.at(-1)!.id).toString('base64url') : null }
}
