import type { CustomFetch } from 'openid-client'

/** Metadata, key sets and tokens are some kilobytes. */
const BODY_LIMIT_BYTES = 512 * 1024
/** The body of such a response often looks like a refusal, and the library would take it for one. */
const TOO_MANY_REQUESTS = 429
const NO_BODY = new Set([204, 205, 304])

/** The requests of one start or one return. They share a time limit, and note whether the provider had an outage. */
export interface Exchange {
  readonly fetch: CustomFetch
  outage: boolean
  end(): void
}

export function beginExchange(budgetMs: number): Exchange {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), budgetMs)
  const exchange: Exchange = {
    outage: false,
    async fetch(address, options) {
      try {
        const response = await limitedFetch(new URL(address), { ...(options as RequestInit), signal: ending.signal })
        if (response.status === TOO_MANY_REQUESTS) exchange.outage = true
        return response
      } catch (error) {
        exchange.outage = true
        throw error
      }
    },
    end: () => clearTimeout(timer),
  }
  return exchange
}

/** Reads the whole response before the library sees it, within limits of length and time. */
async function limitedFetch(url: URL, options: RequestInit): Promise<Response> {
  if (url.protocol !== 'https:' && !isLoopbackHttp(url)) throw new TypeError('only https leaves this machine')
  const response = await fetch(url, options)
  const { status, headers } = response
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > BODY_LIMIT_BYTES) throw new RangeError('the answer is too long')
    parts.push(part)
  }
  return new Response(NO_BODY.has(status) ? null : Buffer.concat(parts), { status, headers })
}

export const isLoopbackHttp = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
