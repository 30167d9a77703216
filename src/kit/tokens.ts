import { createHash, randomBytes } from 'node:crypto'

/** A text that can be a token of 256 bits. What cannot never reaches the database. */
export const isToken = (text: string | undefined): text is string => text !== undefined && /^[\w-]{43}$/.test(text)
export const newToken = (): string => randomBytes(32).toString('base64url')
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()
