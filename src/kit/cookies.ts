import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The attributes of all our cookies, and the prefixes of their names, by which browsers guarantee their origin on https (RFC
 * 6265bis, 4.1.3). Only this host can set a cookie with the `host` prefix. Any host of the domain can set a cookie with the `domain`
 * prefix, so only a cookie that needs a domain uses it.
 */
export function cookieKind(baseUrl: string) {
  const secure = baseUrl.startsWith('https:')
  const [host, domain] = secure ? ['__Host-', '__Secure-'] : ['', '']
  return { common: { httpOnly: true, secure, path: '/' } as const, host: host!, domain: domain! }
}

export const cookiesOf = (request: FastifyRequest): Record<string, string | undefined> =>
  parseCookie(request.headers.cookie ?? '')

/** Adds a cookie to the answer. Further calls add further cookies. */
export function addCookie(reply: FastifyReply, cookie: Parameters<typeof stringifySetCookie>[0]): void {
  reply.header('set-cookie', stringifySetCookie(cookie))
}
