import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'

const DAY_SECONDS = 86_400
/** The database ends a session sooner: what a browser keeps is trusted for nothing. */
const SESSION_SECONDS = 90 * DAY_SECONDS
export const CODE_SECONDS = 600
const KNOWN_SECONDS = 365 * DAY_SECONDS
/** The attempts of parallel tabs; the oldest goes, so that the header never grows beyond what servers take. */
export const MOST_ATTEMPTS = 5
/** Also where a link to an account begins, so that there too the attempts before it are seen. */
const ATTEMPT_PATH = '/api/auth'

export type Cookies = ReturnType<typeof sellerCookies>

/**
 * The cookies a browser gets. On https the prefixes say that no other host of the domain has set them: `__Host-` where a cookie
 * belongs to this host alone, `__Secure-` where it has a domain or a path (RFC 6265bis, 4.1.3).
 */
export function sellerCookies({ baseUrl, cookieDomain }: { baseUrl: string; cookieDomain?: string | undefined }) {
  const secure = baseUrl.startsWith('https:')
  const common = { httpOnly: true, secure, path: '/' } as const
  const [host, domain] = secure ? ['__Host-', '__Secure-'] : ['', '']
  const kinds = {
    session: {
      ...common,
      name: sessionCookieName(baseUrl),
      maxAge: SESSION_SECONDS,
      sameSite: 'lax',
      ...(cookieDomain && { domain: cookieDomain }),
    },
    /** Which browser asked for the code. */
    code: { ...common, name: `${host}till_code`, maxAge: CODE_SECONDS, sameSite: 'strict' },
    /** That this browser has signed in before, and to which mailbox. */
    known: { ...common, name: `${host}till_known`, maxAge: KNOWN_SECONDS, sameSite: 'strict' },
  } as const
  const attempts = `${domain}till_idp_`
  const attempt = { ...common, path: ATTEMPT_PATH, maxAge: CODE_SECONDS, sameSite: 'lax' } as const

  return {
    /** All of that name: one that was set for another domain before can stand in front of the one that counts. */
    readAll: (request: FastifyRequest, kind: keyof typeof kinds): string[] =>
      (request.headers.cookie ?? '').split(';').flatMap((pair) => parseCookie(pair)[kinds[kind].name] ?? []),
    read: (request: FastifyRequest, kind: keyof typeof kinds): string | undefined => all(request)[kinds[kind].name],
    set: (reply: FastifyReply, kind: keyof typeof kinds, value: string) => add(reply, { ...kinds[kind], value }),
    clear: (reply: FastifyReply, kind: keyof typeof kinds) => add(reply, { ...kinds[kind], value: '', maxAge: 0 }),
    readAttempt: (request: FastifyRequest, name: string): string | undefined => all(request)[domain + name],
    setAttempt(request: FastifyRequest, reply: FastifyReply, name: string, value: string): void {
      const others = Object.keys(all(request)).filter((one) => one.startsWith(attempts))
      for (const one of others.slice(0, Math.max(0, others.length - MOST_ATTEMPTS + 1)))
        add(reply, { ...attempt, name: one, value: '', maxAge: 0 })
      add(reply, { ...attempt, name: domain + name, value })
    },
    clearAttempt: (reply: FastifyReply, name: string) =>
      add(reply, { ...attempt, name: domain + name, value: '', maxAge: 0 }),
  }
}

export const sessionCookieName = (baseUrl: string): string =>
  `${baseUrl.startsWith('https:') ? '__Secure-' : ''}till_session`

const all = (request: FastifyRequest): Record<string, string | undefined> => parseCookie(request.headers.cookie ?? '')

function add(reply: FastifyReply, cookie: Parameters<typeof stringifySetCookie>[0]): void {
  // a header that may occur more than once: another call adds to those before it
  reply.header('set-cookie', stringifySetCookie(cookie))
}
