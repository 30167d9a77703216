import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import net from 'node:net'
import { Refusal } from './errors.ts'
import { isLocalName, isLoopback } from './local-names.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route accepts any `Host`, because load balancers and scrapers send the machine's address. */
    anyHost?: boolean
  }
}

/** A name or an address with an optional port. An IPv6 address stands in brackets. */
const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/
/** Headers that proxies add. A request with one of them did not start where its connection starts. */
const FORWARDING =
  /^(?:forwarded|via|cdn-loop|(?:x-forwarded|x-original|x-envoy|cf)-.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip)$/
/**
 * By default nginx adds no header, sends the address of its `proxy_pass` as `Host`, and speaks HTTP/1.0 (before 1.29.7, according to
 * its documentation of proxy_http_version). Today's browsers and programs speak 1.1.
 */
const VERSION_OF_PROXIES = '1.0'

export interface HostOptions {
  /** The service's own addresses: BASE_URL, APP_URL. */
  addresses: readonly string[]
  /** Accept any IP address as `Host`: users reach a demo in a container by an address that the container does not know. */
  anyAddress: boolean
}

type HostGuard = (request: FastifyRequest, route: FastifyContextConfig) => Refusal | undefined

/**
 * Refuses a request whose `Host` is not ours. A foreign page can make its own name resolve to this machine (DNS rebinding). The
 * browser then treats our answers as that page's own, but still sends that page's name as `Host`. An IP address cannot be rebound.
 */
export function hostGuard({ addresses, anyAddress }: HostOptions): HostGuard {
  const own = new Set(addresses.map((address) => new URL(address)).flatMap(namesOf))
  const isOurs = ({ headers, socket }: FastifyRequest): boolean => {
    const host = headers.host?.toLowerCase() ?? ''
    if (own.has(host)) return true
    const name = HOST.exec(host)?.[1]
    if (name === undefined) return false
    if (isLocalName(name)) return true
    const address = name.replace(/^\[|\]$/g, '')
    return net.isIP(address) > 0 && (anyAddress || address === unmapped(socket.localAddress ?? ''))
  }
  return (request, { anyHost }) =>
    anyHost || isOurs(request)
      ? undefined
      : new Refusal(
          'misdirected_request',
          'This service does not answer under this host name. The operator sets its names with BASE_URL and APP_URL.',
        )
}

/** With and without the port, because a proxy may pass on either form. */
const namesOf = ({ hostname, port, protocol }: URL): string[] => [
  hostname,
  `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`,
]

const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** Whether a request comes from this machine and, as far as we can tell, not through a proxy on it. */
export const isFromHere = ({ headers, socket, raw }: FastifyRequest): boolean =>
  isLoopback(unmapped(socket.remoteAddress ?? '')) &&
  raw.httpVersion !== VERSION_OF_PROXIES &&
  !Object.keys(headers).some((name) => FORWARDING.test(name))

/** Refuses `local_only`. For routes such as the outbox and the sandbox, which must not be reachable from outside. */
export function refuseFromAfar(request: FastifyRequest): void {
  if (!isFromHere(request))
    throw new Refusal('local_only', 'This address answers only on the machine itself, and not through a proxy.')
}
