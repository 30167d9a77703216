/** It travels in a cookie, of which there can be several. */
const LONGEST = 200
/** Segments of letters, digits, `_` and `-`: no `//`, no `\`, no `..`, nothing encoded, so nothing that somebody could read as another host; and no page is below /api. */
const OWN_PATH = /^\/(?!api(?:\/|\?|$))(?:[\w-]+\/)*[\w-]*(?:\?[\w=&.-]*)?$/

/** Where to go back to: a path of our own, or else `fallback`. */
export const returnPath = (asked: unknown, fallback: string): string =>
  typeof asked === 'string' && asked.length <= LONGEST && OWN_PATH.test(asked) ? asked : fallback
