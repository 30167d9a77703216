import type { FastifyReply, FastifyRequest } from 'fastify'
import { CODE_SECONDS } from '../kit/codes.ts'
import { addCookie, cookieKind, cookiesOf } from '../kit/cookies.ts'
import { networkOf } from '../kit/limits.ts'
import { hashOf, isToken, newToken } from '../kit/tokens.ts'

export type BuyerBrowser = ReturnType<typeof buyerBrowser>

/**
 * What the routes below `path` know of the browser that asks: the code it waits for, by a cookie that goes nowhere else and
 * lives as long as a code.
 */
export function buyerBrowser(baseUrl: string, path: string) {
  const { common, domain } = cookieKind(baseUrl)
  const cookie = { ...common, name: `${domain}till_mailbox`, path, maxAge: CODE_SECONDS, sameSite: 'strict' } as const
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
