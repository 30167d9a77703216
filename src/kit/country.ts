import type { FastifyRequest } from 'fastify'
import { isProxy } from './peers.ts'
import type { TrustedProxy } from './peers.ts'

/** A buyer's country (ISO 3166-1 alpha-2) as far as a request tells it, and the source. */
export interface SeenCountry {
  country: string
  from: 'proxy' | 'language'
}

export type CountryOf = (request: Pick<FastifyRequest, 'headers' | 'socket'>) => SeenCountry | undefined

const NAMES = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
/** Codes that have a name, and are no country: unions, the outlying parts of the world, and pseudo-locales. */
const NO_COUNTRY: ReadonlySet<string> = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ'])

/** Whether a text is the code of a country, in capitals. A code that another one has replaced, such as UK, is none. */
export const isCountry = (code: string): boolean =>
  /^[A-Z]{2}$/.test(code) &&
  !NO_COUNTRY.has(code) &&
  NAMES.of(code) !== undefined &&
  new Intl.Locale(`und-${code}`).region === code

/**
 * Finds a buyer's country without a look-up service: the one that our proxy names in `header`, else the region of the browser's first
 * language. A header counts only when one of our proxies sends the request. A language is a mere guess, good for a price to begin with.
 */
export function countryFinder(header: string | undefined, trustProxy: TrustedProxy): CountryOf {
  const isOurs = isProxy(trustProxy)
  return (request) => {
    const named = header && isOurs(request.socket.remoteAddress ?? '') ? request.headers[header] : undefined
    if (typeof named === 'string' && isCountry(named.toUpperCase()))
      return { country: named.toUpperCase(), from: 'proxy' }
    const region = /^\s*[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})\b/i.exec(request.headers['accept-language'] ?? '')?.[1]
    const country = region?.toUpperCase()
    return country && isCountry(country) ? { country, from: 'language' } : undefined
  }
}

/** The name of a header in small letters, as requests have it. */
export const headerName = (value: string): string | undefined =>
  /^[a-z][a-z0-9-]{1,49}$/.test(value.toLowerCase()) ? value.toLowerCase() : undefined
