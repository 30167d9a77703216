import type { Delivery } from './deliveries-api.ts'

/**
 * The rows on the page with newer ones: each delivery once, newest first. A row in the range of `fresh` that `fresh`
 * lacks has left the filter. It goes, unless `isHeld` says that somebody reads it. `reachesEnd`: `fresh` goes down to the oldest one.
 */
export function merge(
  rows: readonly Delivery[],
  fresh: readonly Delivery[],
  { reachesEnd, isHeld }: { reachesEnd: boolean; isHeld: (eventId: string) => boolean },
): Delivery[] {
  const oldest = reachesEnd ? '' : (fresh.at(-1)?.eventId ?? '')
  const byId = new Map(
    rows.filter(({ eventId }) => eventId < oldest || isHeld(eventId)).map((row) => [row.eventId, row]),
  )
  for (const row of fresh) byId.set(row.eventId, row)
  return [...byId.values()].sort((one, other) => (one.eventId < other.eventId ? 1 : -1))
}

/** Reads pages until one has a row that is known, so that nothing between is left out. Undefined: too much has come. */
export async function readNews(
  ask: (cursor: string | undefined) => Promise<{ items: Delivery[]; nextCursor: string | null }>,
  isKnown: (eventId: string) => boolean,
  mostPages = 5,
): Promise<{ fresh: Delivery[]; reachesEnd: boolean } | undefined> {
  const fresh: Delivery[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const { items, nextCursor } = await ask(cursor)
    fresh.push(...items)
    if (!nextCursor || items.some(({ eventId }) => isKnown(eventId))) return { fresh, reachesEnd: !nextCursor }
    cursor = nextCursor
  }
  return undefined
}
