import { parseCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import net from 'node:net'
import { CODE_SECONDS } from '../kit/code-limits.ts'
import { addCookie as add, cookieKind, cookiesOf as all } from '../kit/cookies.ts'

const DAY_SECONDS = 86_400
/** The database ends a session sooner, and decides alone. */
const SESSION_SECONDS = 90 * DAY_SECONDS
const KNOWN_SECONDS = 365 * DAY_SECONDS
/** Attempts in parallel tabs. The oldest is removed, so that the Cookie header never gets too long for servers. */
const MOST_ATTEMPTS = 5
/** The longest routes of sellers have this many parts. */
const MOST_PATH_PARTS = 6

export type Cookies = ReturnType<typeof sellerCookies>

/** The cookies of sellers' browsers. */
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
    /** Identifies the browser that requested the code. */
    code: { ...common, name: `${host}till_code`, maxAge: CODE_SECONDS, sameSite: 'strict' },
    /**
     * Shows that this browser has signed in to a mailbox before. It is `lax`, because the browser must send it on the way back from the
     * provider too. That is safe, because it opens nothing.
     */
    known: { ...common, name: `${host}till_known`, maxAge: KNOWN_SECONDS, sameSite: 'lax' },
  } as const
  const attempts = `${host}till_idp_`
  const attempt = { ...common, maxAge: CODE_SECONDS, sameSite: 'lax' } as const
  const { hostname } = new URL(baseUrl)

  return {
    /** All cookies of that name: an old one for another domain can come before the valid one. */
    readAll: (request: FastifyRequest, kind: keyof typeof kinds): string[] =>
      (request.headers.cookie ?? '').split(';').flatMap((pair) => parseCookie(pair)[kinds[kind].name] ?? []),
    read: (request: FastifyRequest, kind: keyof typeof kinds): string | undefined => all(request)[kinds[kind].name],
    set: (reply: FastifyReply, kind: keyof typeof kinds, value: string) => add(reply, { ...kinds[kind], value }),
    clear: (reply: FastifyReply, kind: keyof typeof kinds) => add(reply, { ...kinds[kind], value: '', maxAge: 0 }),
    /**
     * Clears session cookies that another host of our domain can have set: for this host and each of its parent domains, at each path
     * above this request's. A browser ignores the lines that it does not accept from us.
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
 * Without a domain, a browser accepts the cookie only from this host (`__Host-`), so no other host can set one. With COOKIE_DOMAIN all
 * hosts of that domain share the cookie, and each of them can set it.
 */
export function sessionCookieName({ baseUrl, cookieDomain }: { baseUrl: string; cookieDomain?: string | undefined }) {
  const { host, domain } = cookieKind(baseUrl)
  return `${cookieDomain ? domain : host}till_session`
}

/** The host and its parent domains: `a.b.example` is part of `b.example`. Empty for an IP address or a name without a dot. */
function domainsOf(hostname: string): string[] {
  if (net.isIP(hostname.replace(/^\[|\]$/g, '')) > 0) return []
  const labels = hostname.split('.')
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
}

function pathsAbove(url: string): string[] {
  const parts = url.split(/[?#]/)[0]!.split('/').filter(Boolean).slice(0, MOST_PATH_PARTS)
  return ['/', ...parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`)]
}
