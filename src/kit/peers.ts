import type { Server } from 'node:http'
import net from 'node:net'
import type { Log } from './log.ts'
import { networkOf } from './limits.ts'

/** False for no proxy, a number of proxies in front of us, or their addresses. */
export type TrustedProxy = false | number | string

/** The names that TRUST_PROXY accepts, with the meaning that the framework gives them. */
const NAMED: Record<string, readonly [string, number, 'ipv4' | 'ipv6'][]> = {
  loopback: [
    ['127.0.0.0', 8, 'ipv4'],
    ['::1', 128, 'ipv6'],
  ],
  linklocal: [
    ['169.254.0.0', 16, 'ipv4'],
    ['fe80::', 10, 'ipv6'],
  ],
  uniquelocal: [
    ['10.0.0.0', 8, 'ipv4'],
    ['172.16.0.0', 12, 'ipv4'],
    ['192.168.0.0', 16, 'ipv4'],
    ['fc00::', 7, 'ipv6'],
  ],
}
/** When TRUST_PROXY is a number, our proxies are on this machine or in its private network (RFC 1918, 3927, 4193, 4291). */
const NEAR = Object.keys(NAMED).join()
const WARN_EVERY_MS = 60_000

/** Returns a function that tells whether a connection comes from one of our proxies. */
export function isProxy(trustProxy: TrustedProxy): (address: string) => boolean {
  if (trustProxy === false) return () => false
  const list = new net.BlockList()
  for (const one of (typeof trustProxy === 'number' ? NEAR : trustProxy).split(',').map((part) => part.trim())) {
    const [address = '', bits] = one.split('/')
    const family = net.isIPv6(address) ? 'ipv6' : 'ipv4'
    const nets = NAMED[one] ?? [[address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family] as const]
    for (const [start, prefix, kind] of nets) list.addSubnet(start, prefix, kind)
  }
  // the list also matches a mapped IPv4 address against its IPv4 networks
  return (address) => list.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4')
}

/**
 * Tells the framework which forwarded addresses to believe, counted from our side. A sender that reaches our port past the proxies
 * is itself the client, whatever addresses it forwards.
 */
export function believedHops(trustProxy: TrustedProxy): false | string | ((address: string, hop: number) => boolean) {
  if (typeof trustProxy !== 'number') return trustProxy
  const isOurs = isProxy(trustProxy)
  return (address, hop) => hop < trustProxy && (hop > 0 || isOurs(address))
}

/**
 * Ends a new connection at once when its network already has `most`. Timeouts bound how long a connection lasts, but not how many
 * one client opens, and a process can hold only a limited number. A proxy's connections carry many clients, so they are not counted.
 */
export function capConnections(
  server: Server,
  { most, trustProxy, log }: { most: number; trustProxy: TrustedProxy; log: Log },
): void {
  const open = new Map<string, number>()
  const isOurs = isProxy(trustProxy)
  let warnedAt = -WARN_EVERY_MS
  server.on('connection', (socket: net.Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isOurs(address)) return
    const network = networkOf(address)
    const count = (open.get(network) ?? 0) + 1
    if (count > most) {
      socket.destroy()
      if (performance.now() - warnedAt < WARN_EVERY_MS) return
      warnedAt = performance.now()
      return log.warn({ most }, 'a network has too many connections: is TRUST_PROXY right?')
    }
    open.set(network, count)
    socket.once('close', () => {
      const remaining = open.get(network)! - 1
      if (remaining > 0) open.set(network, remaining)
      else open.delete(network)
    })
  })
}
