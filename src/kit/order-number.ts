/**
 * The short form of an order's number, such as `K4QW-6KFZ`: the last eight characters of its id, 40 random bits. People read it out and
 * type it; it opens nothing. The alphabet has no i, l, o or u. This file imports nothing, because the pages use it too.
 */
export const shortNumber = (orderId: string): string => `${orderId.slice(-8, -4)}-${orderId.slice(-4)}`.toUpperCase()

/** The end of an order's id that a short number stands for, as people may have heard or typed it. Undefined: it is none. */
export function endOfNumber(typed: string): string | undefined {
  const text = typed.trim().toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1')
  const found = /^([0-9a-hjkmnp-tv-z]{4})[- ]?([0-9a-hjkmnp-tv-z]{4})$/.exec(text)
  return found ? `${found[1]}${found[2]}` : undefined
}
