import { parseCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import net from 'node:net'
import { CODE_SECONDS } from '../kit/codes.ts'
import { addCookie as add, cookieKind, cookiesOf as all } from '../kit/cookies.ts'

const DAY_SECONDS = 86_400
/** The database ends a session sooner: what a browser keeps is trusted for nothing. */
const SESSION_SECONDS = 90 * DAY_SECONDS
const KNOWN_SECONDS = 365 * DAY_SECONDS
/** The attempts of parallel tabs; the oldest goes, so that the header never grows beyond what servers take. */
export const MOST_ATTEMPTS = 5
/** No route of ours is deeper. */
const MOST_PATH_PARTS = 6

export type Cookies = ReturnType<typeof sellerCookies>

/** The cookies a browser gets. */
export function sellerCookies({ baseUrl, cookieDomain }: { baseUrl: string; cookieDomain?: string | undefined }) {
  const { common, host } = cookieKind(baseUrl)
  const kinds = {
    session: {
      ...common,
      name: sessionCookieName({ baseUrl, cookieDomain }),
      maxAge: SESSION_SECONDS,
      sameSite: 'lax',
      ...(cookieDomain && { domain: cookieDomain }),
    },
    /** Names the browser that asked for the code. */
    code: { ...common, name: `${host}till_code`, maxAge: CODE_SECONDS, sameSite: 'strict' },
    /**
     * That this browser has signed in before, and to which mailbox. The browser must send it on the way back from the provider too.
     * It opens nothing, so nothing is lost by that.
     */
    known: { ...common, name: `${host}till_known`, maxAge: KNOWN_SECONDS, sameSite: 'lax' },
  } as const
  const attempts = `${host}till_idp_`
  const attempt = { ...common, maxAge: CODE_SECONDS, sameSite: 'lax' } as const
  const { hostname } = new URL(baseUrl)

  return {
    /** All of that name: one that was set for another domain before can stand in front of the one that counts. */
    readAll: (request: FastifyRequest, kind: keyof typeof kinds): string[] =>
      (request.headers.cookie ?? '').split(';').flatMap((pair) => parseCookie(pair)[kinds[kind].name] ?? []),
    read: (request: FastifyRequest, kind: keyof typeof kinds): string | undefined => all(request)[kinds[kind].name],
    set: (reply: FastifyReply, kind: keyof typeof kinds, value: string) => add(reply, { ...kinds[kind], value }),
    clear: (reply: FastifyReply, kind: keyof typeof kinds) => add(reply, { ...kinds[kind], value: '', maxAge: 0 }),
    /**
     * Clears the session wherever another host of our domain can have put one: for this host alone and for each domain that it is
     * part of, at each path above this request's. A browser ignores the lines that it may not take from us.
     */
    clearPlanted(request: FastifyRequest, reply: FastifyReply): void {
      const { domain: _, ...session } = { domain: undefined, ...kinds.session }
      const expired = { ...session, value: '', maxAge: 0 }
      const isHostOnly = session.name.startsWith('__Host-')
      for (const path of isHostOnly ? ['/'] : pathsAbove(request.url))
        for (const domain of isHostOnly ? [undefined] : [undefined, ...domainsOf(hostname)])
          add(reply, { ...expired, path, ...(domain && { domain }) })
    },
    readAttempt: (request: FastifyRequest, name: string): string | undefined => all(request)[host + name],
    setAttempt(request: FastifyRequest, reply: FastifyReply, name: string, value: string): void {
      const others = Object.keys(all(request)).filter((one) => one.startsWith(attempts))
      for (const one of others.slice(0, Math.max(0, others.length - MOST_ATTEMPTS + 1)))
        add(reply, { ...attempt, name: one, value: '', maxAge: 0 })
      add(reply, { ...attempt, name: host + name, value })
    },
    clearAttempt: (reply: FastifyReply, name: string) =>
      add(reply, { ...attempt, name: host + name, value: '', maxAge: 0 }),
  }
}

/**
 * Without a domain, a browser takes the cookie from this host alone (`__Host-`), so no other host can put one in front of it. With
 * COOKIE_DOMAIN the hosts of that domain share it, and each of them can set it.
 */
export function sessionCookieName({ baseUrl, cookieDomain }: { baseUrl: string; cookieDomain?: string | undefined }) {
  const { host, domain } = cookieKind(baseUrl)
  return `${cookieDomain ? domain : host}till_session`
}

/** The host itself and each domain above it: `a.b.example` is part of `b.example`. None for an address or a name without a dot. */
function domainsOf(hostname: string): string[] {
  if (net.isIP(hostname.replace(/^\[|\]$/g, '')) > 0) return []
  const labels = hostname.split('.')
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
}

function pathsAbove(url: string): string[] {
  const parts = url.split(/[?#]/)[0]!.split('/').filter(Boolean).slice(0, MOST_PATH_PARTS)
  return ['/', ...parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`)]
}
