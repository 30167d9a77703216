import { parseCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CODE_SECONDS } from '../kit/codes.ts'
import { addCookie as add, cookieKind, cookiesOf as all } from '../kit/cookies.ts'

const DAY_SECONDS = 86_400
/** The database ends a session sooner: what a browser keeps is trusted for nothing. */
const SESSION_SECONDS = 90 * DAY_SECONDS
const KNOWN_SECONDS = 365 * DAY_SECONDS
/** The attempts of parallel tabs; the oldest goes, so that the header never grows beyond what servers take. */
export const MOST_ATTEMPTS = 5
/** Also where a link to an account begins, so that there too the attempts before it are seen. */
const ATTEMPT_PATH = '/api/auth'

export type Cookies = ReturnType<typeof sellerCookies>

/** The cookies a browser gets. */
export function sellerCookies({ baseUrl, cookieDomain }: { baseUrl: string; cookieDomain?: string | undefined }) {
  const { common, host, domain } = cookieKind(baseUrl)
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
