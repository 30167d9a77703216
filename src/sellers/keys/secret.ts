import { crc32 } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { freshBytes } from '../../kit/ids.ts'

// A key is `till_live_` or `till_test_`, 32 random characters (190 bits), and 6 characters of a checksum over all before it. So a
// scanner finds keys that somebody has published, and a mistyped key needs no look into the database.

export type KeyMode = 'live' | 'test'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 32
const CHECK_CHARACTERS = 6
/** A byte from here on would make the first characters of the alphabet more likely than the others. */
const UNBIASED = 256 - (256 % ALPHABET.length)

export const prefixOf = (mode: KeyMode) => `till_${mode}_` as const

/** A new secret. */
export function newSecret(mode: KeyMode): string {
  let text: string = prefixOf(mode)
  for (let missing = RANDOM_CHARACTERS; missing > 0;) {
    const usable = freshBytes(missing).filter((byte) => byte < UNBIASED)
    for (const byte of usable) text += ALPHABET[byte % ALPHABET.length]
    missing -= usable.length
  }
  return text + checksumOf(text)
}

/** The mode of a secret whose checksum is right. Undefined: not a secret, or a mistyped one. */
export function modeOfSecret(text: string): KeyMode | undefined {
  const mode = /^till_(live|test)_[0-9A-Za-z]{38}$/.exec(text)?.[1]
  if (mode === undefined || checksumOf(text.slice(0, -CHECK_CHARACTERS)) !== text.slice(-CHECK_CHARACTERS))
    return undefined
  return mode as KeyMode
}

/** The bearer token of a request (RFC 6750), whatever it is. Undefined: the request brings none. */
export function bearerOf({ headers }: FastifyRequest): string | undefined {
  const { authorization } = headers
  return authorization !== undefined && /^bearer(?: |$)/i.test(authorization)
    ? authorization.slice(7).trim()
    : undefined
}

function checksumOf(text: string): string {
  let [rest, characters] = [crc32(text), '']
  for (let at = 0; at < CHECK_CHARACTERS; at++) {
    characters = ALPHABET[rest % ALPHABET.length] + characters
    rest = Math.floor(rest / ALPHABET.length)
  }
  return characters
}
