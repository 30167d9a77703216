import net from 'node:net'
import { siteOfHost } from '../kit/domains.ts'
import { EMAIL_LONGEST, EMAIL_PATTERN, canonicalEmail } from '../kit/email.ts'
import type { Limit } from '../kit/limits.ts'
import { isLoopback } from '../kit/local-names.ts'
import type { TrustedProxy } from '../kit/peers.ts'

// Parsers for the texts of settings. Undefined means that the text is not valid, and the service does not start.

export function yesOrNo(value: string): boolean | undefined {
  if (/^(1|true|yes)$/i.test(value)) return true
  return /^(0|false|no)$/i.test(value) ? false : undefined
}

export function whole(value: string, least: number, most: number): number | undefined {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
  return number >= least && number <= most ? number : undefined
}

export function origin(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.hash || url.username)
    return undefined
  return url.origin
}

export function secretList(value: string): string[] | undefined {
  const list = value.split(',').map((secret) => secret.trim())
  return list.every((secret) => secret.length >= 32) ? list : undefined
}

/** More than any real deployment has. With each further proxy we would believe one more address that the sender can invent. */
const MOST_PROXIES = 5

/** Refuses `true`, which would believe every sender: each request could then choose the network that it is counted for. */
export function trustedProxy(value: string): TrustedProxy | undefined {
  if (/^\d+$/.test(value)) return Number(value) === 0 ? false : whole(value, 1, MOST_PROXIES)
  if (/^(none|false|no)$/i.test(value)) return false
  const isNetwork = (one: string) => {
    const [address = '', bits = '32', ...rest] = one.split('/')
    const longest = net.isIPv6(address) ? 128 : 32
    return rest.length === 0 && net.isIP(address) > 0 && whole(bits, 1, longest) !== undefined
  }
  const known = /^(loopback|linklocal|uniquelocal)$/
  return value.split(',').every((one) => known.test(one.trim()) || isNetwork(one.trim())) ? value : undefined
}

/** An address, or a name and an address: `Shop <shop@shop.example>`. */
export const sender = (value: string): string | undefined =>
  /^(?:[^<>@\r\n]+<[^<>@\s,]+@[^<>@\s,]+>|[^<>@\s,]+@[^<>@\s,]+)$/.test(value) ? value : undefined

/** Mailboxes, separated by commas, in the form in which they are stored. */
export function mailboxList(value: string): string[] | undefined {
  const list = value.split(',').map(canonicalEmail)
  const isMailbox = (one: string) => one.length <= EMAIL_LONGEST && new RegExp(EMAIL_PATTERN).test(one)
  return list.every(isMailbox) ? [...new Set(list)] : undefined
}

/** One of a few words. */
export const oneOf =
  <Word extends string>(...words: Word[]) =>
  (value: string): Word | undefined =>
    words.find((word) => word === value)

/**
 * A domain of one owner. A leading dot is ignored, as in a cookie. An IP address or "localhost" has no domain, and browsers take no cookie
 * for a suffix under which everybody can register, such as co.uk.
 */
export function cookieDomain(value: string): string | undefined {
  const domain = value.toLowerCase().replace(/^\./, '')
  if (net.isIP(domain) > 0 || domain.length > 253) return undefined
  const isName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(domain)
  return isName && siteOfHost(domain) !== undefined ? domain : undefined
}

/** An OpenID Connect issuer: https, or http on this machine. */
export function issuer(value: string, httpsOnly: boolean): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || url.search || url.hash || url.username || value.length > 500) return undefined
  const local = !httpsOnly && url.protocol === 'http:' && isLoopback(url.hostname)
  return local || url.protocol === 'https:' ? value : undefined
}

/** The address of a mail server. Query options would change how the mail library connects, so only our own `?tls=none` is allowed. */
export function smtpAddress(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || !url.hostname || !/^smtps?:$/.test(url.protocol)) return undefined
  return url.search === '' || (url.search === '?tls=none' && url.protocol === 'smtp:') ? value : undefined
}

/** `off`, or replacements for some of the `defaults`: `checkout=100/60,status=600/60`. */
export function limitList<Name extends string>(
  value: string,
  defaults: Readonly<Record<Name, Limit>>,
): Partial<Record<Name, Limit>> | undefined {
  if (value === 'off') return {}
  const limits: Partial<Record<Name, Limit>> = { ...defaults }
  for (const entry of value.split(',')) {
    const match = /^\s*(\w+)=(\d{1,7})\/(\d{1,7})\s*$/.exec(entry)
    const [name, count, seconds] = [match?.[1] ?? '', Number(match?.[2]), Number(match?.[3])]
    if (!Object.hasOwn(defaults, name) || !(count > 0) || !(seconds > 0)) return undefined
    limits[name as Name] = { count, seconds }
  }
  return limits
}
