/** About five minutes in all: a second payment of the same order nearly always arrives within them. */
const LOOKS = 16
const FIRST_MS = 4_000
const GROWTH = 1.3
const MOST_MS = 30_000

/**
 * When to ask again about a paid order: a second payment can still arrive, the service sends it back, and the page
 * tells the buyer. The returned function gives the next wait in milliseconds, and undefined after the last one.
 */
export function lateLooks(): () => number | undefined {
  let looks = 0
  return () => (looks < LOOKS ? Math.min(FIRST_MS * GROWTH ** looks++, MOST_MS) : undefined)
}
