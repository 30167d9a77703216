import dns from 'node:dns'
import net from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Where a request may go when a stranger chose its address. `loopback`: the internet and this machine, for trying things out.
 * `any`: also the networks behind the firewall.
 */
export type Reach = 'public' | 'loopback' | 'any'

/** The addresses that were handed out for the public internet. All other addresses are for special uses. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * Whether an address leads to the public internet. An IPv6 address that carries an IPv4 one inside does not, whichever address that is:
 * a gateway translates it, and only its network decides where the request goes then.
 */
export function isPublicAddress(text: string): boolean {
  if (net.isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST)
}

export function isWithinReach(text: string, reach: Reach): boolean {
  if (reach === 'any' || isPublicAddress(text)) return true
  return reach === 'loopback' && net.isIP(text) > 0 && ipaddr.process(text).range() === 'loopback'
}

/** The failure of a look-up that found an address out of reach. */
export class OutOfReach extends Error {
  readonly code = 'OUT_OF_REACH'
}

export type Lookup = (
  hostname: string,
  options: dns.LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void

/**
 * A look-up for a connection. It fails unless every address of the name is within reach, and the connection goes to one of the
 * addresses that were checked: a name that answers differently a moment later gains nothing.
 */
export function vettedLookup(reach: Reach, lookup: Lookup = dns.lookup): net.LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { family: options.family ?? 0, hints: options.hints ?? 0, all: true }, (error, addresses) => {
      const first = addresses?.[0]
      if (error) return callback(error, [])
      if (!first) return callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), [])
      if (!addresses.every(({ address }) => isWithinReach(address, reach)))
        return callback(new OutOfReach(`${hostname} has an address that is not of the public internet`), [])
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
