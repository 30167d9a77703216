import type { FastifyRequest } from 'fastify'
import net from 'node:net'
import { Refusal } from './errors.ts'
import { isLocalName, isLoopback } from './settings.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers whatever the `Host` is: load balancers and scrapers send the machine's address. */
    anyHost?: boolean
  }
}

/** A name or an address, and perhaps a port. An IPv6 address stands in brackets. */
const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/
/** What a proxy in front adds: the request then comes from further away than its connection says. */
const FORWARDING =
  /^(?:forwarded|via|cdn-loop|(?:x-forwarded|x-original|x-envoy|cf)-.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip)$/
/**
 * By default nginx adds no header, sends the address of its `proxy_pass` as `Host`, and speaks HTTP/1.0 (before 1.29.7, says its
 * documentation of proxy_http_version). Browsers and programs of today speak 1.1.
 */
const VERSION_OF_PROXIES = '1.0'

export interface HostOptions {
  /** The service's own addresses: BASE_URL, APP_URL. */
  addresses: readonly string[]
  /** Any IP address names us: who reaches a demo in a container uses an address that the container does not know. */
  anyAddress: boolean
}

/**
 * Refuses a request whose `Host` is not ours. A page elsewhere can let its own name lead to this machine (DNS rebinding); the
 * browser then takes our answers for that page's, but still sends that page's name. An IP address has no name to rebind.
 */
export function hostGuard({ addresses, anyAddress }: HostOptions): (request: FastifyRequest) => Refusal | undefined {
  const own = new Set(addresses.map((address) => new URL(address)).flatMap(namesOf))
  const isOurs = ({ headers, socket }: FastifyRequest): boolean => {
    const host = headers.host?.toLowerCase() ?? ''
    const name = HOST.exec(host)?.[1]
    if (name === undefined) return false
    if (own.has(host) || isLocalName(name)) return true
    const address = name.replace(/^\[|\]$/g, '')
    return net.isIP(address) > 0 && (anyAddress || address === unmapped(socket.localAddress ?? ''))
  }
  return (request) =>
    request.routeOptions.config?.anyHost || isOurs(request)
      ? undefined
      : new Refusal('misdirected_request', 'This service does not answer under that name: see BASE_URL and APP_URL.')
}

/** With the port and without it: a proxy may pass on either. */
const namesOf = ({ hostname, port, protocol }: URL): string[] => [
  hostname,
  `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`,
]

const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** Whether a request comes from this very machine, and not through a proxy on it, as far as that can be told. */
export const isFromHere = ({ headers, socket, raw }: FastifyRequest): boolean =>
  isLoopback(unmapped(socket.remoteAddress ?? '')) &&
  raw.httpVersion !== VERSION_OF_PROXIES &&
  !Object.keys(headers).some((name) => FORWARDING.test(name))

/** For what shows or pretends too much for anybody else's eyes. */
export function refuseFromAfar(request: FastifyRequest): void {
  if (!isFromHere(request))
    throw new Refusal('local_only', 'This answers only on the machine itself, and through no proxy.')
}
