import { Refusal } from './errors.ts'

// Keyset pagination: each page begins after the last row of the page before. Rows that are added or changed meanwhile never make a
// page repeat or skip another row. A cursor names that last row by its id. A statement that sorts by time reads the row's time by
// the id, so the row must stay in its table and keep its time.

export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

const cursorOf = (id: string): string => Buffer.from(id).toString('base64url')

/** The id of the row after which the page begins. It must match `idPattern`. Refuses `validation_failed`. */
export function afterOf(cursor: string | undefined, idPattern: string): string | undefined {
  if (cursor === undefined) return undefined
  const id = Buffer.from(cursor, 'base64url').toString('latin1')
  // only the canonical form, because clients return our cursors unchanged
  if (new RegExp(idPattern).test(id) && cursorOf(id) === cursor) return id
  throw new Refusal('validation_failed', 'The cursor does not belong to this list.', {
    fields: [{ path: 'cursor', message: 'must be the nextCursor of the page before, unchanged' }],
  })
}

/** Makes a page of at most `limit` rows. The caller reads one row more, which tells whether there is another page. */
export function pageOf<Row extends { id: string }, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { items: shown.map(view), nextCursor: last ? cursorOf(last.id) : null }
}

/** Yields all pages in order. Each page is read when the caller has finished the page before. */
export async function* allPages<Row extends { id: string }>(
  read: (after: string | undefined, limit: number) => Promise<Row[]>,
  { after, limit }: { after: string | undefined; limit: number },
): AsyncGenerator<Row[]> {
  for (let rows: Row[] = []; ; after = rows.at(-1)?.id) {
    rows = await read(after, limit)
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
  }
}
