import { Refusal } from './errors.ts'
import { type IdPrefix, isId } from './ids.ts'
import { limitOf } from './schema.ts'

// Lists go from one row to the next by its id, which never changes and is never given twice: rows that are made while
// somebody turns the pages move none of the others.

/** How many, and after which id. Refuses `validation_failed`. */
export function pageOf(
  prefix: IdPrefix,
  { cursor, limit }: { cursor?: string | undefined; limit?: string | undefined },
): { after: string | undefined; limit: number } {
  const count = limitOf(limit)
  const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString()
  if (after !== undefined && !isId(prefix, after)) throw refusal('cursor', 'must be the nextCursor of a page before')
  return { after, limit: count }
}

/** A page of the rows that were read: one more than fits says that there is a next one. */
export function asPage<Row extends { id: string }>(
  rows: readonly Row[],
  limit: number,
): { items: Row[]; nextCursor: string | null } {
  const items = rows.slice(0, limit)
  return { items, nextCursor: rows.length > limit ? Buffer.from(items.at(-1)!.id).toString('base64url') : null }
}

const refusal = (path: string, message: string) =>
  new Refusal('validation_failed', 'The query is not valid.', { fields: [{ path, message }] })
