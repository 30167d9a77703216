import type { Server } from 'node:http'
import net from 'node:net'
import type { Log } from './log.ts'
import { networkOf } from './limits.ts'
import type { TrustedProxy } from './settings.ts'

/** The names that TRUST_PROXY knows, as the framework does. */
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
/** Where a proxy of ours stands that is told by number alone: on this machine or in its own network (RFC 1918, 3927, 4193, 4291). */
const NEAR = Object.keys(NAMED).join()
const TOLD_EVERY_MS = 60_000

/** Whether a connection comes from a proxy of ours. */
export function isProxy(trustProxy: TrustedProxy): (address: string) => boolean {
  if (trustProxy === false) return () => false
  const list = new net.BlockList()
  for (const one of (typeof trustProxy === 'number' ? NEAR : trustProxy).split(',').map((part) => part.trim())) {
    const [address = '', bits] = one.split('/')
    const family = net.isIPv6(address) ? 'ipv6' : 'ipv4'
    const nets = NAMED[one] ?? [[address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family] as const]
    for (const [start, prefix, kind] of nets) list.addSubnet(start, prefix, kind)
  }
  // a mapped IPv4 address is found among the IPv4 ones
  return (address) => list.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4')
}

/**
 * Which of the addresses on the way here the framework believes, counted from our side. Who connects from elsewhere than the proxies
 * stand, past them to our own port, is the client itself, whatever it says of others.
 */
export function believedHops(trustProxy: TrustedProxy): false | string | ((address: string, hop: number) => boolean) {
  if (typeof trustProxy !== 'number') return trustProxy
  const isOurs = isProxy(trustProxy)
  return (address, hop) => hop < trustProxy && (hop > 0 || isOurs(address))
}

/**
 * Ends a connection at once when its network has `most` of them. The limits of time bound how long one lasts, and not how many one
 * sender opens; a process has only so many. A proxy's own connections are everybody's, and are not counted.
 */
export function capConnections(
  server: Server,
  { most, trustProxy, log }: { most: number; trustProxy: TrustedProxy; log: Log },
): void {
  const open = new Map<string, number>()
  const isOurs = isProxy(trustProxy)
  let toldAt = -TOLD_EVERY_MS
  server.on('connection', (socket: net.Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isOurs(address)) return
    const network = networkOf(address)
    const count = (open.get(network) ?? 0) + 1
    if (count > most) {
      socket.destroy()
      if (performance.now() - toldAt < TOLD_EVERY_MS) return
      toldAt = performance.now()
      return log.warn({ most }, 'a network has more connections than one may have: is TRUST_PROXY right?')
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = open.get(network)! - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}
