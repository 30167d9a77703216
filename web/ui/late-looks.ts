/** Over some five minutes: a second payment of the same order is nearly always found within them. */
const LOOKS = 16
const FIRST_MS = 4_000
const GROWTH = 1.3
const MOST_MS = 30_000

/**
 * When to ask again about an order that is paid: a second payment can still arrive, is sent back, and the page says so by itself.
 * The returned function gives the next wait in milliseconds, and undefined once it has asked often enough.
 */
export function lateLooks(): () => number | undefined {
  let looks = 0
  return () => (looks < LOOKS ? Math.min(FIRST_MS * GROWTH ** looks++, MOST_MS) : undefined)
}
