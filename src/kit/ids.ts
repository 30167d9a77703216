import { randomFillSync } from 'node:crypto'

/** Crockford's base32 in lower case. It has no i, l, o or u, so an id can be read aloud. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const RANDOM_BYTES = 10

export type IdPrefix =
  | 'sel'
  | 'prod'
  | 'file'
  | 'img'
  | 'ord'
  | 'pay'
  | 'ref'
  | 'evt'
  | 'ses'
  | 'idn'
  | 'dsc'
  | 'key'
  | 'we'
  | 'cnf'
  | 'run'
  | 'con'
  | 'po'
  | 'pof'
  | 'adj'
  | 'logo'
  | 'wdr'
  | 'inv'

/**
 * An id such as `ord_01k…`: 48 bits of time in milliseconds, so that rows of one table lie in order of creation, then 80 random
 * bits from the system's generator. An order id must not be guessable: with its address it opens the downloads.
 */
export function newId(prefix: IdPrefix, now = Date.now()): string {
  let id = ''
  for (let rest = now, i = 0; i < TIME_CHARACTERS; i++) {
    id = ALPHABET[rest % 32]! + id
    rest = Math.floor(rest / 32)
  }
  // five random bytes are exactly eight characters, so no bit is lost or biased
  const bytes = freshBytes(RANDOM_BYTES)
  for (let at = 0; at < RANDOM_BYTES; at += 5) {
    const [a, b, c, d, e] = bytes.subarray(at, at + 5) as unknown as [number, number, number, number, number]
    const high = (a << 12) | (b << 4) | (c >> 4)
    const low = ((c & 15) << 16) | (d << 8) | e
    for (const part of [high, low]) for (let shift = 15; shift >= 0; shift -= 5) id += ALPHABET[(part >> shift) & 31]
  }
  return `${prefix}_${id}`
}

/** The smallest id of a time in milliseconds: ids of one table before it are older. */
export const firstIdAt = (prefix: IdPrefix, time: number): string =>
  `${newId(prefix, time).slice(0, prefix.length + 1 + TIME_CHARACTERS)}${ALPHABET[0]!.repeat(16)}`

/** The creation time of an id in milliseconds, or undefined when the text is no id. */
export function timeOfId(prefix: IdPrefix, id: string): number | undefined {
  if (!isId(prefix, id)) return undefined
  const time = id.slice(prefix.length + 1, prefix.length + 1 + TIME_CHARACTERS)
  return [...time].reduce((ms, character) => ms * 32 + ALPHABET.indexOf(character), 0)
}

/** The system's generator needs about the same time for ten bytes as for thousands, so bytes are fetched in advance. */
const pool = new Uint8Array(4096)
let used = pool.length

/** Random bytes. No byte is given out twice. */
export function freshBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.slice(used, used + count)
  // no copy of a secret stays in memory
  pool.fill(0, used, used + count)
  used += count
  return bytes
}

/** A JSON-schema pattern for the ids of one kind. */
export const idPattern = (prefix: IdPrefix): string => `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`

/** Whether a text has the form of an id. Other texts must not reach the database, which fails on a NUL character, for example. */
export const isId = (prefix: IdPrefix, text: string): boolean =>
  text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1))
