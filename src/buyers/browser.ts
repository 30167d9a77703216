import type { FastifyReply, FastifyRequest } from 'fastify'
import { CODE_SECONDS } from '../kit/codes.ts'
import { addCookie, cookieKind, cookiesOf } from '../kit/cookies.ts'
import { networkOf } from '../kit/limits.ts'
import { hashOf, isToken, newToken } from '../kit/tokens.ts'
import type { Purpose } from './mailbox-codes.ts'

export type BuyerBrowser = ReturnType<typeof buyerBrowser>

/**
 * What the routes for one purpose know of the browser that asks: the code it waits for, by a cookie that lives as long as a code.
 * No other host of the domain can set it, or somebody could be led into the orders of another.
 */
export function buyerBrowser(baseUrl: string, purpose: Purpose) {
  const { common, host } = cookieKind(baseUrl)
  const cookie = { ...common, name: `${host}till_${purpose}_code`, maxAge: CODE_SECONDS, sameSite: 'strict' } as const
  return {
    networkOf: (request: FastifyRequest) => networkOf(request.ip),
    /** What binds a code to this browser: the hash of what its cookie holds. */
    codeHolder(request: FastifyRequest): Buffer | undefined {
      const token = cookiesOf(request)[cookie.name]
      return isToken(token) ? hashOf(token) : undefined
    },
    /** What will bind a code that is yet to be made: to be kept once it is, since the browser forgets the one before. */
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
