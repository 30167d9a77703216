import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * What every cookie of ours has in common. On https a prefix says what a browser promises of it (RFC 6265bis, 4.1.3). With `host`
 * this host alone has set it, for all its paths. With `domain` any host of the domain can have set it, so it is only for a cookie
 * that has to have a domain.
 */
export function cookieKind(baseUrl: string) {
  const secure = baseUrl.startsWith('https:')
  const [host, domain] = secure ? ['__Host-', '__Secure-'] : ['', '']
  return { common: { httpOnly: true, secure, path: '/' } as const, host: host!, domain: domain! }
}

export const cookiesOf = (request: FastifyRequest): Record<string, string | undefined> =>
  parseCookie(request.headers.cookie ?? '')

/** A header that may occur more than once: another call adds to those before it. */
export function addCookie(reply: FastifyReply, cookie: Parameters<typeof stringifySetCookie>[0]): void {
  reply.header('set-cookie', stringifySetCookie(cookie))
}
