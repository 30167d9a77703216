import { sql } from 'kysely'
import { Refusal } from './errors.ts'
import { type IdPrefix, isId } from './ids.ts'
import { limitOf } from './schema.ts'

// Lists are read page by page from where the last one ended: the place is the last row's time, to the microsecond, and its id. What
// is added or changed meanwhile moves no row into a page twice, nor out of all of them.

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

/** The place that a cursor of ours names, whose id looks as `idPattern` says. Refuses `validation_failed`. */
export function placeOf(cursor: string | undefined, idPattern: string): Place | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, micros, id] = /^(\d{1,16})\.(.+)$/s.exec(text) ?? []
  // the canonical form only: what is ours is given back as it was
  const isOurs =
    id !== undefined && new RegExp(idPattern).test(id) && cursorOf({ micros: Number(micros), id }) === cursor
  if (!isOurs || !Number.isSafeInteger(Number(micros))) throw notOurs()
  return { micros: Number(micros), id }
}

const notOurs = () =>
  new Refusal('validation_failed', 'The cursor is not one of this list.', {
    fields: [{ path: 'cursor', message: 'is the nextCursor of the page before, as it was' }],
  })

/** For a query: a column's time as `micros`, and back. */
export const microsOf = (column: string) => sql<number>`(extract(epoch from ${sql.ref(column)}) * 1000000)::bigint`
export const timeOf = (micros: number) =>
  sql<Date>`(timestamptz 'epoch' + ${micros}::double precision * interval '1 microsecond')`

/** A page of what was read, one row more than it has: the further row says that there is another page. */
export function pageOf<Row extends Place, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { items: shown.map(view), nextCursor: last ? cursorOf(last) : null }
}

/** All pages, one after the other, each read when the one before it is used up. */
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

/** Of a list in the order of its ids, which lie in the order of their making: after which one, and how many. Refuses `validation_failed`. */
export function afterId(
  prefix: IdPrefix,
  { cursor, limit }: { cursor?: string | undefined; limit?: string | undefined },
): { after: string | undefined; limit: number } {
  const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString('latin1')
  if (after !== undefined && !isId(prefix, after)) throw notOurs()
  return { after, limit: limitOf(limit) }
}

/** A page of such a list, of one row more than it has. */
export function pageById<Row extends { id: string }>(rows: readonly Row[], limit: number): Page<Row> {
  const items = rows.slice(0, limit)
  return { items, nextCursor: rows.length > limit ? Buffer.from(items.at(-1)!.id).toString('base64url') : null }
}
