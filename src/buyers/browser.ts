import type { FastifyReply, FastifyRequest } from 'fastify'
import { CODE_SECONDS } from '../kit/code-limits.ts'
import { refuseWithoutCookie } from '../kit/codes.ts'
import { addCookie, cookieKind, cookiesOf } from '../kit/cookies.ts'
import { networkOf } from '../kit/limits.ts'
import { hashOf, isToken, newToken } from '../kit/tokens.ts'
import type { Purpose } from './mailbox-codes.ts'

export type BuyerBrowser = ReturnType<typeof buyerBrowser>

/**
 * A cookie that binds a code to the browser that asked for it, for one purpose. It lives as long as a code. No other host of the
 * domain can set it, so an attacker cannot lead a buyer into another person's orders.
 */
export function buyerBrowser(baseUrl: string, purpose: Purpose) {
  const { common, host } = cookieKind(baseUrl)
  const cookie = { ...common, name: `${host}till_${purpose}_code`, maxAge: CODE_SECONDS, sameSite: 'strict' } as const
  const hashed = (token: string | undefined) => (isToken(token) ? hashOf(token) : undefined)
  return {
    networkOf: (request: FastifyRequest) => networkOf(request.ip),
    /** The hash of the cookie that binds a code to this browser. */
    codeHolder: (request: FastifyRequest) => hashed(cookiesOf(request)[cookie.name]),
    /** The same for a browser that brings a code. Throws `cookie_missing`. */
    neededCodeHolder(request: FastifyRequest): Buffer | undefined {
      const token = cookiesOf(request)[cookie.name]
      refuseWithoutCookie(token)
      return hashed(token)
    },
    /** Makes a cookie for a new code. Call `keep` after the code exists, because this cookie replaces the one before. */
    newCodeHolder() {
      const token = newToken()
      return {
        browserHash: hashOf(token),
        keep: (reply: FastifyReply) => addCookie(reply, { ...cookie, value: token }),
      }
    },
    forgetCode: (reply: FastifyReply) => addCookie(reply, { ...cookie, value: '', maxAge: 0 }),
  }
}
