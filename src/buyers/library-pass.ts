import type { FastifyReply, FastifyRequest } from 'fastify'
import { addCookie, cookieKind, cookiesOf } from '../kit/cookies.ts'
import type { Signer } from '../kit/signing.ts'

const PASS_SECONDS = 3600

export type LibraryPass = ReturnType<typeof libraryPass>

/**
 * The cookie of a browser whose buyer has proven a mailbox: the address and an expiry, signed by us. It opens the buyer's library for
 * an hour, and nothing else. No other host of the domain can set it.
 */
export function libraryPass(baseUrl: string, signer: Signer) {
  const { common, host } = cookieKind(baseUrl)
  const cookie = { ...common, name: `${host}till_library`, sameSite: 'strict' } as const
  return {
    give(reply: FastifyReply, email: string): void {
      const claim = `${Buffer.from(email).toString('base64url')}.${Math.floor(Date.now() / 1000) + PASS_SECONDS}`
      addCookie(reply, { ...cookie, value: `${claim}.${signer.sign(claim)}`, maxAge: PASS_SECONDS })
    },
    /** The proven address. Undefined: the browser has no pass, or its time is over. */
    holder(request: FastifyRequest): string | undefined {
      const [address = '', end = '', signature = '', ...rest] = (cookiesOf(request)[cookie.name] ?? '').split('.')
      const isOurs = rest.length === 0 && signer.verify(`${address}.${end}`, signature)
      return isOurs && Number(end) > Date.now() / 1000 ? Buffer.from(address, 'base64url').toString() : undefined
    },
    takeBack: (reply: FastifyReply) => addCookie(reply, { ...cookie, value: '', maxAge: 0 }),
  }
}
