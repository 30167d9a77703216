/** Short, because the path is stored in a cookie and a browser can have several of them. */
const LONGEST = 200
/**
 * Segments of letters, digits, `_` and `-`. Without `//`, `\`, `..` or encoded characters, no browser reads the path as another host.
 * No page is below /api.
 */
const OWN_PATH = /^\/(?!api(?:\/|\?|$))(?:[\w-]+\/)*[\w-]*(?:\?[\w=&.-]*)?$/

/** Returns `requested` when it is a path of our own, and `fallback` otherwise. */
export const returnPath = (requested: unknown, fallback: string): string =>
  typeof requested === 'string' && requested.length <= LONGEST && OWN_PATH.test(requested) ? requested : fallback
