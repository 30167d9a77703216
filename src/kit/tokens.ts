import type { FastifyRequest } from 'fastify'
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Whether a text has the form of a token of 256 bits. Other texts must not reach the database. */
export const isToken = (text: string | undefined): text is string => text !== undefined && /^[\w-]{43}$/.test(text)
export const newToken = (): string => randomBytes(32).toString('base64url')
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Whether a request carries that token (RFC 6750). It compares hashes, so that timing reveals neither length nor beginning. */
export function isBearer({ headers }: FastifyRequest, token: string): boolean {
  const given = /^bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(hashOf(given), hashOf(token))
}
